"""The models there are: each a name, what it is made of, and a function from results to an estimate."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from service import estimate, rating, rating_classic, rating_points
from service.estimate import Estimate
from service.tally import Player, Tally


class Results(Protocol):
    """The rated results of one pool."""

    def tally(self) -> Tally:
        """Counted."""

    def replayed(self) -> Mapping[Player, float]:
        """Classic Elo after all deals, in the order of tournaments and their schedules."""


@dataclass(frozen=True, slots=True)
class Model:
    """A way to rate. `version` goes up when its numbers change; `live`: fitted while a tournament runs."""

    name: str
    version: int
    unit: str
    about: str
    parameters: Mapping[str, float]
    live: bool
    rate: Callable[[Results], Estimate]

    @property
    def full_name(self) -> str:
        """With its version, such as elo-2."""
        return f"{self.name}-{self.version}"


MODELS = {
    model.name: model
    for model in (
        Model(
            name="elo",
            version=2,
            unit="Elo",
            about="Elo fitted to all results at once, with intervals",
            parameters={
                "mean": rating.MEAN,
                "sigma": rating.SIGMA,
                "trust": rating.TRUST,
                "wide": rating.WIDE,
                "few_groups": estimate.FEW_GROUPS,
            },
            live=True,
            rate=lambda results: rating.fit(results.tally()),
        ),
        Model(
            name="elo_classic",
            version=1,
            unit="Elo",
            about="Elo deal by deal in a fixed order, without intervals; counts a tournament once it is over",
            parameters={
                "start": rating_classic.START,
                "k": rating_classic.K,
                "few_groups": estimate.FEW_GROUPS,
            },
            live=False,
            rate=lambda results: rating_classic.fit(results.tally(), results.replayed()),
        ),
        Model(
            name="points",
            version=1,
            unit="points a match",
            about="points a match above the average, by least squares, with intervals",
            parameters={"wide": rating_points.WIDE, "few_groups": estimate.FEW_GROUPS},
            live=True,
            rate=lambda results: rating_points.fit(results.tally()),
        ),
    )
}
DEFAULT = "elo"
