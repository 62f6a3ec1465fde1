"""Comparisons on a real database: who sits where, when they end, whatever order matches finish in."""

import random
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

import pytest
from sqlalchemy import func, select, update

from engine.rules import RuleSet
from engine.table import LocalPlayer, play
from loadtests import singly
from service import accounts, comparisons, games, leases, matches, rankings, reap, refit, tables, tournaments
from service.accounts import Account
from service.contest import seats
from service.design import Dice
from service.errors import Forbidden, Invalid, NotFound
from service.leases import Assignment
from service.sheet import Spent
from service.work import Arena

Ready = Callable[[int], list[str]]
SMALL = {"preset": "fundex", "hand_sizes": [2, 1]}


def contest(ids: list[str], **changes: Any) -> dict[str, Any]:
    return {"a": ids[0], "b": ids[1], "rules": SMALL, "seed": "x", "elo1": 100, "cap": 40, **changes}


class Bidder:
    """Bids all tricks or none; of hands as small as these, all is better."""

    def __init__(self, bold: bool) -> None:
        self.bold = bold

    def bid(self, view: dict[str, Any]) -> int:
        return view["legal"][-1] if self.bold else 0

    def play(self, view: dict[str, Any]) -> str:
        return view["legal"][0]


def finish(arena: Arena, held: Assignment, *, a_is_better: bool = True) -> bool:
    players = [LocalPlayer.of(Bidder((who == 0) == a_is_better)) for who in held.entrants]
    outcome = play(RuleSet.parse(held.rules, len(players)), players, seed=held.seed)
    spent = [Spent(1, 2, 3)] * len(players)
    taken, _ = singly.finish_and_claim(arena, held, outcome, spent, mode="A", worker="w", more=False)
    return taken


def claimed(arena: Arena, most: int = 1000) -> list[Assignment]:
    held = (singly.claim(arena, "w") for _ in range(most))
    return [each for each in iter(lambda: next(held, None), None)]


def rows(arena: Arena) -> dict[str, int]:
    with arena.read() as db:
        counted = [(name, select(func.count()).select_from(t)) for name, t in tables.metadata.tables.items()]
        return {name: db.scalar(query) or 0 for name, query in counted}


def test_a_better_bot_is_found_and_the_rest_is_never_played(
    arena: Arena, author: Account, ready_bots: Ready
) -> None:
    made = comparisons.create(arena, author, contest(ready_bots(2)))
    assert (made.status, made.verdict, made.groups, made.cap) == ("running", None, 0, 40)
    for held in claimed(arena, 64):
        assert finish(arena, held)
    told = comparisons.find(arena, made.id)
    assert (told.status, told.verdict, told.played) == ("running", "accepted", 32)
    assert told.groups >= 30 and told.llr >= told.upper
    assert told.score is not None and told.score > 0.5
    assert told.points.value is not None and told.points.value > 0
    assert comparisons.decide(arena) == 1
    assert comparisons.decide(arena) == 0
    over = comparisons.find(arena, made.id)
    assert (over.status, over.verdict) == ("finished", "accepted")
    assert asdict(over) | {"status": "running", "finished_at": None} == asdict(told)
    listed = matches.matches(arena, made.id, limit=200).items
    states = {match.number: match.status for match in listed}
    assert listed[-1].trouble == "its comparison was decided by then"
    assert {states[number] for number in range(64)} == {"done"}
    assert {states[number] for number in range(64, 80)} == {"void"}
    assert singly.claim(arena, "w") is None


def test_the_order_of_finishing_changes_nothing(arena: Arena, author: Account, ready_bots: Ready) -> None:
    """At every moment the test has read the groups before the first that is not played, and no other."""
    made = comparisons.create(arena, author, contest(ready_bots(2), elo1=20, cap=36))
    held = claimed(arena)
    dice = random.Random(5)
    results = {each.number: dice.random() < 0.6 for each in held}
    dice.shuffle(held)
    seen, done = {}, set()
    for step, each in enumerate(held):
        assert finish(arena, each, a_is_better=results[each.number])
        done.add(each.number)
        if step % 12 == 0 or step > 68:
            told = comparisons.find(arena, made.id)
            whole = next((n for n in range(36) if not {2 * n, 2 * n + 1} <= done), 36)
            assert told.played == whole
            assert seen.setdefault(told.groups, told.llr) == told.llr
    assert comparisons.find(arena, made.id).played == 36
    again = comparisons.create(arena, author, contest([made.a.bot_id, made.b.bot_id], elo1=20, cap=36))
    with arena.work() as work:  # the same deals once more, finished in order
        secret = select(tables.tournament.c.secret).where(tables.tournament.c.id == made.id).scalar_subquery()
        work.db.execute(
            update(tables.tournament).where(tables.tournament.c.id == again.id).values(secret=secret)
        )
    for each in claimed(arena):
        assert finish(arena, each, a_is_better=results[each.number])
        told = comparisons.find(arena, again.id) if each.number in (59, 65, 71) else None
        if told is not None and told.groups in seen:
            assert told.llr == pytest.approx(seen[told.groups])
    first, second = comparisons.find(arena, made.id), comparisons.find(arena, again.id)
    assert (first.verdict, first.groups, first.llr, first.elo) == (
        second.verdict, second.groups, second.llr, second.elo,
    )  # fmt: skip


