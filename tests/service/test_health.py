"""Whether the service can serve, and who is there."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from sqlalchemy import Connection, func, select, text, update

from loadtests import singly
from service import health, presence, progress, reap, tables, tournaments
from service.errors import Unavailable
from service.jobs import CHECK, PLAY, InlineQueue, Job
from service.settings import Settings
from service.work import Arena

KEDA = Path(__file__).parents[2] / "k8s/components/keda/scaled-object.yaml"


class Deaf(InlineQueue):
    """A broker that cannot be reached."""

    def depth(self, name: str) -> int:
        raise ConnectionError("the broker cannot be reached: nobody listens")


def test_without_workers_it_is_not_ready(arena: Arena) -> None:
    told = health.ready(arena)
    assert (told.ok, told.database, told.broker) == (False, "ok", "ok")
    assert "no worker has been seen" in told.trouble[0]


def test_with_a_worker_that_can_run_bots_it_is_ready(arena: Arena, clock: Any) -> None:
    presence.here(arena, "w1", "A", {})
    assert health.ready(arena).ok
    clock.turn(presence.SILENT.total_seconds() + 1)
    assert not health.ready(arena).ok


def test_a_worker_that_cannot_run_bots_says_why(arena: Arena) -> None:
    presence.here(arena, "w1", None, {"error": "install bubblewrap"})
    told = health.ready(arena)
    assert not told.ok
    assert "w1 cannot run bots: install bubblewrap" in told.trouble


def test_a_worker_that_says_goodbye_is_gone_and_one_silent_for_long_forgotten(
    arena: Arena, clock: Any
) -> None:
    for name in ("w1", "w2"):
        presence.here(arena, name, "A", {})
    presence.gone(arena, "w1")
    with arena.read() as db:
        assert [each.name for each in presence.workers(db, clock.now)] == ["w2"]
    clock.turn(presence.FORGOTTEN.total_seconds() + 1)
    reap.reap(arena)
    presence.here(arena, "w3", "A", {})
    with arena.read() as db:
        assert [each.name for each in presence.workers(db, clock.now)] == ["w3"]


def test_a_broker_that_is_away_is_named_and_the_reaper_lives_on(arena: Arena) -> None:
    deaf = Arena(arena.settings, arena.database, Deaf(), arena.clock)
    assert health.ready(deaf).broker == "away"
    assert reap.reap(deaf).bells == 0


def test_a_database_that_is_away_is_named(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/no/such/folder/rage.sqlite3"
    settings = Settings.from_environment({"RAGE_DATA_DIR": str(tmp_path), "RAGE_DATABASE_URL": url})
    told = health.ready(Arena.open(settings, InlineQueue()))
    assert (told.ok, told.database) == (False, "away")


def test_metrics_count_what_waits(arena: Arena) -> None:
    for job in (Job(CHECK, ("a",)), Job(PLAY, (1,)), Job(PLAY, (2,))):
        arena.queue.send(job)
    told = health.metrics(arena)
    assert told['rage_queue_depth{queue="matches"}'] == 2
    assert told['rage_queue_depth{queue="checks"}'] == 1


def test_metrics_tell_a_sick_worker_from_the_others(
    arena: Arena, author: Any, ready_bots: Any, finish: Any
) -> None:
    tournaments.create(arena, author, {"name": "Cup", "players": 2, "deals": 1, "entrants": ready_bots(2)})
    presence.here(arena, "lame-1", None, {"error": "no sandbox"})
    held = singly.claim(arena, "pod-7f-x2-birth-0-99")
    assert held is not None
    finish(arena, held)
    with arena.work() as work:
        work.db.execute(update(tables.match).where(tables.match.c.status == "done").values(faults=3))
    told = health.metrics(arena)
    assert told['rage_matches_lately{worker="pod-7f-x2"}'] == 1
    assert told['rage_faults_lately{worker="pod-7f-x2"}'] == 3
    assert (told["rage_workers"], told["rage_workers_unfit"]) == (1, 1)


def test_metrics_are_of_one_moment_whatever_is_played_meanwhile(
    arena: Arena, author: Any, ready_bots: Any, finish: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = {"name": "Cup", "players": 2, "deals": 2, "entrants": ready_bots(3)}
    total = tournaments.create(arena, author, spec).progress.total
    held, real = singly.claim(arena, "w"), progress.in_all

    def slowly(db: Connection) -> progress.Done:
        so_far = real(db)
        finish(arena, held)
        return so_far

    monkeypatch.setattr(progress, "in_all", slowly)
    told = health.metrics(arena)
    matches = {name: n for name, n in told.items() if name.startswith("rage_matches{")}
    assert matches == {'rage_matches{status="leased"}': 1, 'rage_matches{status="planned"}': total - 1}


def test_metrics_tell_since_when_nobody_has_watched(arena: Arena, clock: Any) -> None:
    reap.reap(arena)
    clock.turn(90)
    assert health.metrics(arena)["rage_watch_age_seconds"] == 90


def test_a_database_that_was_never_made_is_refused(tmp_path: Path) -> None:
    settings = Settings.from_environment({"RAGE_DATA_DIR": str(tmp_path)})
    never = Arena.open(settings, InlineQueue())
    assert "no schema yet" in (health.refusing(never) or "")
    assert "no schema yet" in health.ready(never).trouble[0]


def test_a_table_that_is_not_there_means_that_nobody_migrated(arena: Arena) -> None:
    with pytest.raises(Unavailable, match="no schema yet"), arena.read() as db:
        db.execute(text("SELECT * FROM nowhere"))


def test_a_database_of_the_right_schema_will_do(arena: Arena) -> None:
    assert health.refusing(arena) is None


def asked(db: Connection, name: str) -> int:
    """What the cluster's autoscaler is told by the query of that name."""
    (scaled, _) = yaml.safe_load_all(KEDA.read_text())
    (query,) = (each["metadata"]["query"] for each in scaled["spec"]["triggers"] if each["name"] == name)
    return int(db.scalar(text(query)))


