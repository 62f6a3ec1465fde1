"""Rankings are written without the application where they are asked for as usual, and are the same."""

from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import event

from api import lean
from api.lean import Lean
from service import bots, refit
from service.work import Arena

PATH = "/api/v1/rankings"
UNUSUAL = "&format=json"  # the same to the application, nothing to us


class Watch:
    """Seconds that pass when told to."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def asked(app: Flask) -> list[str]:
    """What the application itself was asked for."""
    seen: list[str] = []
    app.before_request(lambda: seen.append(app.ensure_sync(lambda: None)() or "asked"))
    return seen


@pytest.mark.parametrize("query", ["", "?limit=200", "?limit=3", "?limit=1&players=4", "?rules=fund%65x&limit=2"])
def test_they_are_what_the_application_says(http: FlaskClient, cup: dict[str, Any], query: str) -> None:
    rules = f"rules={cup['pool']}" if "pool" in cup else ""
    query = f"{query}&{rules}" if query else f"?{rules}"
    ours, theirs = http.get(PATH + query), http.get(PATH + query + UNUSUAL)
    assert ours.data == theirs.data
    assert ours.get_json()["items"] is not None
    assert named(ours) == named(theirs)


def named(answer: Any) -> dict[str, str]:
    return {name: value for name, value in answer.headers if name not in ("X-Request-ID", "Date")}
