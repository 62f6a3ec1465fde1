"""Each worker has a core of its own, and what it starts for its bots stays there."""

import json
import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from api.client import Client


def descendants(pid: int) -> Iterator[int]:
    with suppress(OSError):  # it may have ended meanwhile
        for thread in os.listdir(f"/proc/{pid}/task"):
            for child in Path(f"/proc/{pid}/task/{thread}/children").read_text().split():
                yield int(child)
                yield from descendants(int(child))


def cores_of(pids: list[int]) -> Iterator[tuple[int, ...]]:
    """The cores of those that live."""
    for pid in pids:
        with suppress(ProcessLookupError):
            yield tuple(os.sched_getaffinity(pid))


def workers(anyone: Client) -> list[dict[str, Any]]:
    with urlopen(f"{anyone.url}/readyz") as answer:
        return json.load(answer)["workers"]


def playing(anyone: Client, count: int) -> list[int]:
    """The processes of that many workers, whose names say them; one that has just died is still told of."""
    until = time.monotonic() + 30
    while True:
        there = [int(worker["name"].rpartition("-")[2]) for worker in workers(anyone)]
        if len(alive := [pid for pid in there if Path(f"/proc/{pid}").exists()]) >= count:
            return alive
        assert time.monotonic() < until, there
        time.sleep(0.2)


def test_workers_and_their_bots_are_pinned_one_to_a_core(anyone: Client, author: Client) -> None:
    house = [bot["id"] for bot in anyone.bots(owner="house")][:2]
    cup = author.create_tournament(name="cup", entrants=house, players=2, deals=2)
    author.wait_over(cup["id"], seconds=60)  # now every worker has had bots
    pids = playing(anyone, 2)
    cores = [os.sched_getaffinity(pid) for pid in pids]
    assert all(len(core) == 1 for core in cores)
    assert len(set.union(*cores)) == min(2, len(os.sched_getaffinity(0)))
    below = {pid: list(descendants(pid)) for pid in pids}
    found = [set(cores_of(below[pid])) for pid in pids]
    assert any(found)
    for here, core in zip(found, cores, strict=True):
        assert here <= {tuple(core)}
