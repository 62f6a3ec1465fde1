"""Rankings as most ask for them, written without the application: a pool, and how many lines.

A snapshot never changes, so its lines are written once. Which is the newest is asked each time; what lines
say of today (a bot retired since, what its author has uploaded) is looked up again every few seconds. Who
asks is counted as anywhere; for a pool without rankings the application counts once more.
"""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from urllib.parse import parse_qsl

from flask import Flask
from sqlalchemy import bindparam
from werkzeug.http import generate_etag

from api.headers import SHARED, UNSIGNED
from api.kept import Kept
from api.rates import count_read
from api.schemas.rankings import RankedAnswer, RankingAnswer
from service import paging, rankings
from service.rankings import Ranking
from service.rates import place
from service.rating_models import DEFAULT
from service.refit import newest
from service.tables import snapshot
from service.work import Arena

TODAY = 5.0  # seconds
LINE = 1000  # bytes of a line in memory, nearly
RULES, NUMBER = re.compile("[!-~]{1,40}"), re.compile("[1-9][0-9]{0,2}")
USUAL = {"rules": "fundex", "players": "4", "limit": "50"}
TAIL = '],"next":null}'
NEWEST = newest(bindparam("rules"), bindparam("players"), DEFAULT).with_only_columns(snapshot.c.id)


@dataclass(frozen=True, slots=True)
class Written:
    """A snapshot's rankings: what stands before its lines, and those that were wanted so far."""

    ranking: Ranking
    head: str
    lines: dict[int, str]

    @property
    def weight(self) -> int:
        """Bytes, nearly: of those that were written, and of what they are written from."""
        return sum(map(len, list(self.lines.values()))) + LINE * len(self.ranking.items)


class Lean:
    """Writes rankings: headers and body for a query's text, and the address it is from; None if not usual.

    Raises `TooMany`, and the verbs' `Unavailable`.
    """

    def __init__(self, app: Flask, arena: Arena, clock: Callable[[], float] = time.monotonic) -> None:
        self._app = app
        self._arena = arena
        self._clock = clock
        self._kept = Kept(clock)

    def __call__(self, query: str, address: str | None = None) -> tuple[list[tuple[str, str]], bytes] | None:
        asked = _usual(query)
        if asked is None or not self._arena.settings.public_read:
            return None
        count_read(self._app, place(address), self._arena.settings)
        rules, players, limit = asked
        with self._arena.glance() as db:
            latest = db.scalar(NEWEST, {"rules": rules, "players": players})
        if latest is None:
            return None
        content = self._text(self._of(rules, players, str(latest)), limit).encode()
        tag = f'"{generate_etag(content)}"'
        return [
            ("Content-Type", "application/json"),
            ("ETag", tag),
            *SHARED.items(),
            *UNSIGNED.items(),
        ], content

    def _of(self, rules: str, players: int, latest: str) -> Written:
        state = latest, self._clock() // TODAY
        return self._kept.get((rules, players), state, 0, lambda: self._read(rules, players))

    def _read(self, rules: str, players: int) -> Written:
        found = rankings.rankings(self._arena, rules=rules, players=players)
        head = self._compact(RankingAnswer().dump(replace(found, items=[], next=None)))
        return Written(found, head.removesuffix(TAIL), {})

    def _text(self, of: Written, limit: int) -> str:
        items = of.ranking.items
        for at in range(min(limit, len(items))):
            if at not in of.lines:
                of.lines[at] = self._compact(RankedAnswer().dump(items[at]))
        lines = ",".join(of.lines[at] for at in range(min(limit, len(items))))
        more = paging.written([int(of.ranking.snapshot or 0), limit]) if limit < len(items) else None
        return f'{of.head}{lines}],"next":{self._compact(more)}}}\n'

    def _compact(self, told: object) -> str:
        return self._app.json.dumps(told, separators=(",", ":"))


def _usual(query: str) -> tuple[str, int, int] | None:
    """Rules, players and limit, if nothing else is asked and all is as it should be."""
    given = parse_qsl(query, keep_blank_values=True)
    asked = USUAL | dict(given)
    if len({name for name, _ in given}) < len(given) or asked.keys() != USUAL.keys():
        return None
    rules, players, limit = (asked[name] for name in USUAL)
    if not (RULES.fullmatch(rules) and NUMBER.fullmatch(players) and NUMBER.fullmatch(limit)):
        return None
    return (rules, int(players), int(limit)) if int(limit) <= paging.MOST else None
