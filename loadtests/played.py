"""A service with bots on it that plays tournaments to be measured, for `bench_service`."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import func, select

from api.client import Client
from engine.bots import source
from loadtests import fresh, plain
from service import tables
from service.jobs import InlineQueue
from service.supervisor import Supervisor
from service.work import Arena

TABLE = ("random", "cautious", "counter", "random")
AT_ONCE = b"def bid(view):\n    return 0\n\n\ndef play(view):\n    return view['legal'][0]\n"
SEED = "bench"
QUIET_SECONDS = 1.5  # after the last match: ratings are computed then


@dataclass(frozen=True, slots=True)
class Went:
    """One way to play the matches: seconds of wall and CPU, what came of it, CPU by program."""

    wall: float
    cpu: float
    digest: str
    by: Mapping[str, float]


class Played:
    """A service with bots on it, and a tournament's verbs."""

    def __init__(self, service: Supervisor, deals: int, secret: bytes) -> None:
        self.service = service
        self.arena = Arena.open(service.settings, InlineQueue())
        self._client = Client(service.address)
        self._client.register("bench")
        self._deals = deals
        self._secret = secret
        self.bots = [self._upload(f"{name} {seat}", source(name).encode()) for seat, name in enumerate(TABLE)]
        self.quick = [self._upload(f"quick {seat}", AT_ONCE) for seat in range(len(TABLE))]

    def _upload(self, called: str, code: bytes) -> str:
        made = self._client.submit(called, "bot.py", code)
        ready = self._client.wait_ready(made["id"])
        assert ready["status"] == "ready", ready
        return str(made["id"])

    def create(self, entrants: Sequence[str], *, deals: int, **told: Any) -> str:
        """A tournament that waits for its start."""
        seats = {"entrants": entrants, "players": len(entrants), "deals": deals}
        spec = {"name": "Bench", **seats, "seed": SEED}
        made = self._client.create_tournament(**spec, start_at="manual", **told)
        plain.with_secret(self.arena, made["id"], self._secret)
        return str(made["id"])

    def play(self, entrants: Sequence[str] | None = None) -> tuple[str, Went]:
        """From the request to start until the last result is in, and CPU until ratings are, too."""
        made = self.create(entrants or self.bots, deals=self._deals)
        before, began = fresh.used(self.service), time.time()
        self._client.start(made)
        while not self.finished(made):
            time.sleep(0.05)
        wall = self._last(made).timestamp() - began
        time.sleep(QUIET_SECONDS)
        after = fresh.used(self.service)
        by = {name: after[name] - before.get(name, 0.0) for name in after}
        by["decisions"] = self.facts(made)[1]
        return made, Went(
            wall, sum(after.values()) - sum(before.values()), plain.digest(plain.scores(self.arena, made)), by
        )

    def start(self, tournament_id: str) -> None:
        """Start it."""
        self._client.start(tournament_id)

    def finished(self, tournament_id: str) -> bool:
        """Whether it is over."""
        this = tables.tournament.c.id == tournament_id
        with self.arena.read() as db:
            return bool(db.scalar(select(tables.tournament.c.status).where(this)) == "finished")

    def _last(self, tournament_id: str) -> Any:
        of_it = tables.match.c.tournament_id == tournament_id
        latest = select(tables.match.c.finished_at).where(of_it).order_by(tables.match.c.finished_at.desc())
        with self.arena.read() as db:
            return db.scalar(latest.limit(1))

    def facts(self, tournament_id: str) -> tuple[int, int, float]:
        """Matches, decisions, and the bots' own CPU in seconds."""
        match, seat = tables.match, tables.seat
        with self.arena.read() as db:
            query = select(func.count(), func.sum(match.c.decisions)).where(
                match.c.tournament_id == tournament_id
            )
            matches, decisions = db.execute(query).one()
            bots = db.scalar(select(func.sum(seat.c.cpu_ms)).where(seat.c.tournament_id == tournament_id))
        return matches, decisions, bots / 1000

    def read(self, tournament_id: str) -> None:
        """What spectators look at."""
        for path in ("/rankings?rules=fundex&players=2", f"/tournaments/{tournament_id}/standings",
                     f"/tournaments/{tournament_id}/matches", f"/matches/{tournament_id}-0"):  # fmt: skip
            self._client.read(path)