def test_at_the_cap_it_is_over_undecided(arena: Arena, author: Account, ready_bots: Ready) -> None:
    made = comparisons.create(
        arena, author, contest(ready_bots(2), elo0=-5, elo1=5, alpha=0.001, beta=0.001, cap=30)
    )
    for held in claimed(arena):
        finish(arena, held, a_is_better=held.number // 2 % 2 == 0)
    told = comparisons.find(arena, made.id)
    assert (told.status, told.verdict, told.groups) == ("finished", "undecided", 30)


def test_a_match_that_we_cannot_play_takes_its_deal_out_of_the_test(
    arena: Arena, author: Account, ready_bots: Ready
) -> None:
    made = comparisons.create(
        arena, author, contest(ready_bots(2), elo0=-5, elo1=5, alpha=0.001, beta=0.001, cap=30)
    )
    for _ in range(3):
        broken = singly.claim(arena, "w")
        assert broken is not None and broken.number == 0
        leases.give_back(arena, broken, "the machine caught fire")
    for held in claimed(arena):
        finish(arena, held, a_is_better=held.number // 2 % 2 == 0)
    told = comparisons.find(arena, made.id)
    assert (told.status, told.verdict, told.groups) == ("finished", "undecided", 29)


def test_it_is_not_rated_and_not_among_tournaments(arena: Arena, author: Account, ready_bots: Ready) -> None:
    made = comparisons.create(arena, author, contest(ready_bots(2), cap=30))
    for held in claimed(arena):
        finish(arena, held)
    reap.reap(arena)
    pool = RuleSet.parse(SMALL).key()
    refit.settle(arena, made.id)
    assert rankings.rankings(arena, rules=pool, players=2).items == []
    assert tournaments.tournaments(arena).items == []
    assert [each.id for each in comparisons.comparisons(arena).items] == [made.id]
    assert comparisons.find(arena, made.id).verdict == "accepted", "the reaper ended it"


def test_it_is_no_tournament_to_be_paused_or_cancelled(
    arena: Arena, author: Account, ready_bots: Ready
) -> None:
    made = comparisons.create(arena, author, contest(ready_bots(2)))
    for act in (tournaments.start, tournaments.pause, tournaments.resume, tournaments.cancel):
        with pytest.raises(NotFound):
            act(arena, author, made.id)
    assert comparisons.find(arena, made.id).status == "running"


def test_its_owner_can_stop_it(arena: Arena, author: Account, ready_bots: Ready) -> None:
    made = comparisons.create(arena, author, contest(ready_bots(2)))
    stranger, _ = accounts.register(arena, name="Bob")
    with pytest.raises(Forbidden):
        comparisons.cancel(arena, stranger, made.id)
    held = claimed(arena, 20)
    for each in held[2:]:
        finish(arena, each)
    told = comparisons.cancel(arena, author, made.id)
    assert (told.status, told.reason, told.verdict) == ("cancelled", "cancelled by Ada", None)
    assert (told.played, told.groups) == (0, 0), "the first deal never was played"
    assert not finish(arena, held[0])
    assert comparisons.cancel(arena, author, made.id).status == "cancelled"
    assert matches.match(arena, f"{made.id}-0").trouble == "its comparison was cancelled by Ada"
    for verb in (comparisons.find, lambda arena, it: comparisons.cancel(arena, author, it)):
        with pytest.raises(NotFound):
            verb(arena, "c_nothing")


@pytest.mark.parametrize(("players", "field"), [(2, 0), (4, 0), (6, 0), (3, 1), (4, 2), (4, 5)])
def test_a_and_b_exchange_their_seats_and_nothing_else_moves(players: int, field: int) -> None:
    dice, seen = Dice(b"comparison", b"x"), set()
    for _ in range(200):
        first, second = seats(players, field, dice)
        assert len(first) == players
        assert second == tuple({0: 1, 1: 0}.get(each, each) for each in first)
        assert first.count(0) == second.count(0) == (1 if field else players // 2)
        others = [each for each in first if each > 1]
        assert len(set(others)) == len(others) <= max(players - 2, 0)
        seen.add(first)
    if not field:
        assert seen == {tuple(seat % 2 for seat in range(players))}
    else:
        assert {each for order in seen for each in order} == set(range(2 + field))
        assert len({order.index(0) for order in seen}) == players


def test_both_matches_of_a_deal_have_the_same_cards(arena: Arena, author: Account, ready_bots: Ready) -> None:
    made = comparisons.create(
        arena, author, contest(ready_bots(3), players=3, field=[ready_bots_id(arena, 2)])
    )
    held = claimed(arena, 4)
    assert held[0].seed == held[1].seed != held[2].seed == held[3].seed
    assert [each.name for each in made.field] == ["bot 2"]
    for each in held:
        assert sorted(each.entrants) == [0, 1, 2]
        assert finish(arena, each)
    assert comparisons.find(arena, made.id).played == 2


def ready_bots_id(arena: Arena, number: int) -> str:
    with arena.read() as db:
        found = db.scalar(select(tables.bot.c.id).where(tables.bot.c.name == f"bot {number}"))
        assert found is not None
        return str(found)


def test_everything_wrong_is_named_and_nothing_written(
    arena: Arena, author: Account, ready_bots: Ready
) -> None:
    ids = ready_bots(3)
    before = rows(arena)
    wrong = [
        ({"a": "bot_x"}, {"a"}),
        ({"b": ids[0]}, {"b"}),
        ({"b": f"{ids[0]}:1"}, {"b"}),
        ({"b": f"{ids[1]}:7"}, {"b"}),
        ({"field": [ids[2]]}, {"field"}),
        ({"field": [ids[0]], "players": 3}, {"field.0"}),
        ({"field": [ids[2]], "players": 4}, {"field"}),
        ({"players": 5}, {"field"}),
        ({"players": 12, "cap": 3, "alpha": 0.9, "beta": True, "elo0": "x"},
         {"players", "cap", "alpha", "beta", "elo0"}),
        ({"elo0": 20, "elo1": 10}, {"elo1"}),
        ({"rules": {"preset": "amigo", "nonsense": 1}, "limits": {"x": 1}, "seed": ""},
         {"rules.nonsense", "limits.x", "seed"}),
    ]  # fmt: skip
    for changes, fields in wrong:
        with pytest.raises(Invalid) as refused:
            comparisons.create(arena, author, contest(ids, **changes))
        assert set(refused.value.errors) == fields, changes
    assert rows(arena) == before


def test_a_quota_counts_its_matches_too(arena: Arena, author: Account, ready_bots: Ready) -> None:
    ids = ready_bots(2)
    small = replace(arena, settings=replace(arena.settings, queued_matches=100))
    comparisons.create(small, author, contest(ids, cap=40))
    with pytest.raises(Invalid) as refused:
        comparisons.create(small, author, contest(ids, cap=40))
    assert set(refused.value.errors) == {"cap"}


def test_no_deal_is_read_twice_by_one_program(
    arena: Arena, author: Account, ready_bots: Ready, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = comparisons.create(arena, author, contest(ready_bots(2)))
    read: list[tuple[int, int]] = []
    real = games._between

    def between(db: Any, comparison_id: str, first: int, until: int) -> Any:
        read.append((first, until))
        return real(db, comparison_id, first, until)

    monkeypatch.setattr(games, "_between", between)
    for most in (4, 0, 5, 0):
        for held in claimed(arena, most):
            assert finish(arena, held)
        comparisons.decide(arena)
        told = comparisons.find(arena, made.id)
        assert told in comparisons.comparisons(arena).items
    assert read == [(0, 2), (2, 4)]
    with arena.read() as db:
        assert games.of_comparison(db, made.id) == games.of_comparison(db, made.id, games.Memory())


def test_what_is_remembered_is_bounded() -> None:
    memory = games.Memory(3)
    one, two = games._Read(2, ((1.0, 1.0),) * 2), games._Read(5, ((0.0, 1.0),) * 2)
    memory.keep("a", one)
    memory.keep("a", games._Read())  # what is older is dropped
    assert memory.recall("a") == one
    memory.keep("b", two)
    assert (memory.recall("a"), memory.recall("b")) == (games._Read(), two)


def test_one_that_cannot_be_told_keeps_no_other_waiting(
    arena: Arena, author: Account, ready_bots: Ready
) -> None:
    ids = ready_bots(2)
    comparisons.create(arena, author, contest(ids))
    for held in claimed(arena, 8):
        assert finish(arena, held)
    with arena.work() as work:  # such as nobody could write
        work.db.execute(update(tables.seat).values(entrant=5))
    told = comparisons.create(arena, author, contest(ids))
    with arena.work() as work:
        this = tables.match.c.tournament_id == told.id
        work.db.execute(update(tables.match).where(this).values(status="failed"))
    reap.reap(arena)
    with arena.read() as db:
        status = select(tables.tournament.c.status).where(tables.tournament.c.id == told.id)
        assert db.scalar(status) == "finished"
