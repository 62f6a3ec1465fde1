"""Matches and checks as a worker does them: claimed, played without a transaction, given in once."""

import hashlib
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import structlog

from engine.rules import RuleSet
from service import leases, trials
from service.errors import Unavailable
from service.leases import Assignment, Spent
from service.limits import Limits
from workers import check as checking
from workers.match import REPLAYS, Played, play_match
from workers.player import MOST_STARVED
from workers.sandbox import BotCode, SandboxError, SandboxUnavailable
from workers.workshop import Workshop

log = structlog.get_logger(__name__)
T = TypeVar("T")
TRY_AGAIN_SECONDS = 90.0


def play_for_a_while(shop: Workshop) -> None:
    """Play match after match until the time for one job is over; the last one sends the next job."""
    try:
        shop.sandbox()
    except (SandboxUnavailable, SandboxError) as error:
        log.error("no_sandbox", error=str(error))
        return
    until = time.monotonic() + shop.arena.settings.chunk_ms / 1000
    held = leases.claim(shop.arena, shop.name)
    while held is not None:
        played = _play(shop, held)
        if played is None:
            return
        held = _give_in(shop, held, played, more=time.monotonic() < until)


def check(shop: Workshop, version_id: str) -> None:
    """Try a new version out in the sandbox and write what came of it; ours to answer for if that fails."""
    trial = trials.claim(shop.arena, version_id)
    if trial is None:
        return
    try:
        bot = BotCode(name=trial.filename, kind=trial.kind, content=trial.code)
        seed = hashlib.sha256(version_id.encode()).digest()
        verdict = checking.check(bot, sandbox=shop.sandbox(), limits=Limits(), seed=seed)
    except Exception as error:  # nothing of this is the bot's: a bot's failure is a verdict
        log.exception("check_went_wrong", version=version_id)
        trouble = _said(error)
        _persist(lambda: trials.give_back(shop.arena, trial, trouble))
        return
    _persist(lambda: trials.record_check(shop.arena, trial, ready=verdict.ready, report=verdict.report))


def _play(shop: Workshop, held: Assignment) -> Played | None:
    try:
        with _kept(shop, held):
            return play_match(
                RuleSet.parse(held.rules, len(held.versions)),
                [shop.code(each) for each in held.versions],
                seed=held.seed,
                bot_seeds=held.bot_seeds,
                limits=Limits.parse(held.limits),
                sandbox=shop.sandbox(),
            )
    except Exception as error:  # nothing of this is a bot's: a bot's failure is part of what was played
        log.exception("match_went_wrong", match=held.match_id)
        trouble = _said(error)
        _persist(lambda: leases.give_back(shop.arena, held, trouble))
        return None


def _give_in(shop: Workshop, held: Assignment, played: Played, *, more: bool) -> Assignment | None:
    spent = [Spent(each.cpu_ms, each.wall_ms, each.memory_kb, each.waited_ms) for each in played.usage]
    _, following = _persist(
        lambda: leases.finish_and_claim(
            shop.arena,
            held,
            played.outcome,
            spent,
            mode=played.mode,
            replays=played.replays,
            worker=shop.name,
            more=more,
        )
    )
    return following


@contextmanager
def _kept(shop: Workshop, held: Assignment) -> Iterator[None]:
    """Renew the lease from time to time, as long as the match can possibly last."""
    done = threading.Event()
    limits, rules = Limits.parse(held.limits), RuleSet.parse(held.rules, len(held.versions))
    seats = len(held.versions)
    decisions = rules.decisions(seats)
    computing = seats * (limits.start_cpu_ms + limits.cpu_budget_ms(decisions))  # clocks stand still for it
    once = seats * (limits.start_ms + decisions * limits.decision_ms) + computing
    longest = (REPLAYS + 1 + MOST_STARVED) * once / 1000  # with replays, the last of them patient
    keeper = threading.Thread(target=_keep, args=(shop, held, done, longest), daemon=True)
    keeper.start()
    try:
        yield
    finally:
        done.set()
        keeper.join()


def _keep(shop: Workshop, held: Assignment, done: threading.Event, longest: float) -> None:
    until = time.monotonic() + longest
    while not done.wait(shop.arena.settings.lease_seconds / 3) and time.monotonic() < until:
        try:
            if not leases.renew(shop.arena, held):
                return
        except Unavailable:
            continue


def _persist(act: Callable[[], T]) -> T:
    """Do it, and again while the database is away: a result should outlive that."""
    until, pause = time.monotonic() + TRY_AGAIN_SECONDS, 0.1
    while True:
        try:
            return act()
        except Unavailable:
            if time.monotonic() > until:
                raise
            time.sleep(pause)
            pause = min(2 * pause, 5.0)


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:1000]
