"""The rows of a ledger: a tournament, its matches, seats and faults, as the database holds them."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.rules import PRESETS
from service import tally
from service.counts import Line
from service.limits import Limits

SEATS = 4
RULES = PRESETS["fundex"]


@dataclass(frozen=True, slots=True)
class Game:
    """A match that was really played."""

    record: bytes
    scores: tuple[int, ...]
    counted: tuple[int, ...]
    places: tuple[int, ...]
    exact: tuple[int, ...]
    decisions: int


@dataclass(frozen=True, slots=True)
class Cup:
    """A tournament to be written: its entrants' versions, and who sits where in each match."""

    number: int
    id: str
    format: str
    versions: tuple[str, ...]
    order: np.ndarray  # (groups, seats) entrant numbers, in seat order of rotation 0
    done: int  # matches, in whole groups
    began: int  # microseconds
    live: bool

    @property
    def matches(self) -> int:
        return len(self.order) * SEATS

    def finished_at(self, number: int) -> int:
        """When a match was done."""
        return self.began + 1_000_000 * (number + 2)


def tournament_row(cup: Cup, owner: str) -> dict[str, Any]:
    """It is finished, or running."""
    ended = None if cup.live else cup.finished_at(cup.matches)
    return {
        "id": cup.id,
        "owner_id": owner,
        "name": f"Cup {cup.number + 1}",
        "format": cup.format,
        "status": "running" if cup.live else "finished",
        "rules": json.dumps(RULES.spec()),
        "rules_key": RULES.key(),
        "players": SEATS,
        "deals": 1,
        "duplicate": True,
        "meetings": 1,
        "limits": json.dumps(Limits().as_dict()),
        "seed": cup.id,
        "secret": cup.id.encode().ljust(32, b"."),
        "total": cup.matches,
        "created_at": cup.began,
        "started_at": cup.began + 1_000_000,
        "finished_at": ended,
        "claimed_at": cup.finished_at(cup.done),
        "challenger": cup.versions[0].partition(":")[0] if cup.format == "gauntlet" else None,
        "plan": json.dumps({"entrants": list(range(len(cup.versions))), "challenger": 0, "prepared": {}}),
        "stage": 1,
        "groups": len(cup.order),
        "written": cup.matches,
    }


def entrant_row(cup: Cup, number: int) -> dict[str, Any]:
    """One of its entrants."""
    version = cup.versions[number]
    bot_id = version.partition(":")[0]
    return {"tournament_id": cup.id, "number": number, "bot_id": bot_id, "version_id": version}


def stage_row(cup: Cup) -> dict[str, Any]:
    """All tables at once."""
    what = {"tournament_id": cup.id, "number": 1, "kind": "tables", "tables": json.dumps(cup.order.tolist())}
    return {**what, "byes": "[]", "first_group": 0, "planned_at": cup.began}


def match_row(cup: Cup, number: int, game: Game, faulty: np.ndarray) -> dict[str, Any]:
    """A match, done or planned."""
    group, rotation = divmod(number, SEATS)
    done = number < cup.done
    return {
        "tournament_id": cup.id,
        "number": number,
        "deal_group": group,
        "rotation": rotation,
        "entrants": json.dumps(seated(cup, number)),
        "status": "done" if done else "planned",
        "attempts": int(done),
        "lease_worker": f"host{number % 7}-0-{number % 3}-1" if done else None,
        "started_at": cup.finished_at(number) - 900_000 if done else None,
        "finished_at": cup.finished_at(number) if done else None,
        "mode": "A" if done else None,
        "faults": int(done and faulty[number]),
        "decisions": game.decisions if done else 0,
        "record": game.record if done else None,
    }


def seated(cup: Cup, number: int) -> list[int]:
    """Entrant numbers in seat order: each rotation everybody one seat on."""
    group, rotation = divmod(number, SEATS)
    order = cup.order[group].tolist()
    return order[rotation:] + order[:rotation]


def seat_rows(cup: Cup, number: int, game: Game, faulty: np.ndarray) -> Iterator[dict[str, Any]]:
    """What came of a match."""
    for seat, entrant in enumerate(seated(cup, number)):
        yield {
            "tournament_id": cup.id,
            "number": number,
            "seat": seat,
            "entrant": entrant,
            "score": game.scores[seat],
            "counted": game.counted[seat],
            "exact_bids": game.exact[seat],
            "place": game.places[seat],
            "out": False,
            "faults": int(seat == 0 and faulty[number]),
            "cpu_ms": 20 + number % 300,
            "wall_ms": 60 + number % 900,
            "memory_kb": 9_000,
            "waited_ms": number % 5,
        }


def fault_row(cup: Cup, number: int) -> dict[str, Any]:
    """A decision that took too long."""
    told = {"tournament_id": cup.id, "number": number, "ordinal": 0, "seat": 0, "kind": "timeout"}
    where = {"round": 1 + number % 10, "trick": 1, "decision": 5, "asked": "play", "out": False}
    more = {"version_id": cup.versions[seated(cup, number)[0]], "text": "no answer within 1 s"}
    return {**told, **where, **more, "evidence": json.dumps({"waited_ms": 1000})}


def lines(cup: Cup, games: Sequence[Game], chosen: np.ndarray) -> Iterator[Line]:
    """What is counted of it."""
    by_version = np.argsort(np.argsort(cup.versions))  # entrant number to place among sorted versions
    number = np.argsort(by_version)
    who = np.array([seated(cup, n) for n in range(cup.done)])
    places, points = (
        np.array([getattr(games[each], name) for each in chosen[: cup.done]])
        for name in ("places", "counted")
    )
    groups = np.arange(cup.done) // SEATS
    found = tally.tables(by_version[who], places, groups, points=points, players=len(cup.versions))
    last: dict[tuple[int, ...], int] = {}
    for group, row in enumerate(np.sort(by_version[cup.order], axis=1).tolist()[: cup.done // SEATS]):
        last[tuple(row)] = group
    for seats, sums in zip(found.seats, np.ascontiguousarray(found.sums), strict=True):
        packed = number[seats].astype("<u2").tobytes()
        yield Line(packed, int(sums[1]), last[tuple(seats.tolist())], sums.astype("<i8").tobytes())


def counted_row(cup: Cup, line: Line) -> dict[str, Any]:
    """It as a row."""
    told = {"seats": line.seats, "matches": line.matches, "last_group": line.last_group, "sums": line.sums}
    return {"tournament_id": cup.id, "rules_key": RULES.key(), "players": SEATS, **told}
