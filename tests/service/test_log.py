"""Log lines: JSON with ids in files, our events and the libraries' alike."""

import io
import json
import logging
from collections.abc import Iterator

import pytest
import structlog

from service import log


@pytest.fixture
def lines() -> Iterator[io.StringIO]:
    kept = logging.getLogger().handlers[:], logging.getLogger().level
    yield io.StringIO()
    logging.getLogger().handlers[:], logging.getLogger().level = kept[0], kept[1]
    structlog.reset_defaults()


def test_an_event_is_one_json_line_with_its_ids_and_its_level(lines: io.StringIO) -> None:
    log.setup("info", stream=lines)
    structlog.get_logger("service.matches").info("match_finished", match="m1", seats=4)
    structlog.get_logger("service.matches").debug("not_wanted")
    (event,) = [json.loads(line) for line in lines.getvalue().splitlines()]
    assert {"event": "match_finished", "match": "m1", "seats": 4, "level": "info"}.items() <= event.items()
    assert event["timestamp"].endswith("Z")


def test_a_librarys_line_looks_the_same_and_an_error_brings_its_trace(lines: io.StringIO) -> None:
    log.setup("info", stream=lines)
    try:
        raise ValueError("broken")
    except ValueError:
        logging.getLogger("kombu").exception("lost %s", "m1")
    event = json.loads(lines.getvalue())
    assert event["event"] == "lost m1"
    assert "ValueError: broken" in event["exception"]


def test_the_clocks_ticks_are_logged_only_for_debugging(lines: io.StringIO) -> None:
    log.setup("info", stream=lines)
    logging.getLogger("celery.beat").info("Sending due task")
    assert lines.getvalue() == ""
    log.setup("debug", stream=lines)
    logging.getLogger("celery.beat").info("Sending due task")
    assert "Sending due task" in lines.getvalue()


def test_what_a_signals_handler_says_at_once_looks_the_same(
    lines: io.StringIO, capfd: pytest.CaptureFixture[str]
) -> None:
    log.setup("info", stream=lines)
    log.at_once("worker: Warm shutdown (MainProcess)", object())
    event = json.loads(capfd.readouterr().err)
    assert (event["event"], event["level"]) == ("worker: Warm shutdown (MainProcess)", "info")
    log.setup("warning", stream=lines)
    log.at_once("worker: Warm shutdown (MainProcess)")
    assert capfd.readouterr().err == ""
