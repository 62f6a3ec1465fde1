"""Matches and checks as a worker does them: claimed, played without a transaction, given in once.

Short matches are claimed and given in several at a time, as many as last `RAGE_BATCH_MS` together: a lease,
its results and their commits then cost little beside playing. A longer match is by itself.
"""

import hashlib
import time
from collections.abc import Sequence

import structlog
from structlog.contextvars import bound_contextvars

from engine.rules import RuleSet
from service import leases, traces, trials
from service.errors import Unavailable
from service.leases import Assignment
from service.limits import Limits
from service.lost import ALONE, TOGETHER
from service.sheet import Sheet, Spent
from service.trials import Trial
from service.turns import Share
from workers import check as checking
from workers import giving, in_play, keeping, stopping
from workers.batch import Batch
from workers.check import Verdict
from workers.giving import Broken
from workers.match import play_match
from workers.sandbox import BotCode, MachineBusy, SandboxError, SandboxUnavailable
from workers.stopping import Stopped
from workers.workshop import Workshop

log = structlog.get_logger(__name__)
LATE = 1.5  # of a batch's time: nothing more of it is begun, and nobody waits for the rest
LONGEST_CHECK = 600.0  # seconds a check's lease is renewed at most
SHORTEST_REST, LONGEST_REST = 1.0, 60.0  # seconds
SLOWEST = 100  # times slower than alone a match may be on a busy machine before it is taken for hanging,
LONGEST = 3600.0  # and for how many seconds at the most, unless alone it may last longer


def play_for_a_while(shop: Workshop) -> None:
    """Play batch after batch until the time for one job is over; the last one sends the next job."""
    with stopping.working(), traces.span("play", worker=shop.name):
        if stopping.asked() or not _fit(shop):
            return
        until = time.monotonic() + shop.arena.settings.chunk_ms / 1000
        with traces.span("claim"):
            held = leases.claim_some(shop.arena, shop.name, _share(shop, until))
        while held:
            batch = Batch(held)
            broken = _play_all(shop, batch, held)
            more = not broken and shop.has_time(held[0].tournament_id, until) and not stopping.asked()
            with traces.span("give in", match=held[0].match_id, matches=len(held)):
                held = giving.give_in(shop, batch, _share(shop, until) if more else None)
            if broken:
                giving.hand_back(shop, broken)
                _rest(shop, broken)


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
            giving.persist(
                lambda: trials.record_check(shop.arena, trial, ready=verdict.ready, report=verdict.report)
            )


def _share(shop: Workshop, until: float) -> Share:
    """What fits into the rest of the job, and into a batch."""
    left = 1000 * (until - time.monotonic())
    return Share(min(left, shop.arena.settings.batch_ms), shop.lasts, shop.workers)


def _play_all(shop: Workshop, batch: Batch, held: Sequence[Assignment]) -> Broken | None:
    """Play what is in the batch, as far as there is time for it; what could not be played ends it."""
    over = time.monotonic() + LATE * shop.arena.settings.batch_ms / 1000
    longest = _longest(max(held, key=lambda each: len(each.versions)))

    def is_over() -> bool:
        return time.monotonic() > over or stopping.asked()

    def renew() -> bool:
        return time.monotonic() - batch.since > longest or _renew(shop, batch)

    def look() -> None:
        if is_over():
            giving.lighten(shop, batch)

    with keeping.kept(shop.arena.settings, renew, look):
        while (each := batch.begin()) is not None:
            ids: dict[str, str | int] = {"match": each.match_id, "attempt": each.attempt}
            with bound_contextvars(**ids, worker=shop.name), traces.span("match", **ids):
                came_to = _play(shop, each)
            batch.end(came_to if isinstance(came_to, Sheet) else None)
            if isinstance(came_to, Broken):
                return came_to
            if is_over():
                break
    return None


def _renew(shop: Workshop, batch: Batch) -> bool:
    """Keep the leases of all that is held; False once none is left."""
    held = batch.held()
    kept = leases.renew_all(shop.arena, held)
    for each, still in zip(held, kept, strict=True):
        if not still:
            batch.forget(each)
    return any(kept)


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
        renew = keeping.at_most(LONGEST_CHECK, lambda: trials.renew(shop.arena, trial))
        with keeping.kept(shop.arena.settings, renew), stopping.breakable():
            return checking.check(bot, sandbox=shop.sandbox(), limits=Limits(), seed=seed)
    except (Exception, Stopped) as error:  # nothing of this is the bot's: a bot's failure is a verdict
        trouble, counts = giving.said(error), _suspect(shop, error)
        giving.persist(lambda: trials.give_back(shop.arena, trial, trouble, counts=counts))
        return None


def _play(shop: Workshop, held: Assignment) -> Sheet | Broken:
    """What it came to. Nothing that is raised is a bot's: its failure is part of what was played."""
    in_play.note(shop.number, held.match_id)
    try:
        return _played(shop, held)
    except (Exception, Stopped) as error:
        busy = isinstance(error, MachineBusy)
        suspicion = (TOGETHER if busy else ALONE) if _suspect(shop, error) else 0
        return Broken(held, giving.said(error), suspicion, busy)
    finally:
        in_play.note(shop.number, "")


def _played(shop: Workshop, held: Assignment) -> Sheet:
    began = time.monotonic()
    with stopping.breakable():
        played = play_match(
            RuleSet.parse(held.rules, len(held.versions)),
            [shop.code(each) for each in held.versions],
            seed=held.seed,
            bot_seeds=held.bot_seeds,
            limits=Limits.parse(held.limits),
            sandbox=shop.sandbox(),
        )
    took_ms = 1000 * (time.monotonic() - began)
    shop.lasted(held.tournament_id, took_ms)
    shop.rest = 0.0
    spent = [
        Spent(each.cpu_ms, each.wall_ms, each.memory_kb, each.waited_ms, each.decisions)
        for each in played.usage
    ]
    return Sheet.of(
        held,
        played.outcome,
        spent,
        mode=played.mode,
        replays=played.replays,
        took_ms=max(round(took_ms), 1),
    )


def _longest(held: Assignment) -> float:
    """Seconds after which it hangs, however busy the machine may be."""
    seats, limits = len(held.versions), Limits.parse(held.limits)
    decisions = RuleSet.parse(held.rules, seats).decisions(seats)
    computing = seats * (limits.start_cpu_ms + limits.cpu_budget_ms(decisions))  # clocks stand still for it
    once = seats * (limits.start_ms + decisions * limits.decision_ms) + computing
    return max(once / 1000, min(SLOWEST * once / 1000, LONGEST))


def _rest(shop: Workshop, broken: Broken) -> None:
    """Leave a machine that is too busy alone for a while, twice as long each time until a match is played."""
    if broken.busy:
        shop.rest = min(max(2 * shop.rest, SHORTEST_REST), LONGEST_REST)
        log.warning("machine_busy", match=broken.held.match_id, rest_seconds=shop.rest)
        over = time.monotonic() + shop.rest
        while time.monotonic() < over and not stopping.asked():
            time.sleep(0.1)


def _suspect(shop: Workshop, error: BaseException) -> bool:
    """Whether what was played may be the reason: not if we stop, or nothing can be played here."""
    if isinstance(error, Stopped | Unavailable | MachineBusy):
        log.warning("match_broken_off", error=giving.said(error))
        return isinstance(error, MachineBusy)
    log.error("match_went_wrong", exc_info=error)
    shop.forget_sandbox()
    return _fit(shop)
