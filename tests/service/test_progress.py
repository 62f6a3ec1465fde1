"""How far tournaments are: the numbers kept are those of the matches, whatever happens to them."""

import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest
from sqlalchemy import delete, insert, select, update

from loadtests import singly
from service import health, leases, leaving, progress, rerate, tournaments
from service.accounts import Account
from service.errors import Conflict, Unavailable
from service.leases import Assignment
from service.tables import fault, match, tournament
from service.work import Arena

Finish = Callable[..., tuple[bool, Assignment | None]]
SMALL = {"preset": "fundex", "hand_sizes": [1]}


def off(arena: Arena) -> list[str]:
    """Tournaments whose numbers are not those of their matches."""
    with arena.read() as db:
        ids = db.scalars(select(tournament.c.id)).all()
        kept = progress.of_tournaments(db, ids)
        assert progress.faults_by_kind(db) == progress.recounted_faults(db)
        return [each for each in ids if kept[each] != progress.recounted(db, each)]


@pytest.mark.parametrize("seed", range(4))
def test_whatever_happens_to_matches_what_is_kept_is_what_a_count_gives(
    arena: Arena,
    author: Account,
    ready_bots: Callable[[int], list[str]],
    finish: Finish,
    pass_time: Callable[[float], int],
    seed: int,
) -> None:
    dice, bots = random.Random(seed), ready_bots(5)
    held: list[Assignment] = []

    def make() -> None:
        form = dice.choice(["round_robin", "ladder", "swiss"])
        told = {"name": "Cup", "entrants": bots[: dice.choice([3, 5])], "players": 2, "format": form}
        made.append(tournaments.create(arena, author, {**told, "rules": SMALL, "deals": 1}).id)

    def claim() -> None:
        held.extend(filter(None, [singly.claim(arena, f"host-0-{len(held)}-1")]))

    def give_in() -> None:
        if held:
            finish(arena, held.pop(dice.randrange(len(held))))  # now and then too late

    def hand_back() -> None:
        if held:
            leases.give_back(arena, held.pop(), "no luck", suspicion=dice.choice([0, 3, 9]))

    def interfere() -> None:
        verb = dice.choice([tournaments.cancel, tournaments.stop, tournaments.pause, tournaments.resume])
        with suppress(Conflict):  # not what can be done to it now
            verb(arena, author, dice.choice(made))

    def leave() -> None:
        with suppress(Conflict):
            leaving.withdraw(arena, author, dice.choice(made), dice.choice(bots[:3]))

    made: list[str] = []
    make()
    claim()
    give_in()
    acts = [claim, claim, claim, give_in, give_in, hand_back, interfere, leave, make]
    for _ in range(40):
        dice.choice(acts)()
    assert off(arena) == []
    pass_time(arena.settings.lease_seconds)
    assert off(arena) == []
    with arena.read() as db:
        total = progress.in_all(db)
    assert total.done > 0
    assert health.metrics(arena)['rage_matches{status="done"}'] == total.done


def test_those_who_finish_at_once_all_count(
    arena: Arena, author: Account, ready_bots: Callable[[int], list[str]], finish: Finish
) -> None:
    told = {"name": "Cup", "entrants": ready_bots(2), "players": 2, "rules": SMALL, "deals": 8}
    cup = tournaments.create(arena, author, told).id
    claimed = [singly.claim(arena, f"w-{n}") for n in range(16)]
    with ThreadPoolExecutor(8) as crowd:
        assert all(taken for taken, _ in crowd.map(lambda each: finish(arena, each), claimed))
    assert tournaments.tournament(arena, cup).progress.played == 16
    assert off(arena) == []


@pytest.mark.parametrize("kind", ["postgres"])
def test_faults_are_counted_anew_only_when_all_have_added_theirs(arena: Arena) -> None:
    """Else one that is committed between the old count's end and the new one is counted by both."""
    hasty = Arena.open(arena.settings, arena.queue, arena.clock, patience=0.02)
    with arena.work() as adding:
        progress._add(adding.db, progress.fault_count, {"kind": "crash", "slot": 3}, {"n": 1})
        with pytest.raises(Unavailable), hasty.work() as counting:
            progress.put_faults(counting.db)
    hasty.close()
    with arena.work() as work:
        progress.put_faults(work.db)
        assert progress.faults_by_kind(work.db) == {} == progress.recounted_faults(work.db)


def test_a_tournament_that_is_over_has_one_row(
    arena: Arena, author: Account, ready_bots: Callable[[int], list[str]], play_all: Callable[[Arena], int]
) -> None:
    told = {"name": "Cup", "entrants": ready_bots(3), "players": 2, "rules": SMALL, "deals": 3}
    cup = tournaments.create(arena, author, told).id
    assert play_all(arena) == 18
    with arena.read() as db:
        rows = db.execute(select(progress.rows)).all()
    assert [(row.tournament_id, row.slot, row.done) for row in rows] == [(cup, 0, 18)]


def test_what_an_older_program_did_not_add_is_made_up_for_at_the_end(
    arena: Arena, author: Account, ready_bots: Callable[[int], list[str]], finish: Finish
) -> None:
    told = {"name": "Cup", "entrants": ready_bots(2), "players": 2, "rules": SMALL, "deals": 2}
    cup = tournaments.create(arena, author, told).id
    held = singly.claim(arena, "w")
    while held is not None:
        with arena.work() as work:  # as if whoever gave in the one before did not know of these rows
            work.db.execute(delete(progress.rows))
        _, held = finish(arena, held, more=True)
        if held is not None and held.number == 1:
            of_it = {"tournament_id": cup, "number": 0, "version_id": held.versions[0], "seat": 0}
            crash = {"ordinal": 0, "kind": "crash", "round": 1, "trick": 1, "decision": 1, "out": True}
            with arena.work() as work:
                work.db.execute(insert(fault).values(**of_it, **crash, asked="play", text="", evidence={}))
                work.db.execute(update(match).where(match.c.number == 0).values(faults=1))
    over = tournaments.tournament(arena, cup)
    assert (over.status, over.progress.played, over.progress.total) == ("finished", 4, 4)
    with arena.read() as db:
        assert progress.of_tournaments(db, [cup])[cup] == progress.recounted(db, cup)
        assert progress.faults_by_kind(db) == {"crash": 1}


def test_a_count_that_is_wrong_is_found(
    arena: Arena, author: Account, ready_bots: Callable[[int], list[str]], play_all: Callable[[Arena], int]
) -> None:
    told = {"name": "Cup", "entrants": ready_bots(2), "players": 2, "rules": SMALL, "deals": 2}
    cup = tournaments.create(arena, author, told).id
    play_all(arena)
    assert rerate.rerate(arena).wrong == []
    with arena.work() as work:
        work.steps.note(cup, done=1)
        work.steps.note_faults(0, ["crash"])
    found = rerate.rerate(arena)
    assert len(found.wrong) == 2 and cup in found.wrong[0] and "faults" in found.wrong[1]
    rerate.repair(arena, found)
    assert off(arena) == []