def backlog(arena: Arena) -> int:
    with arena.read() as db:
        return asked(db, "backlog")


def age(arena: Arena) -> int:
    """By the database's clock, which stands still in a transaction; the figures say the same."""
    with arena.read() as db:
        now = db.scalar(select(func.now()))
        told, figures = asked(db, "age"), health._ages(db, now)
        oldest = max(figures["rage_queue_age_seconds"], figures["rage_oldest_check_seconds"])
        assert told == min(round(oldest), 300)
        return told


def test_the_clusters_autoscaler_counts_what_is_to_do(
    arena: Arena, author: Any, ready_bots: Any, finish: Any, submitted: Any
) -> None:
    assert backlog(arena) == 0
    spec = {"name": "Cup", "players": 2, "deals": 2, "entrants": ready_bots(3)}
    made = tournaments.create(arena, author, spec)
    total = made.progress.total
    assert backlog(arena) == total
    held = singly.claim(arena, "w")
    assert held is not None
    assert backlog(arena) == total, "what is being played keeps its worker"
    finish(arena, held)
    assert backlog(arena) == total - 1
    submitted()
    assert backlog(arena) == total, "a check is a match too"


@pytest.mark.parametrize("kind", ["postgres"])
def test_the_clusters_autoscaler_is_told_how_long_the_oldest_work_has_waited(
    arena: Arena, author: Any, ready_bots: Any, submitted: Any, clock: Any
) -> None:
    def ago(seconds: float) -> None:
        clock.now = datetime.now(UTC) - timedelta(seconds=seconds)

    assert age(arena) == 0
    entrants = ready_bots(2)
    ago(100)
    tournaments.create(arena, author, {"name": "Cup", "players": 2, "deals": 1, "entrants": entrants})
    assert age(arena) >= 100
    ago(200)
    submitted()
    assert age(arena) >= 200
    ago(5000)
    submitted()
    assert age(arena) == 300, "what nobody can do asks for no more than this"
    with arena.work() as work:
        work.db.execute(update(tables.version).values(status="ready"))
    ago(-5000)  # by a clock that is ahead
    while singly.claim(arena, "w"):
        assert age(arena) == 0
    ago(100)
    assert age(arena) == 0, "all is taken"
