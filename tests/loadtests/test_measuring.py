"""What the load tests judge by, and the client that must not be the bottleneck."""

import os
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from loadtests import fresh
from loadtests.bars import Bar, Row, status
from loadtests.load import Watch, gauges, judged, quantiles
from loadtests.shapes import SHAPES, Shape, Stage
from loadtests.wire import drive, get, paced

BODY = b"x" * 70_000


@pytest.mark.parametrize(
    ("bar", "value", "holds"),
    [
        (Bar(at_least=2), 2, True),
        (Bar(at_least=2), 1.99, False),
        (Bar(at_most=2), 2, True),
        (Bar(at_most=2), 2.01, False),
        (Bar(at_least=1, at_most=2), 3, False),
        (Bar(), -1, True),
    ],
)
def test_a_bar_holds_up_to_its_bound(bar: Bar, value: float, holds: bool) -> None:
    assert bar.holds(value) is holds
    assert status([Row("it", value, bar)]) == (0 if holds else 1)


def test_what_could_not_be_measured_is_left_out_and_misses_nothing() -> None:
    row = Row("it", None, Bar(at_least=2), "why")
    assert status([row]) == 0
    assert row.cells() == ("it", "left out", ">= 2", "", "why")


def test_a_shape_is_its_stages_one_after_the_other() -> None:
    warm, first, second = Stage(2, 1, 1), Stage(3, 5, 1), Stage(4, 2, 1)
    shape = Shape("", warm, (first, second), {})
    assert shape.seconds == 9
    assert [shape.at(at) for at in (0, 1.9, 2, 4.9, 5, 8.9, 9)] == [
        warm,
        warm,
        first,
        first,
        second,
        second,
        None,
    ]


def line(method: str, name: str, times: dict[str, int], failures: int = 0) -> dict[str, object]:
    requests = sum(times.values())
    return {"method": method, "name": name, "times": times, "requests": requests, "failures": failures}


def test_quantiles_are_those_of_all_requests_together() -> None:
    fast, slow = line("GET", "a", {"10": 90}), line("GET", "b", {"200": 8, "900": 2})
    assert quantiles(fast, slow) == [10, 200, 900]
    assert quantiles() == [0, 0, 0]


@pytest.mark.parametrize("name", SHAPES)
def test_every_bar_of_a_shape_is_about_a_figure_there_is(name: str) -> None:
    watch = Watch(None, [(61, 0), (121, 300)], [0.5], {"api": [90.0] * 5, "worker": [50.0] * 5})  # type: ignore[arg-type]
    lines = [line("GET", "/", {"10": 99_000}), line("POST", "/", {"20": 1000}, failures=30),
             line("WAIT", "check of an upload", {"800": 5}),
             line("WAIT", "tournament of four matches", {"900": 5})]  # fmt: skip
    rows = {row.what: row for row in judged(SHAPES[name], lines, watch)}
    assert set(SHAPES[name].bars) <= set(rows)
    assert not [row for row in rows.values() if row.missed and not row.what.startswith("failures")]
    assert rows["failures, share of requests"].value == 30 / 100_000
    slow = replace(watch, age=[0.5, 900.0])
    assert "oldest waiting work, s" in [row.what for row in judged(SHAPES[name], lines, slow) if row.missed]


def test_what_is_not_there_misses_its_bar_and_a_journey_broken_off_is_a_failure() -> None:
    steady = SHAPES["steady"]
    blind = {row.what: row for row in judged(steady, [], Watch(None))}  # type: ignore[arg-type]
    unseen = {"reads, p95 ms", "matches/s", "oldest waiting work, s", "memory of the API, MB"}
    assert unseen <= {what for what, row in blind.items() if row.missed}
    assert blind["matches/s"].cells()[1:4] == ("left out", ">= 2", "MISSED")
    broken = {**line("JOURNEY", "Author", {"0": 3}), "failures": 3}
    rows = {row.what: row for row in judged(steady, [line("GET", "/", {"10": 100}), broken], Watch(None))}  # type: ignore[arg-type]
    assert (rows["requests"].value, rows["failures, share of requests"].value) == (100, 0)
    assert rows["journeys broken off, share of requests"].missed


def test_memory_the_kernel_does_not_tell_is_left_out() -> None:
    assert fresh.memory(1 << 23) is None, "there can be no such process"
    watch = Watch(None, [(0, 0), (99, 900)], [0.5], {"api": [], "worker": [50.0]})  # type: ignore[arg-type]
    rows = {row.what: row for row in judged(SHAPES["soak"], [], watch)}
    told = [rows[f"memory of {who}, end / beginning"].value for who in ("the API", "a worker")]
    assert told == [None, 1.0] and not rows["memory of the API, MB"].missed


def test_gauges_go_by_name_and_labels() -> None:
    text = '# TYPE a gauge\na{status="done"} 3.0\n# TYPE b gauge\nb 2.5\n'
    assert gauges(text) == {'a{"status": "done"}': 3.0, "b{}": 2.5}


@contextmanager
def answering(*answers: bytes) -> Iterator[int]:
    """A server that gives these answers in turn, in pieces, to each connection."""

    def serve(connection: socket.socket) -> None:
        with connection:
            number = 0
            while connection.recv(65536):
                answer = answers[number % len(answers)]
                connection.sendall(answer[:30])
                connection.sendall(answer[30:])
                number += 1

    def accept() -> None:
        while True:
            try:
                connection, _ = door.accept()
            except OSError:
                return
            threading.Thread(target=serve, args=(connection,), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as door:
        threading.Thread(target=accept, daemon=True).start()
        yield door.getsockname()[1]
        door.shutdown(socket.SHUT_RDWR)


WHOLE = b"HTTP/1.1 200 OK\r\nContent-Length: 70000\r\n\r\n" + BODY
UNCHANGED = b"HTTP/1.1 304 Not Modified\r\netag: x\r\n\r\n"


def test_the_client_takes_answers_whole_however_they_come() -> None:
    with answering(WHOLE, UNCHANGED) as port:
        seen = drive("127.0.0.1", port, [get("127.0.0.1", "/")], 0.05, 3)
    assert set(seen.statuses) == {"200", "304"}
    assert seen.requests == sum(seen.statuses.values())
    assert seen.size == 70_000 * seen.statuses["200"]


def test_a_steady_client_asks_as_often_as_it_should() -> None:
    with answering(UNCHANGED) as port:
        seen = paced("127.0.0.1", port, [get("127.0.0.1", "/")], 0.2, 2, 100)
    assert (seen.requests, seen.statuses) == (20, {"304": 20})
    assert all(taken > 0 for taken in seen.took)


def test_a_process_counts_with_what_it_started() -> None:
    before = fresh.cpu(os.getpid())
    subprocess.run(["python3", "-S", "-c", "sum(range(4_000_000))"], check=True)
    assert fresh.cpu(os.getpid()) - before >= fresh.TICK
    assert (fresh.memory(os.getpid()) or 0) > 1 << 20
    assert fresh.family(os.getpid())[0] == os.getpid()
