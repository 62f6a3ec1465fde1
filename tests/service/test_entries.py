"""Who may enter, leave and change what: before the start, while it is played, and who gets points from it."""

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import update

from engine.rules import RuleSet
from loadtests import singly
from service import (
    accounts,
    bots,
    entries,
    events,
    folds,
    leases,
    leaving,
    matches,
    rankings,
    reap,
    refit,
    tables,
    tournaments,
)
from service.accounts import Account, Scope
from service.errors import Conflict, Forbidden, Invalid, NotFound
from service.leases import Assignment
from service.work import Arena

Ready = Callable[[int], list[str]]
PlayAll = Callable[[Arena], int]
Finish = Callable[..., tuple[bool, Assignment | None]]
SMALL = {"preset": "fundex", "hand_sizes": [2, 1]}
BOT = b"def bid(view):\n    return 0\n"


def spec(entrants: list[str], **changes: Any) -> dict[str, Any]:
    return {"name": "Cup", "entrants": entrants, "players": 4, "deals": 2, "rules": SMALL, **changes}


@pytest.fixture
def bob(arena: Arena) -> Account:
    return accounts.register(arena, name="Bob")[0]


def ready_bot(arena: Arena, owner: Account, name: str) -> str:
    made = bots.submit(arena, owner, name=name, filename="bot.py", content=BOT).id
    with arena.work() as work:
        work.db.execute(update(tables.version).values(status="ready"))
    return made


def house(arena: Arena, owner: Account, *names: str) -> list[str]:
    made = [ready_bot(arena, owner, name) for name in names]
    with arena.work() as work:
        work.db.execute(update(tables.bot).where(tables.bot.c.id.in_(made)).values(house=True))
    return made


def evening(clock: Any) -> Any:
    return clock.now.replace(hour=18, minute=0, second=0)


def here(arena: Arena, tournament_id: str) -> list[tuple[int, str, str]]:
    listed = tournaments.tournament(arena, tournament_id).entrants
    return [(each.number, each.bot_id, each.status) for each in listed]


def test_authors_enter_their_own_bots_until_the_deadline_or_the_limit(
    arena: Arena, author: Account, ready_bots: Ready, bob: Account, clock: Any
) -> None:
    deadline = clock.now + timedelta(hours=1)
    entry = {"open": True, "limit": 3, "deadline": deadline}
    start = clock.now + timedelta(hours=2)
    made = tournaments.create(arena, author, spec([], entry=entry, start_at=start, players=2))
    mine, other, third = (ready_bot(arena, bob, name) for name in ("mine", "other", "third"))
    theirs = ready_bots(1)[0]
    for _ in range(2):
        entries.enter(arena, bob, made.id, mine)
    assert here(arena, made.id) == [(0, mine, "in")]
    with pytest.raises(Forbidden):
        entries.enter(arena, bob, made.id, theirs)
    for told, reason in {"bot_none": "no bot", f"{mine}:1": "named twice", f"{mine}:9": "no version"}.items():
        with pytest.raises(Invalid, match=reason) as refused:
            entries.enter(arena, bob, made.id, told)
        assert set(refused.value.errors) == {"entrant"}
    entries.enter(arena, bob, made.id, other)
    entries.enter(arena, author, made.id, theirs)
    with pytest.raises(Conflict, match="all 3 places"):
        entries.enter(arena, bob, made.id, third)
    with pytest.raises(Forbidden, match="their own bots only"):  # it is in already, by its author
        entries.enter(arena, bob, made.id, theirs)
    leaving.withdraw(arena, bob, made.id, mine)
    assert here(arena, made.id) == [(0, other, "in"), (1, theirs, "in")]
    clock.turn(3601)
    with pytest.raises(Conflict, match="deadline"):
        entries.enter(arena, bob, made.id, third)
    clock.turn(3600)
    reap.reap(arena)
    assert tournaments.tournament(arena, made.id).status == "running"
    with pytest.raises(Conflict, match="running; bots enter before"):
        entries.enter(arena, bob, made.id, third)


def test_a_tournament_that_is_not_open_takes_no_strangers(
    arena: Arena, author: Account, ready_bots: Ready, bob: Account
) -> None:
    ids = ready_bots(5)
    made = tournaments.create(arena, author, spec(ids[:4], start_at="manual"))
    mine = ready_bot(arena, bob, "mine")
    with pytest.raises(Conflict, match="organiser names"):
        entries.enter(arena, bob, made.id, mine)
    entries.enter(arena, author, made.id, mine)
    with pytest.raises(Forbidden):
        leaving.withdraw(arena, bob, made.id, ids[0])
    leaving.withdraw(arena, bob, made.id, mine)
    with pytest.raises(NotFound, match="not entered"):
        leaving.withdraw(arena, bob, made.id, mine)


