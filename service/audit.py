"""Whether a finished tournament was played as it was promised: every deal, game, seat and sum.

Pure; works on the API's JSON. All that is known beforehand is the hash of a secret; README.md beside this
file says how to do the same in any language. What is wrong first is named in a sentence.
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from engine.record import verify
from engine.scoring import counted
from service.recount import Recount
from service.schedule import group_seed

Json = Mapping[str, Any]


class Audit:
    """Checks a tournament match by match: `begin`, `match` for each in order, then `end`.

    Each returns the first discrepancy, or None. `matches` and `groups` count what was found in order.
    """

    def __init__(self, tournament: Json) -> None:
        self._told = tournament
        self._secret = b""
        self._entrants = {each["number"]: each for each in tournament["entrants"]}
        self._next = 0
        self._seatings: dict[int, tuple[int, Sequence[int]]] = {}
        self._recount = Recount(tournament)
        self.matches = 0

    @property
    def groups(self) -> int:
        """Deals that were played."""
        return len({result.group for result in self._recount.results})

    def begin(self, promised: str | None = None) -> str | None:
        """Is the secret that of the hash, the one the server shows and the one noted at the start?"""
        told = self._told
        if told["secret"] is None:
            return f"secret: it is published when the tournament is over; this one is {told['status']}"
        wrong = secret_discrepancy(told["secret"], promised or told["secret_hash"])
        if wrong is None:
            self._secret = bytes.fromhex(told["secret"])
        return wrong

    def match(self, match: Json, record: Json | None) -> str | None:
        """Is it the next, seated as its deal demands, and its record (None: not played) true to all that?"""
        wrong = self._seating(match) or (None if record is None else self._record(match, record))
        self._next += 1
        return None if wrong is None else f"{match['id']}: {wrong}"

    def end(self, standings: Sequence[Json]) -> str | None:
        """Are all matches there, and do the standings follow from the records?"""
        if self._told["status"] == "finished" and self._next != self._told["progress"]["total"]:
            return f"matches: {self._next} are listed, {self._told['progress']['total']} were planned"
        return self._recount.discrepancy(standings)

    def _seating(self, match: Json) -> str | None:
        if match["number"] != self._next:
            return f"number: match {self._next} is missing"
        order, rotation = [seat["entrant"] for seat in match["seats"]], match["rotation"]
        first = self._seatings.setdefault(match["group"], (rotation, order))
        by = (rotation - first[0]) % len(order)
        moved = [*first[1][by:], *first[1][:by]]  # or, in a comparison, the two exchanged
        if self._told.get("format") == "comparison":
            moved = [{0: 1, 1: 0}.get(each, each) if by else each for each in first[1]]
        if order != moved:
            return f"seats: not those of the other matches of group {match['group']}, moved on by {by}"
        for seat in match["seats"]:
            entered = self._entrants.get(seat["entrant"])
            if entered is None or any(seat[key] != entered[key] for key in ("bot_id", "version")):
                return f"seats[{seat['seat']}]: not the version entered as number {seat['entrant']}"
        self._recount.seat(match)
        return None

    def _record(self, match: Json, record: Json) -> str | None:
        wrong = deal_discrepancy(record, self._secret) or verify(record) or _foreign(match, record)
        if wrong is None and record["rules"] != self._told["rules"]:
            wrong = f"record.rules: {record['rules']}, announced were {self._told['rules']}"
        if wrong is None:
            self.matches += 1
            self._recount.add(match)
        return wrong


def secret_discrepancy(secret: str, promised: str | None) -> str | None:
    """None if `promised` is the SHA-256 of the secret (both hexadecimal)."""
    found = hash_of(secret)
    if found is None:
        return f"secret: {secret!r:.70} is not hexadecimal"
    if found != str(promised).lower():
        return f"secret: its SHA-256 is {found}, promised was {promised}"
    return None


def hash_of(secret: str) -> str | None:
    """SHA-256 of a secret, both hexadecimal; None if it is not."""
    try:
        return hashlib.sha256(bytes.fromhex(secret)).hexdigest()
    except ValueError:
        return None


def deal_discrepancy(record: Json, secret: bytes) -> str | None:
    """None if a record's seed is what the tournament's secret makes of its deal group (`about.group`)."""
    about = record.get("about")
    group = about.get("group") if isinstance(about, Mapping) else None
    if not isinstance(group, int) or not 0 <= group < 1 << 64:
        return "about.group: the deal group is needed to check the seed against a secret"
    expected = group_seed(secret, group).hex()
    if record.get("seed") != expected:
        return f"seed: {record.get('seed')!r:.70}, but group {group} is dealt from {expected}"
    return None


def _foreign(match: Json, record: Json) -> str | None:
    """What of a match's line is not as its record has it."""
    about = record["about"]
    same = {"match": match["id"], "tournament": match["tournament_id"], "rotation": match["rotation"]}
    for key, value in {**same, "group": match["group"]}.items():
        if about.get(key) != value:
            return f"record.about.{key}: {about.get(key)!r:.70} instead of {value!r}"
    if record["players"] != len(match["seats"]):
        return f"seats: {len(match['seats'])}, by its record {record['players']}"
    columns = {
        "score": record["scores"],
        "counted": counted(record["scores"], record["out"]),
        "exact_bids": record["exact_bids"],
        "place": record["places"],
        "out": [seat in record["out"] for seat in range(record["players"])],
    }
    for field, values in columns.items():
        for seat, value in zip(match["seats"], values, strict=True):
            if seat[field] != value:
                return f"seats[{seat['seat']}].{field}: {seat[field]}, by its record {value}"
    return None
