"""Lines over pipes whose other ends do what they like."""

import os
import time
from collections.abc import Iterator

import pytest

from workers.log import Log
from workers.sandbox import Running
from workers.wire import Closed, Overlong, Wire


@pytest.fixture
def ends() -> Iterator[tuple[Wire, Running, int, int]]:
    """A wire, our side of it, and what a bot would read from and write to."""
    (asked, stdin), (stdout, answered), (stderr, logged) = os.pipe(), os.pipe(), os.pipe()
    for ours in (stdin, stdout, stderr):
        os.set_blocking(ours, False)
    running = Running(stdin=stdin, stdout=stdout, stderr=stderr, memory_limit=0)
    yield Wire(running, Log()), running, asked, answered
    running.close_input()
    for descriptor in (asked, stdout, stderr, answered, logged):
        os.close(descriptor)


def soon() -> float:
    return time.monotonic() + 5


def test_a_line_comes_whole_however_it_was_written(ends) -> None:
    wire, _, _, answered = ends
    os.write(answered, b"half")
    wire.look()
    assert wire.line(0.0) is None and wire.waiting()
    os.write(answered, b" and half\nmore\n")
    assert [wire.line(soon()), wire.line(soon())] == [b"half and half", b"more"]
    assert not wire.waiting()


def test_a_long_line_is_dropped_to_its_end(ends) -> None:
    wire, _, _, answered = ends
    os.write(answered, b"x" * 5_000)
    with pytest.raises(Overlong):
        wire.line(soon())
    os.write(answered, b"x\nnext\n")
    assert wire.line(soon()) == b"next"


def test_what_does_not_fit_goes_out_while_waiting(ends) -> None:
    wire, _, asked, answered = ends
    wire.send(b"q" * 200_000 + b"\n")
    taken = b""
    while not taken.endswith(b"\n"):
        taken += os.read(asked, 1 << 20)
        wire.look()
    assert len(taken) == 200_001
    os.write(answered, b"an answer\n")
    assert wire.line(soon()) == b"an answer"


def test_closing_the_input_of_a_bot_that_never_read_is_no_trouble(ends) -> None:
    wire, running, asked, _ = ends
    wire.send(b"q" * 200_000)
    wire.close_input()
    wire.look()
    wire.settle(time.monotonic() + 0.01)
    assert running.stdin == -1 and len(os.read(asked, 1 << 20)) < 200_000


def test_lines_before_the_end_are_told_first(ends) -> None:
    wire, running, _, answered = ends
    os.write(answered, b"last\n")
    os.dup2(running.stderr, answered)  # closes it, and keeps the number
    assert wire.line(soon()) == b"last"
    with pytest.raises(Closed):
        wire.line(soon())