def test_who_withdraws_leaves_whole_deals_and_no_points_to_others(
    arena: Arena, author: Account, ready_bots: Ready, bob: Account, finish: Finish, play_all: PlayAll
) -> None:
    mine = ready_bot(arena, bob, "mine")
    made = tournaments.create(arena, author, spec([*ready_bots(4), mine], players=4, deals=2))
    for _ in range(6):  # a deal group and a half
        held = singly.claim(arena, "w")
        assert held is not None
        finish(arena, held)
    held = singly.claim(arena, "w")
    assert held is not None
    before = {row.entrant: row.points for row in folds.standings_of(arena, made.id)}
    for _ in range(2):
        leaving.withdraw(arena, bob, made.id, mine)
    assert finish(arena, held)[0] is (4 not in held.entrants)
    play_all(arena)
    over = tournaments.tournament(arena, made.id)
    assert over.status == "finished"
    found = matches.matches(arena, made.id, limit=200).items
    groups: dict[int, set[str]] = {}
    for each in found:
        groups.setdefault(each.group, set()).add(each.status)
        if each.status == "void":
            group = [seat.entrant for other in found if other.group == each.group for seat in other.seats]
            assert 4 in group
            assert each.trouble == "mine withdrew"
    after = folds.standings_of(arena, made.id)
    assert after[-1].entrant == 4
    assert (after[-1].status, after[-1].points) == ("withdrawn", before[4])
    assert [row.place for row in after] == sorted(row.place for row in after)
    staying = [row.average for row in after if row.status == "in"]
    assert staying == sorted(staying, reverse=True), "by points a match: some have played less"
    assert any(event.type == "left" for event in events.since(arena, made.id))


def test_a_disqualification_tells_its_reason_and_stays(
    arena: Arena, author: Account, ready_bots: Ready, bob: Account, play_all: PlayAll
) -> None:
    mine = ready_bot(arena, bob, "mine")
    made = tournaments.create(arena, author, spec([*ready_bots(4), mine]))
    with pytest.raises(Forbidden, match="disqualify"):
        leaving.withdraw(arena, author, made.id, mine)
    with pytest.raises(Forbidden):
        leaving.disqualify(arena, bob, made.id, mine, "spite")
    with pytest.raises(Invalid):
        leaving.disqualify(arena, author, made.id, mine, " ")
    leaving.disqualify(arena, author, made.id, mine, "copied code")
    leaving.disqualify(arena, author, made.id, mine, "another reason")
    play_all(arena)
    (out,) = [each for each in tournaments.tournament(arena, made.id).entrants if each.status != "in"]
    assert (out.bot_id, out.status, out.reason) == (mine, "disqualified", "copied code")
    fell = matches.matches(arena, made.id, status="void").items
    assert {each.trouble for each in fell} == {"mine was disqualified"}
    with pytest.raises(Conflict, match="finished"):
        leaving.disqualify(arena, author, made.id, mine, "again")


def test_who_may_not_take_a_bot_out_makes_nobody_read_its_matches(
    arena: Arena, author: Account, ready_bots: Ready, bob: Account, play_all: PlayAll, queries: list[str]
) -> None:
    bots = ready_bots(4)
    made = tournaments.create(arena, author, spec(bots))

    def matches_read_for(caller: Account) -> list[str]:
        queries.clear()
        with pytest.raises((Forbidden, Conflict)):
            leaving.withdraw(arena, caller, made.id, bots[0])
        with pytest.raises((Forbidden, Conflict)):
            leaving.disqualify(arena, caller, made.id, bots[0], "spite")
        assert queries
        return [each for each in queries if re.search(r'FROM "?match\b', each)]

    assert matches_read_for(bob) == []
    play_all(arena)
    assert matches_read_for(author) == []


def test_what_is_disqualified_before_the_start_cannot_enter_again(
    arena: Arena, author: Account, ready_bots: Ready, bob: Account
) -> None:
    mine = ready_bot(arena, bob, "mine")
    told = spec([*ready_bots(4), mine], start_at="manual", entry={"open": True})
    made = tournaments.create(arena, author, told)
    leaving.disqualify(arena, author, made.id, mine, "no")
    with pytest.raises(Conflict, match="disqualified"):
        entries.enter(arena, bob, made.id, mine)
    edited = tournaments.edit(arena, author, made.id, {"name": "Other"})
    assert edited.entrants[4].status == "disqualified"
    started = tournaments.start(arena, author, made.id)
    assert {seat.entrant for each in matches.matches(arena, started.id).items for seat in each.seats} == {
        0,
        1,
        2,
        3,
    }


