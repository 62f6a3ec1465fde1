"""However much is planned, it is written in parts, and what is played is the same as if it were at once."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest
from sqlalchemy import event, select, update
from sqlalchemy.exc import IntegrityError

from loadtests import singly
from service import (
    comparisons,
    folds,
    games,
    house,
    leaving,
    parts,
    progress,
    reap,
    rerate,
    stages,
    tables,
    tournaments,
)
from service.accounts import Account
from service.leases import Assignment
from service.work import Arena

Ready = Callable[[int], list[str]]
Finish = Callable[..., tuple[bool, Assignment | None]]
PlayAll = Callable[[Arena], int]
TINY = {"preset": "fundex", "hand_sizes": [1]}
EVERY = {  # kind: bots, and what is asked for
    "comparison": (4, {"players": 3, "cap": 30, "elo0": -5, "elo1": 5, "alpha": 0.001, "beta": 0.001}),
    "round_robin": (6, {"players": 3}),
    "one table": (2, {"players": 4, "deals": 5, "meetings": 2}),
    "gauntlet": (5, {"players": 3, "deals": 3}),
    "swiss": (7, {"players": 3, "deals": 3, "stages": 2, "duplicate": False}),
    "knockout": (5, {"players": 3, "deals": 5}),
}


class Dead(Exception):
    """What a writer dies of in these tests."""


@contextmanager
def dying(arena: Arena) -> Iterator[None]:
    """Who writes dies just before the commit, so that nothing of it is there."""

    def die(_connection: Any) -> None:
        raise Dead

    event.listen(arena.database, "commit", die)
    with suppress(Dead):
        yield
    event.remove(arena.database, "commit", die)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of a few matches."""
    monkeypatch.setattr(parts, "PART", 4)
    monkeypatch.setattr(parts, "AHEAD", 3)


def make(arena: Arena, author: Account, kind: str, ids: list[str]) -> str:
    """One of these, all with the same dice."""
    told: dict[str, Any] = {"rules": TINY, "seed": "x", **EVERY[kind][1]}
    if kind == "comparison":
        made = comparisons.create(arena, author, {"a": ids[0], "b": ids[1], "field": ids[2:], **told}).id
    else:
        form = kind if kind in stages.FORMATS else "round_robin"
        more = {"challenger": ids[0]} if kind == "gauntlet" else {}
        made = tournaments.create(
            arena, author, {"name": "Cup", "format": form, "entrants": ids, **told, **more}
        ).id
    with arena.work() as work:
        this = tables.tournament.c.id == made
        work.db.execute(update(tables.tournament).where(this).values(secret=b"secret" * 4))
    return made


def written(arena: Arena, tournament_id: str) -> list[Any]:
    """Its matches, as they were planned, and what became of them."""
    names = ("number", "deal_group", "rotation", "stage", "entrants", "rated", "status")
    query = select(*(tables.match.c[name] for name in names)).order_by(tables.match.c.number)
    with arena.read() as db:
        return list(map(tuple, db.execute(query.where(tables.match.c.tournament_id == tournament_id))))


def row(arena: Arena, tournament_id: str) -> Any:
    with arena.read() as db:
        return db.execute(select(tables.tournament).where(tables.tournament.c.id == tournament_id)).one()


def fail_all(arena: Arena) -> bool:
    """As if none of what waits could be played; whether anything waited."""
    waits = tables.match.c.status == "planned"
    with arena.work() as work:
        return bool(work.db.execute(update(tables.match).where(waits).values(status="failed")).rowcount)


@pytest.fixture
def ids(arena: Arena, ready_bots: Ready) -> Callable[[str], list[str]]:
    """Bots for one of these, and ours for empty seats."""
    house.ensure(arena)
    return lambda kind: ready_bots(EVERY[kind][0])


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("kind_of", EVERY)
def test_in_parts_it_is_what_it_is_at_once_whoever_dies_over_it(
    arena: Arena,
    author: Account,
    ids: Callable[[str], list[str]],
    monkeypatch: pytest.MonkeyPatch,
    kind_of: str,
) -> None:
    who = ids(kind_of)
    with monkeypatch.context() as patch:
        patch.setattr(parts, "PART", 1_000)
        whole = make(arena, author, kind_of, who)
        while fail_all(arena):
            stages.advance(arena, whole)
    made, seen = make(arena, author, kind_of, who), list[int]()
    while fail_all(arena):
        seen.append(len(written(arena, made)))
        with dying(arena):
            stages.advance(arena, made)
        assert (len(written(arena, made)), row(arena, made).status) == (seen[-1], "running")
        assert stages.advance(arena, made)
    assert written(arena, made) == written(arena, whole)
    assert len(seen) > 2, "there were parts"
    now = row(arena, made)
    assert (now.status, now.groups, now.total) == ("finished", now.planned, seen[-1])


