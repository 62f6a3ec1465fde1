"""What a table's headings mean, and why it leaves places blank: the sentences under it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

LEVEL = "who is level by bids made exactly"
SHARED = "Who is still level shares a place."
PLACES = {
    "round_robin": f"Places go by points; {LEVEL}, then by points between them, if that is clear. {SHARED}",
    "knockout": "Places go by how far each came. At a table points over its deals decide who goes on; "
    f"{LEVEL}, then by one more deal, then by the seeds.",
    "a match": f"Places go by points a match, as not all play equally often; {LEVEL} a match. {SHARED}",
}


def provisional(unit: str, parameters: Mapping[str, float]) -> str:
    """When a bot is provisional under a model of these parameters."""
    sure = f" and its pool is sure to within {parameters['wide']:g} {unit}" if "wide" in parameters else ""
    few = f"{parameters['few_groups']:g}"
    return f"A bot is provisional, and has no place, until it has played {few} deals{sure}."


def of_ranking(ranking: Mapping[str, Any]) -> Iterator[str]:
    """What a reader of these lines may wonder about."""
    lines = ranking["items"]
    if any(line["provisional"] for line in lines):
        yield provisional(ranking["unit"], ranking["parameters"])
    if any(line["retired"] or not line["active"] for line in lines):
        yield "A retired bot has no place, nor has a version that was replaced by a newer one."
    if any(line["low"] is None for line in lines):
        yield f"{ranking['model']} tells ratings alone, not how sure they are."
    elif any(line["place"] for line in lines):
        yield "may be: the places a bot may truly have; > next: how probably it is better than the next."


def of_standings(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The same of standings."""
    if any(row["dealt"] is not None for row in rows):
        yield "dealt: points a match that the average holder of the same cards took; earned: those beyond."
    if any(row["bid_accuracy"] is not None for row in rows):
        yield "bids: those made exactly."


def of_places(format: str, *, gone: bool) -> str:
    """What decides places in a tournament of this format, and between those who are level."""
    kind = "a match" if gone and format == "round_robin" else format
    return PLACES.get(kind, PLACES["a match"]) + (" Who left comes last." if gone else "")


def of_match(seats: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The same of who sat in a match."""
    if any(seat["luck"] is not None for seat in seats):
        yield "cards, play: points above the table's mean by its cards, by all who held them, and by play."
