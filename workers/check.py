"""A new bot's trial match, in the very sandbox that will rank it, and the report its author acts on."""

from dataclasses import dataclass
from typing import Any

from engine import bots
from engine.rules import RuleSet
from engine.table import Fault
from service.limits import Limits
from workers import diagnosis
from workers.match import Played, Usage, play_match
from workers.sandbox import BotCode, Sandbox, SandboxError

RULES = {"preset": "fundex"}
SEAT = 0
OPPONENTS = ("random", "cautious", "counter")
LOG_SHOWN = 8 * 1024


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether the bot may play, and why (not)."""

    ready: bool
    report: dict[str, Any]


def check(bot: BotCode, *, sandbox: Sandbox, limits: Limits, seed: bytes) -> Verdict:
    """Play the trial match; any fault rejects. Raises `SandboxError` for our own faults."""
    house = [house_bot(name) for name in OPPONENTS]
    table = [bot, *house]
    seeds = [int.from_bytes(seed[:4], "big") ^ seat for seat in range(len(table))]
    played = play_match(
        RuleSet.parse(RULES), table, seed=seed, bot_seeds=seeds, limits=limits, sandbox=sandbox
    )
    for fault in played.outcome.faults:
        if fault.seat != SEAT:
            raise SandboxError(f"house bot {table[fault.seat].name} failed in a trial match: {fault.text}")
    faults = played.outcome.faults
    return Verdict(not faults, _report(bot, played, limits))


def house_bot(name: str) -> BotCode:
    """A house bot as code like any other; raises `KeyError`."""
    return BotCode(f"{name}.py", "py", bots.source(name).encode())


def timings(usage: Usage) -> dict[str, Any]:
    """Times of one seat in milliseconds, per decision and in all."""
    count = max(usage.decisions, 1)
    playing = max(usage.cpu_ms - usage.start_cpu_ms, 0)
    return {
        "start": {"cpu_ms": usage.start_cpu_ms, "wall_ms": usage.start_wall_ms},
        "decision": {
            "cpu_ms_mean": round(playing / count, 3),
            "cpu_ms_max": usage.longest_cpu_us / 1000,
            "wall_ms_mean": round(usage.wall_ms / count, 3),
            "wall_ms_max": usage.longest_wall_us / 1000,
        },
        "match": {"cpu_ms": usage.cpu_ms, "wall_ms": usage.wall_ms, "decisions": usage.decisions},
        "memory_kb": usage.memory_kb,
    }


def _report(bot: BotCode, played: Played, limits: Limits) -> dict[str, Any]:
    faults, usage = played.outcome.faults, played.usage[SEAT]
    first = faults[0] if faults else None
    return {
        "ready": first is None,
        "stage": _stage(first),
        "error": diagnosis.of(first, usage.log, _shown_name(bot)) if first else None,
        "decision": _decision(first) if first else None,
        "faults": [{"kind": str(fault.kind), "text": fault.text} for fault in faults],
        "stderr": usage.log[-LOG_SHOWN:],
        "stderr_bytes": usage.log_bytes,
        "timings": timings(usage),
        "limits": limits.as_dict(),
        "mode": played.mode,
        "rules": RULES["preset"],
        "opponents": list(OPPONENTS),
        "points": played.outcome.scores[SEAT],
        "scores": list(played.outcome.scores),
        "place": played.outcome.places[SEAT],
    }


def _shown_name(bot: BotCode) -> str:
    """How tracebacks name the author's file, or where all files of an archive lie."""
    return "/bot/" if bot.kind == "zip" else bot.file_name()


def _stage(fault: Fault | None) -> str:
    """How far the bot came: where it failed, or through the whole match."""
    if fault is None or fault.decision > 1:
        return "match"
    return "start" if fault.asked == "start" else "first decision"


def _decision(fault: Fault) -> dict[str, Any]:
    told = {key: fault.evidence[key] for key in ("legal", "view", "answer") if key in fault.evidence}
    place = {"asked": fault.asked, "number": fault.decision, "round": fault.round, "trick": fault.trick}
    return place | told