@pytest.mark.usefixtures("small")
def test_a_stage_is_played_to_the_end_of_its_last_part_before_the_next(
    arena: Arena,
    author: Account,
    ids: Callable[[str], list[str]],
    play_all: PlayAll,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    who = ids("swiss")
    with monkeypatch.context() as patch:
        patch.setattr(parts, "PART", 1_000)
        whole = make(arena, author, "swiss", who)
        assert play_all(arena) == row(arena, whole).written
    made = make(arena, author, "swiss", who)
    assert len(written(arena, made)) == parts.PART
    assert play_all(arena) == row(arena, whole).written
    assert written(arena, made) == written(arena, whole)
    assert folds.crosstable_of(arena, made) == folds.crosstable_of(arena, whole)
    assert rerate.rerate(arena).wrong == []


@pytest.mark.usefixtures("small")
def test_who_dies_over_the_first_part_has_begun_nothing(
    arena: Arena, author: Account, ids: Callable[[str], list[str]]
) -> None:
    who = ids("comparison")
    with dying(arena):
        make(arena, author, "comparison", who)
    with arena.read() as db:
        assert not any(
            db.execute(select(each)).first() for each in (tables.tournament, tables.match, tables.stage)
        )
    assert len(written(arena, make(arena, author, "comparison", who))) == 4


@pytest.mark.usefixtures("small")
def test_a_part_is_written_once_however_many_ask_for_it(
    arena: Arena, author: Account, ids: Callable[[str], list[str]]
) -> None:
    made = make(arena, author, "comparison", ids("comparison"))
    assert fail_all(arena)
    gate = threading.Barrier(6)

    def ask() -> None:
        gate.wait()
        stages.advance(arena, made)

    askers = [threading.Thread(target=ask) for _ in range(6)]
    for each in askers:
        each.start()
    for each in askers:
        each.join()
    assert [each[0] for each in written(arena, made)] == list(range(8))


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("kind_of", ["round_robin", "swiss", "gauntlet"])
def test_who_leaves_is_not_played_with_in_parts_that_are_written_later(
    arena: Arena, author: Account, ids: Callable[[str], list[str]], play_all: PlayAll, kind_of: str
) -> None:
    made = make(arena, author, kind_of, ids(kind_of))
    gone, before = tournaments.tournament(arena, made).entrants[1], len(written(arena, made))
    assert before < row(arena, made).total
    leaving.withdraw(arena, author, made, gone.bot_id)
    play_all(arena)
    while reap.reap(arena).advanced:
        play_all(arena)
    told = written(arena, made)
    assert row(arena, made).status == "finished" and len(told) > before
    assert {each[-1] for each in told if gone.number in each[4]} == {"void"}
    assert {each[-1] for each in told if gone.number not in each[4]} == {"done"}
    with arena.read() as db:
        assert progress.of_tournaments(db, [made])[made] == progress.recounted(db, made)


@pytest.mark.usefixtures("small")
def test_a_ladder_that_is_stopped_writes_no_further_part(
    arena: Arena, author: Account, ids: Callable[[str], list[str]], finish: Finish, play_all: PlayAll
) -> None:
    told = {
        "name": "Cup",
        "format": "ladder",
        "entrants": ids("gauntlet"),
        "players": 2,
        "deals": 6,
        "rules": TINY,
    }
    made = tournaments.create(arena, author, told).id
    held = singly.claim(arena, "w")
    assert held is not None and row(arena, made).groups < row(arena, made).planned
    tournaments.stop(arena, author, made)
    finish(arena, held)
    play_all(arena)
    now = row(arena, made)
    assert (now.status, now.groups, now.total) == ("finished", now.planned, len(written(arena, made)))
    assert [each[-1] for each in written(arena, made)] == ["done", "done", "void", "void"]


def older_advance(arena: Arena, tournament_id: str) -> None:
    """What a program from before parts does when it is time: its conditions, and what it then writes."""
    of_it, its_stages = tables.match.c.tournament_id == tournament_id, tables.stage.c.tournament_id
    still_open = select(tables.match.c.number).where(of_it, tables.match.c.status.in_(stages.OPEN))
    with arena.work() as work:
        now = work.db.execute(stages.locked(tournament_id)).one()
        assert now.status in stages.LIVE and not work.db.execute(still_open).first(), "it takes that for due"
        after: dict[str, Any] = {"status": "finished", "more": False, "total": now.written}
        if now.more:
            last = work.db.execute(select(tables.stage).where(its_stages == now.id)).all()[-1]
            told = {**last._mapping, "number": now.stage + 1, "first_group": now.groups}
            work.db.execute(tables.stage.insert().values(told))
            after = {"stage": now.stage + 1, "groups": now.groups + len(last.tables)}
        this = tables.tournament.c.id == tournament_id
        work.db.execute(update(tables.tournament).where(this).values(after))


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("kind_of", ["comparison", "one table", "gauntlet", "swiss"])
def test_an_older_program_ends_nothing_and_plans_nothing_on_that_is_half_written(
    arena: Arena, author: Account, ids: Callable[[str], list[str]], kind_of: str
) -> None:
    made, refused = make(arena, author, kind_of, ids(kind_of)), 0
    while fail_all(arena):
        before = row(arena, made), written(arena, made)
        if parts.left(before[0]):
            with pytest.raises(IntegrityError, match="not written whole"):
                older_advance(arena, made)
            refused += 1
            assert (row(arena, made), written(arena, made)) == before
        assert stages.advance(arena, made)
    now = row(arena, made)
    assert refused and (now.status, now.total) == ("finished", len(written(arena, made)))


def test_an_older_program_goes_on_with_what_is_written_whole(
    arena: Arena, author: Account, ids: Callable[[str], list[str]]
) -> None:
    made = make(arena, author, "swiss", ids("swiss"))
    for status, stage in (("running", 2), ("finished", 2)):
        fail_all(arena)
        older_advance(arena, made)
        assert (row(arena, made).status, row(arena, made).stage) == (status, stage)
        with arena.work() as work:
            work.db.execute(update(tables.tournament).values(more=False))


@pytest.mark.usefixtures("small")
def test_no_further_part_is_written_of_a_ladder_that_an_older_program_stopped(
    arena: Arena, author: Account, ids: Callable[[str], list[str]]
) -> None:
    told = {"name": "Cup", "format": "ladder", "entrants": ids("gauntlet"), "players": 2, "deals": 6}
    made = tournaments.create(arena, author, {**told, "rules": TINY}).id
    with arena.work() as work:
        work.db.execute(update(tables.tournament).values(more=False))
        stages.void(work, made)
    assert row(arena, made).groups < row(arena, made).planned
    before = written(arena, made)
    assert stages.advance(arena, made)
    assert (row(arena, made).status, written(arena, made)) == ("finished", before)


@pytest.mark.usefixtures("small")
def test_no_deal_is_taken_for_played_because_it_is_not_written(
    arena: Arena, author: Account, ids: Callable[[str], list[str]], finish: Finish
) -> None:
    made, memory = make(arena, author, "comparison", ids("comparison")), games.Memory()
    read = list[int]()
    while row(arena, made).written < 12:
        for held in iter(lambda: singly.claim(arena, "w"), None):
            finish(arena, held)
            with arena.read() as db:
                read.append(len(games.of_comparison(db, made, memory)))
    assert [read[n] for n in (0, 1, 3, 7)] == [0, 1, 2, 4]


def test_a_part_is_of_whole_deals_and_never_much_too_large() -> None:
    assert parts.PART <= parts.AHEAD
    for games_of, many in (([], 0), ([4] * 10, 10), ([4] * 999, 999), ([4] * 1_000, 500), ([7] * 900, 286)):
        assert parts._many(games_of) == many
