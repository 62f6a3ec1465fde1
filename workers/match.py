"""One match in sandboxes: a fresh one for every seat, all ended with the match."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

import structlog

from engine.rules import RuleSet
from engine.table import Outcome, play
from service.limits import Limits
from workers.neighbours import Neighbours
from workers.player import SandboxPlayer
from workers.sandbox import BotCode, MatchVoid, Sandbox
from workers.spent import MS
from workers.together import ask_all

log = structlog.get_logger(__name__)
REPLAYS = 2
OnRound = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Usage:
    """What one seat's bot used. CPU counts on and off turn and the start; wall time is its own turns'.

    `waited_ms`: how long it stood ready to run but another had the core.
    """

    cpu_ms: int
    wall_ms: int
    memory_kb: int
    decisions: int
    start_cpu_ms: int
    start_wall_ms: int
    longest_cpu_us: int
    longest_wall_us: int
    log_bytes: int
    log: str
    waited_ms: int = 0

    @classmethod
    def of(cls, player: SandboxPlayer) -> "Usage":
        """What the player counted."""
        spent = player.spent
        return cls(
            cpu_ms=spent.cpu // MS,
            wall_ms=spent.wall // MS,
            memory_kb=spent.memory_kb,
            decisions=spent.decisions,
            start_cpu_ms=spent.start_cpu // MS,
            start_wall_ms=spent.start_wall // MS,
            longest_cpu_us=spent.cpu_longest // 1000,
            longest_wall_us=spent.wall_longest // 1000,
            log_bytes=player.log.written,
            log=player.log.text(),
            waited_ms=spent.waited // MS,
        )


@dataclass(frozen=True, slots=True)
class Played:
    """A finished match, what each seat used, the sandbox's mode, and how often a busy machine spoilt it."""

    outcome: Outcome
    usage: tuple[Usage, ...]
    mode: str
    replays: int = 0


def play_match(
    rules: RuleSet,
    bots: Sequence[BotCode],
    *,
    seed: bytes,
    bot_seeds: Sequence[int],
    limits: Limits,
    sandbox: Sandbox,
    on_round: OnRound | None = None,
) -> Played:
    """Play a match; raises `SandboxError` for our own faults.

    A match that the machine spoilt is played again from its start, at most twice; each time is logged with
    the seat, for a bot might have a hand in it. If that does not help it is our fault, never a bot's.
    """
    for replays in range(REPLAYS + 1):
        try:
            played = _once(rules, bots, seed, bot_seeds, limits, sandbox, on_round)
            return replace(played, replays=replays)
        except MatchVoid as void:
            log.warning("match_void", reason=str(void), replays=replays)
            if replays == REPLAYS:
                raise
    raise AssertionError("not reached")


def _once(
    rules: RuleSet,
    bots: Sequence[BotCode],
    seed: bytes,
    bot_seeds: Sequence[int],
    limits: Limits,
    sandbox: Sandbox,
    on_round: OnRound | None,
) -> Played:
    players: list[SandboxPlayer] = []
    neighbours = Neighbours()
    backstop = _cpu_seconds(rules, len(bots), limits)
    with ExitStack() as stack:
        for slot, bot in enumerate(bots):  # all at once, so that they start side by side
            running = sandbox.launch(bot, limits, slot=slot, cpu_seconds=backstop)
            stack.callback(running.stop)
            players.append(SandboxPlayer(running, limits, neighbours=neighbours))
        outcome = play(
            rules,
            players,
            seed=seed,
            limits=limits.as_dict(),
            bot_seeds=bot_seeds,
            on_round=on_round,
            ask_all=ask_all(players),
        )
    return Played(outcome, tuple(map(Usage.of, players)), sandbox.mode)


def _cpu_seconds(rules: RuleSet, players: int, limits: Limits) -> int:
    """Far enough above the budget that only a bot nobody asks any more ever meets it."""
    budget = limits.cpu_budget_ms(rules.decisions(players)) + limits.start_cpu_ms
    return 2 + 2 * budget // 1000
