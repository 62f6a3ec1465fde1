"""What a bot may use, in plain words with units: for the pages that show it and the form that asks for it."""

from collections.abc import Iterator, Mapping

WORDS = {
    "decision_ms": "time for a decision",
    "decision_cpu_ms": "CPU time a decision, on average",
    "bank_cpu_ms": "CPU time in reserve",
    "match_cpu_ms": "CPU time a match, instead of both",
    "start_ms": "time to start",
    "start_cpu_ms": "CPU time to start",
    "memory_mb": "memory",
}


def words(limits: Mapping[str, int | None]) -> Iterator[tuple[str, str]]:
    """Each limit that holds, as a name and an amount: a sum for the match replaces average and reserve."""
    whole = limits.get("match_cpu_ms") is not None
    for name, value in limits.items():
        if value is not None and not (whole and name in ("decision_cpu_ms", "bank_cpu_ms")):
            yield WORDS[name].removesuffix(", instead of both"), amount(name, value)


def amount(name: str, value: int) -> str:
    """A limit with its unit; whole seconds as such."""
    if name.endswith("_mb"):
        return f"{value} MiB"
    return f"{value // 1000} s" if value >= 1000 and value % 1000 == 0 else f"{value} ms"