def test_house_bots_fill_a_table_marked_and_unrated(
    arena: Arena, author: Account, ready_bots: Ready, bob: Account, play_all: PlayAll
) -> None:
    ids = ready_bots(2)
    with pytest.raises(Invalid):
        tournaments.create(arena, author, spec(ids))
    house(arena, bob, "cautious", "counter")
    made = tournaments.create(arena, author, spec(ids))
    assert [each.filler for each in made.entrants] == [False, False, True, True]
    assert play_all(arena) == 8
    rows = folds.standings_of(arena, made.id)
    assert [row.status for row in rows] == ["in", "in", "filler", "filler"]
    assert [row.place for row in rows][:1] == [1]
    refit.settle(arena, made.id)
    assert rankings.rankings(arena, rules=RuleSet.parse(SMALL).key()).items == []


@pytest.mark.parametrize(("teams", "players", "rotations"), [("2+2", 4, 2), ("2+2+2", 6, 3), ("3+3", 6, 2)])
def test_a_team_is_one_entrant_on_several_seats_that_counts_once(
    arena: Arena,
    author: Account,
    ready_bots: Ready,
    play_all: PlayAll,
    teams: str,
    players: int,
    rotations: int,
) -> None:
    rules = {**SMALL, "teams": teams}
    made = tournaments.create(arena, author, spec(ready_bots(4), players=players, rules=rules, deals=2))
    play_all(arena)
    found = matches.matches(arena, made.id, limit=200).items
    points = dict.fromkeys(range(4), 0)
    for each in found:
        sitting = [seat.entrant for seat in each.seats]
        assert sitting == [sitting[n % rotations] for n in range(players)]
        for entrant in set(sitting):
            (score,) = {seat.score for seat in each.seats if seat.entrant == entrant}
            assert score is not None
            points[entrant] += score
    rows = folds.standings_of(arena, made.id)
    assert {row.entrant: row.points for row in rows} == points
    assert {row.matches for row in rows} == {len(found) * rotations // 4}
    assert all(row.bid_accuracy is None or row.bid_accuracy <= 1 for row in rows)
    refit.settle(arena, made.id)
    ranked = rankings.rankings(arena, rules=RuleSet.parse(rules, players).key(), players=players)
    assert {line.matches for line in ranked.items} == {len(found) * rotations // 4}


def test_a_tournament_is_changed_before_its_start_and_never_after(
    arena: Arena, author: Account, ready_bots: Ready, bob: Account, clock: Any
) -> None:
    ids = ready_bots(6)
    start = clock.now + timedelta(hours=1)
    made = tournaments.create(arena, author, spec(ids[:4], start_at=start))
    changes = {"name": "Open", "deals": 3, "entrants": ids, "format": "swiss", "stages": 2}
    edited = tournaments.edit(arena, author, made.id, changes)
    assert (edited.name, edited.deals, edited.format, edited.stages) == ("Open", 3, "swiss", 2)
    assert (edited.start_at, edited.secret_hash, edited.seed) == (start, made.secret_hash, made.seed)
    assert [each.bot_id for each in edited.entrants] == ids
    assert edited.progress.total > made.progress.total
    with pytest.raises(Invalid) as refused:
        tournaments.edit(arena, author, made.id, {"deals": 0, "stages": 0, "name": ""})
    assert set(refused.value.errors) == {"deals", "stages", "name"}
    assert tournaments.tournament(arena, made.id) == edited
    with pytest.raises(Forbidden):
        tournaments.edit(arena, bob, made.id, {"name": "Mine"})
    assert tournaments.edit(arena, author, made.id, {"start_at": clock.now}).status == "running"
    with pytest.raises(Conflict, match="before its start only"):
        tournaments.edit(arena, author, made.id, {"name": "Late"})


def test_a_draft_is_its_owners_alone(arena: Arena, author: Account, ready_bots: Ready, bob: Account) -> None:
    made = tournaments.create(arena, author, spec(ready_bots(4), start_at="draft"))
    assert made.status == "draft"
    assert tournaments.tournaments(arena, viewer=bob).items == []
    for viewer in (None, bob):
        with pytest.raises(NotFound):
            tournaments.tournament(arena, made.id, viewer)
    with pytest.raises(NotFound):
        entries.enter(arena, bob, made.id, "bot_x")
    for act in (tournaments.start, tournaments.pause, tournaments.cancel, tournaments.stop):
        with pytest.raises(NotFound):
            act(arena, bob, made.id)
    with pytest.raises(NotFound):
        matches.matches(arena, made.id, viewer=bob)
    assert matches.matches(arena, made.id, viewer=author).items == []
    with pytest.raises(NotFound):
        events.since(arena, made.id)
    assert events.since(arena, made.id, viewer=author)[-1].data["status"] == "draft"
    assert [each.id for each in tournaments.tournaments(arena, viewer=author).items] == [made.id]
    assert tournaments.edit(arena, author, made.id, {"start_at": "manual"}).status == "scheduled"
    assert tournaments.tournament(arena, made.id, bob).name == "Cup"


def test_not_even_its_name_is_told_to_others_who_try_to_change_a_draft(
    arena: Arena, author: Account, ready_bots: Ready, bob: Account
) -> None:
    made = tournaments.create(arena, author, spec(ready_bots(4), start_at="draft"))
    for act in (tournaments.start, tournaments.pause, tournaments.cancel, tournaments.stop):
        with pytest.raises(NotFound):
            act(arena, bob, made.id)


def test_a_deadline_lies_ahead_and_may_pass_without_hindering_a_change(
    arena: Arena, author: Account, ready_bots: Ready, clock: Any
) -> None:
    wanted = {"start_at": "manual", "entry": {"open": True, "deadline": clock.now}}
    ids = ready_bots(2)
    with pytest.raises(Invalid) as refused:
        tournaments.create(arena, author, spec(ids, **wanted))
    assert refused.value.errors == {"entry.deadline": ["is over already; must be a later time"]}
    later = {"open": True, "deadline": clock.now + timedelta(hours=1)}
    made = tournaments.create(arena, author, spec(ids, **wanted | {"entry": later}))
    clock.turn(7200)
    assert tournaments.edit(arena, author, made.id, {"name": "Late"}).name == "Late"


def test_a_start_lies_ahead_or_is_just_over(
    arena: Arena, author: Account, ready_bots: Ready, clock: Any
) -> None:
    ids = ready_bots(4)
    with pytest.raises(Invalid) as refused:
        tournaments.create(arena, author, spec(ids, start_at=clock.now - timedelta(hours=1)))
    assert list(refused.value.errors) == ["start_at"]
    now = tournaments.create(arena, author, spec(ids, start_at=clock.now - timedelta(minutes=1)))
    assert now.status == "running"
    later = tournaments.create(arena, author, spec(ids, start_at=clock.now + timedelta(hours=1)))
    clock.turn(7200)
    assert tournaments.edit(arena, author, later.id, {"name": "Late"}).status == "running"


def test_a_change_takes_out_nobody_who_entered_meanwhile(
    arena: Arena, author: Account, ready_bots: Ready, bob: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids, bobs = ready_bots(4), ready_bot(arena, bob, "of bob")
    made = tournaments.create(arena, author, spec(ids, start_at="manual", entry={"open": True}))
    real = tournaments.spec.read

    def meanwhile(*told: Any, **known: Any) -> Any:
        entries.enter(arena, bob, made.id, bobs)
        return real(*told, **known)

    with monkeypatch.context() as patch:
        patch.setattr(tournaments.spec, "read", meanwhile)
        with pytest.raises(Conflict, match="just now"):
            tournaments.edit(arena, author, made.id, {"entrants": ids[:3]})
    assert [each for _, each, _ in here(arena, made.id)] == [*ids, bobs]


def test_a_draft_can_be_started_right_away(arena: Arena, author: Account, ready_bots: Ready) -> None:
    made = tournaments.create(arena, author, spec(ready_bots(4), start_at="draft"))
    assert tournaments.start(arena, author, made.id).status == "running"


def test_a_series_makes_one_more_at_each_start_and_skips_what_was_missed(
    arena: Arena, author: Account, ready_bots: Ready, play_all: PlayAll, clock: Any
) -> None:
    first = tournaments.create(arena, author, spec(ready_bots(4), repeat="0 18 * * *"))
    assert (first.status, first.start_at) == ("scheduled", evening(clock))
    clock.turn(86_400 * 10)  # nothing ran for ten days
    for _ in range(3):
        reap.reap(arena)
    found = tournaments.tournaments(arena, series=first.id).items
    assert [each.status for each in found] == ["scheduled", "running"]
    following = found[0]
    assert following.start_at == evening(clock)
    assert (following.series, following.repeat) == (first.id, "0 18 * * *")
    assert (following.seed != first.seed, following.secret_hash != first.secret_hash) == (True, True)
    play_all(arena)
    clock.turn(86_400)
    reap.reap(arena)
    third = tournaments.tournaments(arena, series=first.id).items[0]
    assert third.start_at == evening(clock)
    assert third.progress.total == first.progress.total
    tournaments.cancel(arena, author, third.id)
    clock.turn(86_400 * 3)
    reap.reap(arena)
    assert len(tournaments.tournaments(arena, series=first.id).items) == 3


def test_of_a_series_one_at_a_time_is_played(
    arena: Arena, author: Account, ready_bots: Ready, play_all: PlayAll, clock: Any
) -> None:
    first = tournaments.create(arena, author, spec(ready_bots(4), repeat="0 18 * * *"))
    clock.turn(1)
    tournaments.start(arena, author, first.id)
    for _ in range(2):  # neither by hand nor by the clock
        second = tournaments.tournaments(arena, series=first.id).items[0]
        with pytest.raises(Conflict, match="still being played"):
            tournaments.start(arena, author, second.id)
        clock.turn(86_400 * 3)
        reap.reap(arena)
    found = tournaments.tournaments(arena, series=first.id).items
    assert [each.status for each in found] == ["scheduled", "running"]
    play_all(arena)
    reap.reap(arena)
    found = tournaments.tournaments(arena, series=first.id).items
    assert [each.status for each in found] == ["scheduled", "running", "finished"]


@pytest.mark.parametrize("name", ["swiss", "knockout", "gauntlet"])
def test_every_format_is_played_to_its_end_whatever_fails(
    arena: Arena, author: Account, ready_bots: Ready, play_all: PlayAll, name: str
) -> None:
    ids = ready_bots(9)
    more = {"challenger": ids[0]} if name == "gauntlet" else {}
    made = tournaments.create(arena, author, spec(ids, format=name, deals=1, **more))
    held = singly.claim(arena, "w")
    for _ in range(3):
        assert held is not None
        leases.give_back(arena, held, "fire")
        held = singly.claim(arena, "w")
    assert held is not None
    leases.give_back(arena, held, "fire")
    play_all(arena)
    over = tournaments.tournament(arena, made.id)
    assert (over.status, over.progress.failed) == ("finished", 1)
    assert over.progress.total == over.progress.played + 1
    assert over.stage >= 1
    rows = folds.standings_of(arena, made.id)
    assert sorted(row.entrant for row in rows) == list(range(9))


def test_a_ladder_goes_on_until_it_is_stopped(
    arena: Arena, author: Account, ready_bots: Ready, finish: Finish, bob: Account, play_all: PlayAll
) -> None:
    made = tournaments.create(arena, author, spec(ready_bots(5), format="ladder", deals=1))
    held = singly.claim(arena, "w")
    for _ in range(26):
        assert held is not None
        _, held = finish(arena, held, more=True)
    now = tournaments.tournament(arena, made.id)
    assert (now.status, now.stage > 2) == ("running", True)
    assert now.progress.eta is None, "nobody knows when it will be stopped"
    with pytest.raises(Forbidden):
        tournaments.stop(arena, bob, made.id)
    stopped = tournaments.stop(arena, author, made.id)
    assert tournaments.stop(arena, author, made.id).status == stopped.status
    assert held is not None
    assert finish(arena, held)[0], "what is being played counts"
    play_all(arena)
    assert tournaments.tournament(arena, made.id).status == "finished"
    whole = {each.group for each in matches.matches(arena, made.id, status="done", limit=200).items}
    fell = matches.matches(arena, made.id, status="void").items
    assert whole.isdisjoint(each.group for each in fell)
    assert {each.trouble for each in fell} == {"its ladder was stopped"}
    other = tournaments.create(arena, author, spec([each.bot_id for each in now.entrants]))
    with pytest.raises(Conflict, match="only a ladder"):
        tournaments.stop(arena, author, other.id)


def test_a_token_for_bots_alone_organises_nothing(
    arena: Arena, author: Account, ready_bots: Ready, bob: Account
) -> None:
    mine, other = ready_bots(2), ready_bot(arena, bob, "other")
    made = tournaments.create(arena, author, spec(mine, players=2, start_at="manual"))
    narrowed = replace(author, scopes=(Scope.AUTHOR,))
    with pytest.raises(Conflict, match="its organiser names the entrants"):
        entries.enter(arena, narrowed, made.id, other)
    entries.enter(arena, author, made.id, other)
    with pytest.raises(Forbidden, match="another account's bot"):
        leaving.withdraw(arena, narrowed, made.id, other)
    leaving.withdraw(arena, narrowed, made.id, mine[0])
    leaving.withdraw(arena, author, made.id, other)
