"""Nobody starves: a small tournament and a check begin at once beside a very large one."""

import random
import subprocess
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert, update

from loadtests import singly
from service import accounts, bots, health, incidents, reap, schema, tables, tournaments, trials
from service.accounts import Account
from service.errors import TooMany, Unavailable
from service.jobs import CHECK, PLAY, QUEUES, InlineQueue, celery_settings
from service.settings import Settings
from service.work import Arena

Clock = Any  # the one of conftest.py
SMALL = {"preset": "fundex", "hand_sizes": [1]}
CODE = b"def bid(view):\n    return 0\n"


def spec(entrants: list[str], deals: int) -> dict[str, Any]:
    return {"name": "Cup", "entrants": entrants, "players": 2, "deals": deals, "rules": SMALL}


@pytest.fixture
def cup(arena: Arena, author: Account, ready_bots: Callable[[int], list[str]]) -> str:
    """A running tournament of ten matches."""
    return tournaments.create(arena, author, spec(ready_bots(2), 5)).id


@pytest.fixture
def large(arena: Arena, author: Account, ready_bots: Callable[[int], list[str]]) -> str:
    """A running tournament with very many matches planned."""
    made = tournaments.create(arena, author, spec(ready_bots(2), 1)).id
    with arena.work() as work:
        rows = [
            {"tournament_id": made, "number": n, "deal_group": n // 2, "rotation": n % 2,
             "entrants": [0, 1], "status": "planned"}
            for n in range(2, 20_000)
        ]  # fmt: skip
        work.db.execute(insert(tables.match), rows)
    return made


def test_a_small_tournament_of_another_is_served_every_other_time(
    arena: Arena, large: str, clock: Clock, finish: Callable[..., Any]
) -> None:
    held = singly.claim(arena, "w")
    other, _ = accounts.register(arena, name="Bob")
    theirs = [bots.submit(arena, other, name=f"b{n}", filename="b.py", content=CODE).id for n in range(2)]
    with arena.work() as work:
        work.db.execute(update(tables.version).values(status="ready"))
    small = tournaments.create(arena, other, spec(theirs, 5)).id
    served = []
    while tournaments.tournament(arena, small).status != "finished":
        clock.turn(0.5)
        assert held is not None
        _, held = finish(arena, held, more=True)
        served.append(held.tournament_id if held else None)
    assert served.index(small) <= 1
    assert len(served) <= 21, "ten matches, and as many of the large one between them"


def test_checks_do_not_stand_in_the_queue_of_matches(arena: Arena) -> None:
    assert QUEUES[CHECK] != QUEUES[PLAY]
    assert sorted(QUEUES.values())[0] == QUEUES[CHECK], "workers look into the queues in this order"
    options = celery_settings(arena.settings)["broker_transport_options"]
    assert options["queue_order_strategy"] == "sorted"


def test_one_reaper_works_at_a_time_and_the_lock_of_a_dead_one_is_free(arena: Arena, cup: str) -> None:
    assert singly.claim(arena, "w") is not None
    inside, go_on = threading.Event(), threading.Event()

    class Slow(InlineQueue):
        def depth(self, name: str) -> int:
            inside.set()
            assert go_on.wait(30)
            return super().depth(name)

    slow = replace(arena, queue=Slow())
    if arena.database.dialect.name == "postgresql":
        with ThreadPoolExecutor() as pool:
            first = pool.submit(reap.reap, slow)
            assert inside.wait(30)
            assert reap.reap(arena) == reap.Reaped(0, 0, 0, 0, 0)
            go_on.set()
            assert first.result().bells > 0
    with ThreadPoolExecutor() as pool:
        found = [each.result() for each in [pool.submit(reap.reap, arena) for _ in range(6)]]
    assert all(each.returned == 0 for each in found)
    assert reap.reap(arena).returned == 0


@pytest.mark.parametrize("attempt", range(3))
def test_two_workers_never_check_two_bots_of_one_owner_at_once(
    arena: Arena, author: Account, attempt: int
) -> None:
    made = [bots.submit(arena, author, name=f"b{n}", filename="b.py", content=CODE).id for n in range(6)]
    random.Random(attempt).shuffle(made)
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda one: trials.claim(arena, f"{one}:1", "w"), made))
    assert sum(each is not None for each in found) == 1


