"""Who uses the service, a journey each: an author, an organiser, a spectator. For Locust.

They speak through `api.client`, as the command does; every call is told to Locust under a name without ids.
"""

import re
import time
from collections.abc import Iterator, Mapping
from itertools import islice
from random import Random
from typing import Any
from uuid import uuid4

from locust import User, between, task
from locust.env import Environment

from api.client import OVER, Answer, Client, ClientError, ProblemError
from engine.bots import source

ID = re.compile(r"/(bots|tournaments|matches)/[A-Za-z0-9_-]+")
FINE = (304, 409)  # nothing new; a tournament was over before it could be paused
NO_PLACE = 503  # for so many listeners from one address, as all of ours are
HOUSE = ("random", "cautious", "counter")
SMALL = {"preset": "fundex", "hand_sizes": [3, 2, 1]}
PATIENCE = 60.0  # seconds for a check, or for a tournament
LISTENING = 3.0  # seconds
dice = Random(1)


class Told(Client):
    """The client, each call of which Locust hears of."""

    def __init__(self, url: str, environment: Environment) -> None:
        super().__init__(url)
        self._environment = environment

    def call(
        self, method: str, path: str, content: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        """One request."""
        began = time.perf_counter()
        try:
            answer = super().call(method, path, content, headers)
        except ClientError as error:
            fine = isinstance(error, ProblemError) and error.status in FINE
            self.note(method, self.prefix + path, began, None if fine else error)
            raise
        self.note(method, self.prefix + path, began, None, len(answer.content))
        return answer

    def stream(self, path: str, headers: Mapping[str, str]) -> Iterator[Any]:
        """Events; what is measured is the time to the first."""
        began, first = time.perf_counter(), True
        try:
            for event in super().stream(path, headers):
                if first:
                    self.note("SSE", self.prefix + path, began, None)
                first = False
                yield event
        except ClientError as error:
            full = isinstance(error, ProblemError) and error.status == NO_PLACE
            self.note("SSE", self.prefix + path, began, None if full else error)
            raise

    def note(self, kind: str, path: str, began: float, error: Exception | None, size: int = 0) -> None:
        """Tell Locust."""
        self._environment.events.request.fire(
            request_type=kind,
            name=named(path),
            response_time=1000 * (time.perf_counter() - began),
            response_length=size,
            exception=error,
            context={},
        )

    def unless_known(self, path: str, tag: str | None) -> str | None:
        """Read it unless it is still what has this tag; the tag it has now."""
        try:
            answer = self.call("GET", path, headers={"If-None-Match": tag} if tag else {})
        except ProblemError as error:
            if error.status != 304:
                raise
            return tag
        return answer.headers.get("ETag")


class Pages(Told):
    """The same for what a browser reads."""

    prefix = ""


def named(path: str) -> str:
    """A path without ids and query."""
    return ID.sub(r"/\1/ID", path.partition("?")[0])


class Journey(User):
    """Somebody with a client. What is refused, or comes too late, breaks this time's journey off."""

    abstract = True
    wait_time = between(0.2, 1.0)

    def on_start(self) -> None:
        """Come in."""
        self.told = Told(self.host, self.environment)

    def join(self, what: str) -> None:
        """Make an account."""
        self.told.register(f"{what} {uuid4().hex[:16]}")

    def waited(self, what: str, began: float) -> None:
        """How long somebody waited for something to be done."""
        self.told.note("WAIT", what, began, None)


class Author(Journey):
    """Uploads a bot, waits for its verdict, reads what became of it."""

    weight = 2

    def on_start(self) -> None:
        """With an account of their own."""
        super().on_start()
        self.join("author")

    @task
    def bring_a_bot(self) -> None:
        """From the upload to the rating."""
        began, house = time.perf_counter(), dice.choice(HOUSE)
        code = source(house) + f"\n# {uuid4().hex}\n"
        bot = self.told.submit(f"{house} {uuid4().hex[:8]}", "bot.py", code.encode())["id"]
        verdict = self.told.wait_ready(bot, seconds=PATIENCE)
        if verdict["status"] != "ready":
            raise ClientError(f"a house bot was {verdict['status']}: {verdict['report']}")
        self.waited("check of an upload", began)
        list(self.told.faults(bot, 1))
        self.told.rating_history(bot)
        self.told.code(bot, 1)
        self.told.bot(bot)
        self.told.retire(bot)


class Organiser(Journey):
    """Runs tournaments of house bots: sees some to their end, stops some."""

    weight = 2

    def on_start(self) -> None:
        """With an account, and bots to choose from."""
        super().on_start()
        self.join("organiser")
        self.bots = [each["id"] for each in self.told.bots(owner="house")]

    def spec(self, deals: int) -> dict[str, Any]:
        """A tournament."""
        return {"name": "Cup", "entrants": self.bots[:4], "rules": SMALL, "players": 4, "deals": deals}

    @task(3)
    def see_one_through(self) -> None:
        """From the plan to the tables."""
        self.told.plan_tournament(**self.spec(1))
        began = time.perf_counter()
        cup = self.told.create_tournament(**self.spec(1))["id"]
        over = self.told.wait_over(cup, seconds=PATIENCE)
        if over["status"] != "finished":
            raise ClientError(f"a tournament nobody called off is {over['status']}")
        self.waited("tournament of four matches", began)
        self.told.standings(cup)
        self.told.read(f"/tournaments/{cup}/standings", format="csv")
        self.told.crosstable(cup)
        self.told.fairness(cup)

    @task(1)
    def stop_one(self) -> None:
        """Paused, resumed and called off, unless it is over before that."""
        cup = self.told.create_tournament(**self.spec(5))["id"]
        for act in (self.told.pause, self.told.resume, self.told.cancel):
            try:
                act(cup)
            except ProblemError as error:
                if error.status != 409:
                    raise
                return
            self.told.standings(cup)


class Spectator(Journey):
    """Looks at who is best and who plays, page by page and as a program would."""

    weight = 6

    def on_start(self) -> None:
        """With an empty cache."""
        super().on_start()
        self.pages = Pages(self.host, self.environment)
        self.tags: dict[str, str | None] = {}

    @task(4)
    def follow_the_rankings(self) -> None:
        """Again and again; mostly nothing is new."""
        path = "/rankings?rules=fundex&players=4&limit=20"
        self.tags[path] = self.told.unless_known(path, self.tags.get(path))

    @task(2)
    def browse(self) -> None:
        """The front page, and what it leads to."""
        for path in ("/", "/rankings", "/tournaments", "/bots"):
            self.tags[path] = self.pages.unless_known(path, self.tags.get(path))

    @task(3)
    def watch_a_tournament(self) -> None:
        """Its page, its tables, a match of it with its replay."""
        cups = [cup for cup in islice(self.told.tournaments(limit=20), 20) if cup["progress"]["played"]]
        if not cups:
            return
        cup = dice.choice(cups)
        one = f"/tournaments/{cup['id']}"
        self.pages.call("GET", one)
        self.told.standings(cup["id"])
        done = [each["id"] for each in islice(self.told.matches(cup["id"], limit=50), 50)]
        match = dice.choice(done)
        if self.told.match(match)["status"] == "done":
            self.pages.call("GET", f"/matches/{match}")
            self.pages.call("GET", f"/matches/{match}/story.json")
            self.told.record(match)

    @task(1)
    def listen(self) -> None:
        """Events of a tournament that goes on, for a little while."""
        cup = next((cup["id"] for cup in self.told.tournaments(limit=10) if cup["status"] not in OVER), None)
        if cup is None:
            return
        until = time.perf_counter() + LISTENING
        try:
            for _ in self.told.events(cup):
                if time.perf_counter() > until:
                    return
        except ProblemError as error:
            if error.status != NO_PLACE:
                raise
            self.told.tournament(cup)  # as pages do then
