"""A tournament followed to its end, whatever becomes of the line to its server."""

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from api import results, shown
from api.client import OVER, Client, ClientError, TookTooLong
from api.patience import Patience, is_away

AGAIN = 1.0  # seconds before a broken line is taken up again
MOST_BREAKS = 30


def to_its_end(client: Client, tournament_id: str) -> str:
    """Follows a tournament that somebody watches; its last status."""
    try:
        return follow(client, tournament_id)
    except KeyboardInterrupt:
        shown.say(aside=True)
        shown.say(f"it goes on; see how: rage tournament watch {tournament_id}", aside=True)
        raise


def follow(client: Client, tournament_id: str, *, seconds: float = math.inf) -> str:
    """Shows how far a tournament is until it is over; its last status. Outlives a server's restart."""
    limit = time.monotonic() + seconds
    found = Patience(client.say).ask(lambda: client.tournament(tournament_id))
    with shown.bar(found["name"]) as bar:
        if found["status"] in ("draft", "scheduled"):
            bar.say(results.waits_for(found))
        patience, line, gone = Patience(bar.say), _Line(client, tournament_id), set[int]()
        while True:
            for event in line.read():
                _tell(bar, event, gone)
                _check(limit, tournament_id)
            found = patience.ask(lambda: client.tournament(tournament_id))
            if found["status"] in OVER:
                if found["progress"]["void"]:
                    bar.say(results.how_far(found))
                return str(found["status"])
            _check(limit, tournament_id)
            time.sleep(AGAIN)


@dataclass(slots=True)
class _Line:
    """A tournament's events, taken up again where the line broke."""

    client: Client
    tournament_id: str
    last: str | None = None
    breaks: int = 0

    def read(self) -> Iterator[dict[str, Any]]:
        try:
            for event in self.client.events(self.tournament_id, after=self.last):
                self.last, self.breaks = event["id"], 0
                yield event
        except ClientError as error:
            self.breaks += 1
            if self.breaks > MOST_BREAKS or not is_away(error):
                raise


def _check(limit: float, tournament_id: str) -> None:
    if time.monotonic() > limit:
        raise TookTooLong(f"tournament {tournament_id} takes too long")


def _tell(bar: shown.Bar, event: dict[str, Any], gone: set[int]) -> None:
    """Says what an event tells; `gone`: who was said to have left, and is told each time."""
    told = event["data"]
    if event["type"] == "progress":
        bar.at(told["played"] + told["failed"], told["total"])
    elif event["type"] == "stage" and told["format"] != "round_robin":
        bar.say(f"stage {told['stage']}")
    elif event["type"] == "left":
        new = [each for each in told["entrants"] if each["entrant"] not in gone]
        gone.update(each["entrant"] for each in new)
        if new:
            bar.say(", ".join(f"{each['name']} {each['status']}" for each in new))
