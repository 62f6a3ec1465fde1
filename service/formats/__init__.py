"""The formats a tournament can have: small modules of pure functions that plan it stage by stage."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from service.formats.base import Done, Field, Format, Stage, Table
from service.formats.gauntlet import Gauntlet
from service.formats.knockout import Knockout
from service.formats.ladder import Ladder
from service.formats.round_robin import RoundRobin
from service.formats.swiss import Swiss

__all__ = ["FORMATS", "Done", "Field", "Format", "Stage", "Table"]

FORMATS: Final[Mapping[str, Format]] = MappingProxyType(
    {
        "round_robin": RoundRobin(),
        "swiss": Swiss(),
        "knockout": Knockout(),
        "gauntlet": Gauntlet(),
        "ladder": Ladder(),
    }
)
