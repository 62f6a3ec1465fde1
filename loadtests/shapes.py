"""How many come and for how long, and what must hold meanwhile: data for `loadtests.load`."""

from collections.abc import Mapping
from dataclasses import dataclass

from loadtests.bars import Bar


@dataclass(frozen=True, slots=True)
class Stage:
    """So many users for so many seconds, that many more (or fewer) a second until there are so many."""

    seconds: float
    users: int
    rate: float


@dataclass(frozen=True, slots=True)
class Shape:
    """A warm-up, which counts for nothing, and what follows; bars by the name of a figure."""

    about: str
    warm_up: Stage
    stages: tuple[Stage, ...]
    bars: Mapping[str, Bar]

    @property
    def seconds(self) -> float:
        """All of it."""
        return self.warm_up.seconds + sum(stage.seconds for stage in self.stages)

    def at(self, seconds: float) -> Stage | None:
        """The stage at a time from the start; None when it is over."""
        for stage in (self.warm_up, *self.stages):
            if seconds < stage.seconds:
                return stage
            seconds -= stage.seconds
        return None


# Service, workers, bots and those who ask share the machine's cores here, so times are what a laptop does.
ALWAYS = {
    "failures, share of requests": Bar(at_most=0.001),
    "journeys broken off, share of requests": Bar(at_most=0.001),
    "reads, p50 ms": Bar(at_most=100),
    "reads, p95 ms": Bar(at_most=500),
    "reads, p99 ms": Bar(at_most=1500),
    "writes, p95 ms": Bar(at_most=1000),
    "oldest waiting work, s": Bar(at_most=30),
    "matches/s": Bar(at_least=2),
    "memory of the API, MB": Bar(at_most=250),
    "memory of a worker, MB": Bar(at_most=250),
}

SHAPES = {
    "short": Shape(
        "a few seconds, for every change",
        Stage(2, 6, 3),
        (Stage(8, 10, 5),),
        # Whether all journeys work; how quick they are a test machine cannot tell.
        {"failures, share of requests": Bar(at_most=0), "requests": Bar(at_least=30),
         "journeys broken off, share of requests": Bar(at_most=0),
         "matches/s": Bar(at_least=0.1), "uploads checked": Bar(at_least=1),
         "tournaments seen to their end": Bar(at_least=1), "oldest waiting work, s": Bar(at_most=30)},
    ),
    "steady": Shape(
        "two minutes of everyday use",
        Stage(15, 20, 2),
        (Stage(120, 20, 5),),
        ALWAYS,
    ),
    "spike": Shape(
        "everybody comes at once, and goes",
        Stage(15, 10, 2),
        (Stage(20, 10, 5), Stage(30, 60, 30), Stage(40, 10, 30)),
        {**ALWAYS, "reads, p50 ms": Bar(at_most=300), "reads, p95 ms": Bar(at_most=1500),
         "reads, p99 ms": Bar(at_most=4000),
         "writes, p95 ms": Bar(at_most=3000), "oldest waiting work, s": Bar(at_most=60),
         "matches/s": Bar(at_least=1)},
    ),
    "soak": Shape(
        "half an hour, in which nothing may grow",
        Stage(60, 15, 1),
        (Stage(1800, 15, 5),),
        {**ALWAYS, "memory of the API, end / beginning": Bar(at_most=1.2),
         "memory of a worker, end / beginning": Bar(at_most=1.2)},
    ),
}  # fmt: skip
