"""Rankings as most ask for them, written without the application: a pool, and how many lines.

A snapshot never changes, so its lines are written once. Which is the newest is asked each time; what lines
say of today (a bot retired since, what its author has uploaded) is looked up again every few seconds.
"""

import re
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from urllib.parse import parse_qsl

from flask import Flask
from sqlalchemy import bindparam
from werkzeug.http import generate_etag

from api.headers import SHARED, UNSIGNED
from api.schemas.rankings import RankedAnswer, RankingAnswer
from service import paging, rankings
from service.rankings import Ranking
from service.rating_models import DEFAULT
from service.refit import newest
from service.tables import snapshot
from service.work import Arena

MOST = 64  # pools
TODAY = 5.0  # seconds
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
    made: float


class Lean:
    """Writes rankings; called with a query's text it gives headers and body, or None for what is not usual.

    Raises the verbs' `Unavailable`.
    """

    def __init__(self, app: Flask, arena: Arena, clock: Callable[[], float] = time.monotonic) -> None:
        self._dumps = app.json.dumps
        self._arena = arena
        self._clock = clock
        self._lock = threading.Lock()
        self._written: OrderedDict[tuple[str, int], Written] = OrderedDict()

    def __call__(self, query: str) -> tuple[list[tuple[str, str]], bytes] | None:
        asked = _usual(query)
        if asked is None or not self._arena.settings.public_read:
            return None
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
        with self._lock:
            known = self._written.get((rules, players))
            old = known is None or known.ranking.snapshot != latest or self._clock() - known.made > TODAY
            if old or known is None:
                known = self._written[rules, players] = self._read(rules, players)
            self._written.move_to_end((rules, players))
            while len(self._written) > MOST:
                self._written.popitem(last=False)
            return known

    def _read(self, rules: str, players: int) -> Written:
        found = rankings.rankings(self._arena, rules=rules, players=players)
        head = self._compact(RankingAnswer().dump(replace(found, items=[], next=None)))
        return Written(found, head.removesuffix(TAIL), {}, self._clock())

    def _text(self, of: Written, limit: int) -> str:
        items = of.ranking.items
        for at in range(min(limit, len(items))):
            if at not in of.lines:
                of.lines[at] = self._compact(RankedAnswer().dump(items[at]))
        lines = ",".join(of.lines[at] for at in range(min(limit, len(items))))
        more = paging.written([int(of.ranking.snapshot or 0), limit]) if limit < len(items) else None
        return f'{of.head}{lines}],"next":{self._compact(more)}}}\n'

    def _compact(self, told: object) -> str:
        return self._dumps(told, separators=(",", ":"))


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