def test_uploads_at_once_do_not_slip_past_the_quota(arena: Arena, author: Account) -> None:
    strict = replace(arena, settings=replace(arena.settings, uploads_per_hour=4))
    made = bots.submit(strict, author, name="b", filename="b.py", content=CODE).id

    def upload(_: int) -> bool:
        try:
            bots.add_version(strict, author, made, filename="b.py", content=CODE)
        except TooMany:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(upload, range(8))) == 3


def test_figures_for_an_operator(
    arena: Arena, cup: str, clock: Clock, finish: Callable[..., Any], pass_time: Callable[[float], int]
) -> None:
    slow = singly.claim(arena, "slow")
    pass_time(arena.settings.lease_seconds)
    finish(arena, slow)
    held = singly.claim(arena, "w")
    assert held is not None
    clock.turn(7)
    told = health.metrics(arena)
    assert told["rage_oldest_lease_seconds"] == 7
    assert told["rage_queue_age_seconds"] == 7
    assert told["rage_match_attempts"] == 2
    assert told['rage_incidents{kind="late_result_refused"}'] == 1
    assert told['rage_incidents{kind="lease_expired"}'] == 1
    assert told['rage_incidents{kind="match_failed"}'] == 0
    assert told['rage_matches{status="leased"}'] == 1
    assert (told["rage_decisions"], told["rage_decisions_per_second"]) == (0, 0)
    with arena.work() as work:
        key = tables.match.c.number == held.number
        work.db.execute(update(tables.match).where(key).values(decisions=120, finished_at=work.now))
        work.steps.note(cup, held.number, decisions=120)
    told = health.metrics(arena)
    assert (told["rage_decisions"], told["rage_decisions_per_second"]) == (120, 2)
    clock.turn(61)
    assert health.metrics(arena)["rage_decisions_per_second"] == 0


def test_it_is_not_ready_when_nobody_looks_for_lost_work(arena: Arena, clock: Clock) -> None:
    reap.reap(arena)
    clock.turn(120)
    assert "beat and desk" in " ".join(health.ready(arena).trouble)
    reap.reap(arena)
    assert "beat and desk" not in " ".join(health.ready(arena).trouble)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of eight megabytes."""
    place = tmp_path / "small"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(place)]
    if subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("no file system can be mounted here")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def test_on_a_full_disk_nothing_is_lost_and_it_is_said_clearly(small_disk: Path) -> None:
    settings = Settings.from_environment({"RAGE_DATA_DIR": str(small_disk)})
    schema.migrate(settings)
    arena = Arena.open(settings, InlineQueue(), patience=0.5)
    owner, _ = accounts.register(arena, name="Ada")
    made = bots.submit(arena, owner, name="first", filename="b.py", content=CODE)
    ballast = small_disk / "ballast"
    with pytest.raises(OSError), ballast.open("wb") as file:
        while True:
            file.write(bytes(4096))
            file.flush()
    with pytest.raises(Unavailable, match="the disk under the database is full"):
        for number in range(2000):
            code = random.Random(number).randbytes(3000).hex().encode()
            bots.submit(arena, owner, name=f"b{number}", filename="b.py", content=b"# " + code)
    assert bots.bot(arena, owner, made.id).name == "first"
    ballast.unlink()
    bots.submit(arena, owner, name="last", filename="b.py", content=CODE)
    with arena.read() as db:
        assert db.exec_driver_sql("PRAGMA integrity_check").scalar() == "ok"
    arena.close()


def test_incidents_are_kept_for_a_month(arena: Arena, clock: Clock) -> None:
    with arena.work() as work:
        incidents.note(work, incidents.LATE, "t_x-1", worker="w", text="attempt 1")
    clock.turn(29 * 86400)
    reap.reap(arena)
    with arena.read() as db:
        assert incidents.counts(db)[incidents.LATE] == 1
    clock.turn(2 * 86400)
    reap.reap(arena)
    with arena.read() as db:
        assert incidents.counts(db)[incidents.LATE] == 0
        assert incidents.newest(db, incidents.LATE, 5) == []
