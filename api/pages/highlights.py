"""Which of the latest matches a spectator should see first: the closest finish, the highest score. Pure."""

from collections.abc import Sequence

from api.pages.site import named
from service.matches import Match, Seat

FEWEST = 4  # matches to choose from


def highlights(recent: Sequence[Match]) -> list[tuple[Match, str]]:
    """Matches with what happened there; each once, none of a few."""
    if len(recent) < FEWEST:
        return []
    closest, richest = min(recent, key=_lead), max(recent, key=lambda match: _points(_ranked(match)[0]))
    best = max(richest.seats, key=_points)
    told = [(closest, _finish(closest)), (richest, f"{named(best)} made {_points(best)} points")]
    return told[:1] if closest is richest else told


def _points(seat: Seat) -> int:
    return seat.counted or 0


def _ranked(match: Match) -> list[Seat]:
    """Seats from the best on; of a team, which has one place, the first alone."""
    seen: dict[int, Seat] = {}
    for seat in sorted(match.seats, key=lambda seat: (seat.place or 0, -_points(seat))):
        seen.setdefault(seat.entrant, seat)
    return list(seen.values())


def _lead(match: Match) -> int:
    first, second, *_ = _ranked(match)
    return abs(_points(first) - _points(second))


def _finish(match: Match) -> str:
    first, second, *_ = _ranked(match)
    if not (lead := _lead(match)):
        return f"{named(first)} and {named(second)} ended level"
    return f"{named(first)} beat {named(second)} by {lead} point{'s' if lead != 1 else ''}"
