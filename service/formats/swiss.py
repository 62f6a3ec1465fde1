"""Swiss: a fixed number of stages, each among those who stand alike and have not met."""

from collections.abc import Sequence
from typing import Any

from service.design import Dice
from service.formats.base import Done, Field, Stage, average, repeated, seated
from service.formats.grouping import grouped, sizes


class Swiss:
    """Stage 1 is drawn by lot; then by the average of points a match, which a bye leaves as it is."""

    ahead = False
    endless = False
    by_points = False

    def prepare(self, field: Field) -> dict[str, Any]:
        """Nothing."""
        return {}

    def stage(self, field: Field, number: int, done: Sequence[Done]) -> Stage | None:
        """Tables of neighbours in the standing; byes go to the lowest who had none."""
        stages = stages_of(field)
        if number > stages:
            return None
        dice = Dice(b"swiss %d" % number, field.seed)
        order = [each for level in average(dice.shuffled(field.staying), done) for each in level]
        cut, count = sizes(len(order), field.size, field.least)
        byes = _byes(order, count, done)
        playing = [each for each in order if each not in byes]
        tables = grouped(playing, cut, repeated(field, done), dice)
        return Stage(seated(field, tables, done, dice), tuple(byes), last=number == stages)

    def groups(self, field: Field) -> int:
        """Exactly, as long as nobody leaves."""
        cut, _ = sizes(len(field.staying), field.size, field.least)
        return stages_of(field) * len(cut) * field.deals

    def places(self, field: Field, done: Sequence[Done]) -> list[list[int]]:
        """By average."""
        return average(field.entrants, done)


def stages_of(field: Field) -> int:
    """As many as asked for; else enough to find the best, and three more: ceil(log_k n) + 3."""
    if field.stages is not None:
        return field.stages
    stages, reached = 3, 1
    while reached < len(field.entrants):
        stages, reached = stages + 1, reached * field.size
    return stages


def _byes(order: Sequence[int], count: int, done: Sequence[Done]) -> list[int]:
    had = [each for stage in done for each in stage.byes]
    return sorted(reversed(order), key=had.count)[:count]
