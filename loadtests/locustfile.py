"""What Locust runs for `loadtests.load`: the users, the shape, and the figures it leaves in a file."""

import json
import os
from pathlib import Path
from typing import Any

from locust import LoadTestShape, TaskSet, User, events
from locust.env import Environment

from loadtests.shapes import SHAPES
from loadtests.users import Author, Organiser, Spectator

__all__ = ["Author", "Organiser", "Spectator", "Told"]
SHAPE = SHAPES[os.environ.get("RAGE_LOAD_SHAPE", "steady")]
OUT = os.environ.get("RAGE_LOAD_OUT")


class Told(LoadTestShape):
    """The shape, as data has it; what was counted while warming up is forgotten."""

    warm = False

    def tick(self) -> tuple[int, float] | None:
        """How many there should be now."""
        now = self.get_run_time()
        if not self.warm and now >= SHAPE.warm_up.seconds and self.runner is not None:
            self.warm = True
            self.runner.stats.reset_all()
        stage = SHAPE.at(now)
        return None if stage is None else (stage.users, stage.rate)


@events.user_error.add_listener
def _broken_off(user_instance: User | TaskSet, exception: Exception, **_: Any) -> None:
    """A failure among the others: what a journey raises beside its requests, Locust keeps to itself."""
    user = user_instance.user if isinstance(user_instance, TaskSet) else user_instance
    user.environment.events.request.fire(
        request_type="JOURNEY",
        name=type(user).__name__,
        response_time=0,
        response_length=0,
        exception=exception,
        context={},
    )


@events.quitting.add_listener
def _leave_figures(environment: Environment, **_: Any) -> None:
    if OUT is None:
        return
    stats = environment.stats
    lines = [_line(entry) for entry in stats.entries.values()]
    failed = stats.errors.values()
    errors = [f"{each.method} {each.name}: {each.error} ({each.occurrences} times)" for each in failed]
    Path(OUT).write_text(json.dumps({"lines": lines, "errors": errors}))


def _line(entry: Any) -> dict[str, Any]:
    """One kind of request: how many, how many failed, and how often each time in ms was taken."""
    return {
        "method": entry.method,
        "name": entry.name,
        "requests": entry.num_requests,
        "failures": entry.num_failures,
        "times": {str(time): count for time, count in entry.response_times.items()},
    }
