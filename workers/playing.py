"""Matches and checks as a worker does them: claimed, played without a transaction, given in once."""

import hashlib
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import structlog
from structlog.contextvars import bound_contextvars

from engine.rules import RuleSet
from service import leases, traces, trials
from service.errors import Unavailable
from service.leases import ALONE, Assignment
from service.limits import Limits
from service.sheet import Sheet, Spent
from service.trials import Trial
from workers import check as checking
from workers import stopping
from workers.check import Verdict
from workers.match import REPLAYS, Played, play_match
from workers.player import MOST_STARVED
from workers.sandbox import BotCode, SandboxError, SandboxUnavailable
from workers.stopping import Stopped
from workers.workshop import Workshop

log = structlog.get_logger(__name__)
T = TypeVar("T")
TRY_AGAIN_SECONDS = 90.0
LONGEST_PAUSE = 1.5  # seconds between two tries: well within what is left of a lease (service/watch.py)
LOOK_SECONDS = 0.25
LONGEST_CHECK = 600.0  # seconds a check's lease is renewed at most


def play_for_a_while(shop: Workshop) -> None:
    """Play match after match until the time for one job is over; the last one sends the next job."""
    with stopping.working(), traces.span("play", worker=shop.name):
        if stopping.asked() or not _fit(shop):
            return
        until = time.monotonic() + shop.arena.settings.chunk_ms / 1000
        with traces.span("claim"):
            held = leases.claim(shop.arena, shop.name)
        while held is not None:
            ids: dict[str, str | int] = {"match": held.match_id, "attempt": held.attempt}
            with bound_contextvars(**ids, worker=shop.name), traces.span("match", **ids):
                played = _play(shop, held)
            if played is None:
                return
            more = time.monotonic() < until and not stopping.asked()
            with traces.span("give in", match=held.match_id):
                held = _give_in(shop, held, played, more=more)


def check(shop: Workshop, version_id: str) -> None:
    """Try a new version out in the sandbox and write what came of it; ours to answer for if that fails."""
    with stopping.working():
        if stopping.asked() or not _fit(shop):
            return
        trial = trials.claim(shop.arena, version_id, shop.name)
        if trial is None:
            return
        ids = {"version": trial.version_id, "worker": shop.name}
        with bound_contextvars(**ids), traces.span("check", **ids):
            verdict = _try(shop, trial)
        if verdict is not None:
            _persist(
                lambda: trials.record_check(shop.arena, trial, ready=verdict.ready, report=verdict.report)
            )


def _fit(shop: Workshop) -> bool:
    """Whether bots can be run here now; a sick machine claims nothing."""
    try:
        shop.sandbox()
    except (SandboxUnavailable, SandboxError, OSError) as error:
        log.error("no_sandbox", error=str(error))
        return False
    return True


def _try(shop: Workshop, trial: Trial) -> Verdict | None:
    bot = BotCode(name=trial.filename, kind=trial.kind, content=trial.code)
    seed = hashlib.sha256(trial.version_id.encode()).digest()
    try:
        with _kept(shop, lambda: trials.renew(shop.arena, trial), LONGEST_CHECK), stopping.breakable():
            return checking.check(bot, sandbox=shop.sandbox(), limits=Limits(), seed=seed)
    except (Exception, Stopped) as error:  # nothing of this is the bot's: a bot's failure is a verdict
        trouble, counts = _said(error), _suspect(shop, error)
        _persist(lambda: trials.give_back(shop.arena, trial, trouble, counts=counts))
        return None


def _play(shop: Workshop, held: Assignment) -> Played | None:
    rules, limits = RuleSet.parse(held.rules, len(held.versions)), Limits.parse(held.limits)
    longest = _longest(rules, limits, len(held.versions))
    try:
        with _kept(shop, lambda: leases.renew(shop.arena, held), longest), stopping.breakable():
            return play_match(
                rules,
                [shop.code(each) for each in held.versions],
                seed=held.seed,
                bot_seeds=held.bot_seeds,
                limits=limits,
                sandbox=shop.sandbox(),
            )
    except (
        Exception,
        Stopped,
    ) as error:  # nothing of this is a bot's: its failure is part of what was played
        trouble, suspicion = _said(error), ALONE if _suspect(shop, error) else 0
        _persist(lambda: leases.give_back(shop.arena, held, trouble, suspicion=suspicion))
        return None


def _longest(rules: RuleSet, limits: Limits, seats: int) -> float:
    """Seconds a match can possibly last, with its replays, the last of them patient."""
    decisions = rules.decisions(seats)
    computing = seats * (limits.start_cpu_ms + limits.cpu_budget_ms(decisions))  # clocks stand still for it
    once = seats * (limits.start_ms + decisions * limits.decision_ms) + computing
    return (REPLAYS + 1 + MOST_STARVED) * once / 1000


def _suspect(shop: Workshop, error: BaseException) -> bool:
    """Whether what was played may be the reason: not if we stop, or nothing can be played here."""
    if isinstance(error, Stopped | Unavailable):
        log.warning("match_broken_off", error=_said(error))
        return False
    log.error("match_went_wrong", exc_info=error)
    shop.forget_sandbox()
    return _fit(shop)


def _give_in(shop: Workshop, held: Assignment, played: Played, *, more: bool) -> Assignment | None:
    """Give a result in; while the database is away it waits on the disk, where others find it too."""
    spent = [
        Spent(each.cpu_ms, each.wall_ms, each.memory_kb, each.waited_ms, each.decisions)
        for each in played.usage
    ]
    sheet = Sheet.of(held, played.outcome, spent, mode=played.mode, replays=played.replays)
    try:
        return leases.give_in(shop.arena, sheet, worker=shop.name, more=more)[1]
    except Unavailable:
        log.warning("result_waits", match=held.match_id)
    try:
        with shop.spool.kept(sheet) as safe:
            _persist(lambda: leases.give_in(shop.arena, sheet, worker=shop.name), hasty=safe)
    except Unavailable:
        log.warning("result_left_to_others", match=held.match_id)
    return None


@contextmanager
def _kept(shop: Workshop, renew: Callable[[], bool], longest: float) -> Iterator[None]:
    """Renew a lease from time to time, for as long as what it is for can possibly last."""
    done = threading.Event()
    keeper = threading.Thread(target=_keep, args=(shop, renew, done, longest), daemon=True)
    keeper.start()
    try:
        yield
    finally:
        done.set()
        keeper.join()


def _keep(shop: Workshop, renew: Callable[[], bool], done: threading.Event, longest: float) -> None:
    settings = shop.arena.settings
    began = due = time.monotonic()
    while not done.wait(LOOK_SECONDS):
        now = time.monotonic()
        if stopping.overdue(settings.stop_seconds):
            return stopping.break_off()
        if now - due > settings.lease_seconds / 3 and now - began < longest:
            try:
                if not renew():
                    return
                due = now
            except Unavailable:
                continue


def _persist(act: Callable[[], T], *, hasty: bool = False) -> T:
    """Do it, and again while the database is away: a result should outlive that.

    `hasty`: not once we are to stop, for it is safe without us.
    """
    until, pause = time.monotonic() + TRY_AGAIN_SECONDS, 0.1
    while True:
        try:
            return act()
        except Unavailable:
            if time.monotonic() > until or (hasty and stopping.asked()):
                raise
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)


def _said(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:1000]
