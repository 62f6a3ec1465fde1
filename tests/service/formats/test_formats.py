"""What each format promises, over tournaments made up of random points."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations, permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.design import Dice, Order
from service.formats import FORMATS, Done, Field, Stage, Table
from service.formats.base import average
from service.formats.grouping import grouped, met, sizes

Points = Callable[[int, Order, int], int]


def field(entrants: int, size: int, **changes: object) -> Field:
    made = Field(size=size, least=2, entrants=tuple(range(entrants)), seed=b"seed")
    return replace(made, **changes)  # type: ignore[arg-type]


def by_lot(dice: Dice) -> Points:
    return lambda entrant, table, stage: dice.below(60)


def done(stage: Stage, number: int, points: Points) -> Done:
    tables = tuple(
        Table(
            table, {each: points(each, table, number) for each in table}, dict.fromkeys(table, 0), len(table)
        )
        for table in stage.tables
    )
    return Done(stage.kind, tables, stage.byes)


def played(
    name: str, entering: Field, points: Points, most: int = 40
) -> tuple[Field, list[Stage], list[Done]]:
    """A whole tournament, at most so many stages."""
    form = FORMATS[name]
    entering = replace(entering, prepared=form.prepare(entering))
    stages: list[Stage] = []
    results: list[Done] = []
    while len(stages) < most:
        stage = form.stage(entering, len(stages) + 1, [] if form.ahead else results)
        if stage is None:
            break
        stages.append(stage)
        results.append(done(stage, len(stages), points))
        if stage.last:
            break
    return entering, stages, results


some = st.integers(2, 6).flatmap(lambda k: st.tuples(st.integers(2, 40), st.just(k)))
lots = st.binary(max_size=4).map(lambda seed: Dice(b"test", seed))


@given(st.integers(2, 500), st.integers(2, 11), st.integers(2, 4))
def test_sizes_use_everybody_with_the_fewest_byes(entrants: int, full: int, least: int) -> None:
    cut, byes = sizes(entrants, full, least)
    assert sum(cut) + byes == entrants
    assert cut == sorted(cut, reverse=True)
    if entrants >= full:
        assert set(cut) <= {full, full - 1}
        assert byes < full
        fitting = [a * full + b * (full - 1) for a in range(60) for b in range(full)]
        if full - 1 >= max(2, least) and entrants in fitting:
            assert byes == 0


@settings(max_examples=8, deadline=None)
@given(st.integers(2, 6).flatmap(lambda k: st.tuples(st.integers(2, 20), st.just(k))), lots)
def test_a_swiss_seats_everybody_each_stage_and_shares_out_byes(size: tuple[int, int], dice: Dice) -> None:
    entering, stages, _ = played("swiss", field(*size), by_lot(dice))
    assert len(stages) == next(s for s in range(20) if size[1] ** s >= size[0]) + 3
    for stage in stages:
        assert sorted([*(each for table in stage.tables for each in table), *stage.byes]) == list(
            range(size[0])
        )
    byes = Counter(each for stage in stages for each in stage.byes)
    counts = [byes[each] for each in entering.entrants]
    assert max(counts) - min(counts) <= 1
    assert FORMATS["swiss"].groups(entering) == sum(len(stage.tables) for stage in stages)


@pytest.mark.parametrize(
    ("entrants", "size", "stages", "most"), [(40, 4, 8, 0), (64, 4, 6, 0), (20, 2, 8, 0), (16, 4, 5, 8)]
)
def test_a_swiss_repeats_no_pair_while_it_need_not(entrants: int, size: int, stages: int, most: int) -> None:
    _, planned, _ = played("swiss", field(entrants, size, stages=stages), by_lot(Dice(b"", b"1")))
    times = met(table for stage in planned for table in stage.tables)
    assert sum(count > 1 for count in times.values()) <= most


def cheapest(tables: Sequence[Order], before: Counter[tuple[int, int]]) -> int:
    pairs = [pair for table in tables for pair in combinations(sorted(table), 2)]
    return sum(before[pair] ** 2 for pair in pairs)


@settings(max_examples=40, deadline=None)
@given(st.sampled_from([(6, 2), (8, 2), (6, 3), (8, 4)]), st.data())
def test_no_search_of_all_groupings_finds_fewer_repeats(size: tuple[int, int], data: st.DataObject) -> None:
    entrants, k = size
    pairs = data.draw(st.lists(st.sampled_from(list(combinations(range(entrants), 2))), max_size=30))
    before = Counter(pairs)
    every = (
        [o[i : i + k] for i in range(0, entrants, k)] for o in permutations(range(entrants)) if o[0] == 0
    )
    best = min(cheapest(tables, before) for tables in every)
    found = grouped(range(entrants), [k] * (entrants // k), before, Dice(b"", b""))
    assert cheapest(found, before) == best


@settings(max_examples=60, deadline=None)
@given(some, lots)
def test_a_knockout_ends_with_one_winner_of_the_last_table(size: tuple[int, int], dice: Dice) -> None:
    entering, stages, results = played("knockout", field(*size), by_lot(dice))
    assert len(stages) < 40
    places = FORMATS["knockout"].places(entering, results)
    assert places is not None
    assert sorted(each for level in places for each in level) == list(range(size[0]))
    assert len(places[0]) == 1
    final = [stage for stage in stages if stage.kind == "main"][-1]
    assert len(final.tables) == 1
    assert places[0][0] in final.tables[0]
    main = sum(len(stage.tables) for stage in stages if stage.kind == "main")
    assert FORMATS["knockout"].groups(entering) == main


def test_a_knockout_is_seeded_by_rating_and_the_best_always_wins_through() -> None:
    ratings = {each: 1400.0 + 10 * each for each in range(16)}
    entering, stages, results = played(
        "knockout", field(16, 4, ratings=ratings), lambda entrant, table, stage: entrant
    )
    assert [set(table) for table in stages[0].tables] == [
        {15, 8, 7, 0},
        {14, 9, 6, 1},
        {13, 10, 5, 2},
        {12, 11, 4, 3},
    ]
    assert {each for table in stages[1].tables for each in table} == {15, 8, 14, 9, 13, 10, 12, 11}
    places = FORMATS["knockout"].places(entering, results)
    assert places is not None
    assert [places[0], places[1]] == [[15], [14]]


def test_a_tie_is_played_off_once_and_then_the_seed_decides() -> None:
    ratings = {each: 1600.0 - each for each in range(4)}
    entering, stages, results = played("knockout", field(4, 2, ratings=ratings), lambda *_: 7)
    assert [stage.kind for stage in stages] == ["main", "playoff", "main", "playoff"]
    assert {frozenset(table) for table in stages[1].tables} == {frozenset({0, 3}), frozenset({1, 2})}
    assert FORMATS["knockout"].places(entering, results) == [[0], [1], [2, 3]]


def test_exact_bids_break_a_tie_before_a_playoff() -> None:
    entering = field(2, 2, ratings={0: 1600.0})
    entering = replace(entering, prepared=FORMATS["knockout"].prepare(entering))
    final = Done("main", (Table((0, 1), {0: 5, 1: 5}, {0: 3, 1: 4}, 2),), ())
    assert FORMATS["knockout"].stage(entering, 2, [final]) is None
    assert FORMATS["knockout"].places(entering, [final]) == [[1], [0]]


def test_the_place_of_who_left_a_knockout_goes_to_the_next_at_its_table() -> None:
    entering = field(8, 4, ratings={each: 1600.0 - each for each in range(8)})
    entering = replace(entering, prepared=FORMATS["knockout"].prepare(entering))
    first = FORMATS["knockout"].stage(entering, 1, [])
    assert first is not None
    results = [done(first, 1, lambda entrant, table, stage: 10 - entrant)]
    left = replace(entering, gone=frozenset({0}))
    final = FORMATS["knockout"].stage(left, 2, results)
    assert final is not None
    assert {each for table in final.tables for each in table} == {1, 2, 3, 4}


@settings(max_examples=25, deadline=None)
@given(some, st.integers(1, 3))
def test_a_gauntlet_has_its_challenger_at_every_table_and_spreads_the_others(
    size: tuple[int, int], meetings: int
) -> None:
    entering, stages, _ = played("gauntlet", field(*size, meetings=meetings, challenger=1), lambda *_: 0)
    tables = [table for stage in stages for table in stage.tables]
    assert all(1 in table and len(set(table)) == len(table) for table in tables)
    counts = Counter(each for table in tables for each in table if each != 1)
    assert min(counts.values()) >= meetings
    assert max(counts.values()) - min(counts.values()) <= 1
    assert len(counts) == size[0] - 1
    assert FORMATS["gauntlet"].groups(entering) == len(tables)


def test_a_gauntlet_ends_with_its_challenger() -> None:
    assert FORMATS["gauntlet"].stage(field(8, 4, challenger=1, gone=frozenset({1})), 1, []) is None


@settings(max_examples=30, deadline=None)
@given(st.tuples(st.integers(4, 24), st.integers(2, 4)), lots)
def test_a_ladder_goes_on_and_lets_all_meet(size: tuple[int, int], dice: Dice) -> None:
    entering, stages, _ = played("ladder", field(*size), by_lot(dice), most=8)
    assert len(stages) == 8
    for stage in stages:
        assert {each for table in stage.tables for each in table} == set(entering.entrants)
        assert all(len(set(table)) == size[1] for table in stage.tables)
    times = met(table for stage in stages for table in stage.tables)
    counts = [times[pair] for pair in combinations(range(size[0]), 2)]
    mean = sum(counts) / len(counts)
    assert max(counts) <= mean + 5


def test_a_ladder_takes_the_most_uncertain_first() -> None:
    entering = field(5, 2)
    results = [done(Stage(((0, 1), (2, 3))), 1, lambda entrant, table, stage: entrant)]
    stage = FORMATS["ladder"].stage(entering, 2, results)
    assert stage is not None
    assert 4 in stage.tables[0]


@pytest.mark.parametrize("name", ["swiss", "knockout", "ladder"])
def test_bots_of_one_owner_are_kept_apart_if_that_is_asked_for(name: str) -> None:
    owners = {each: "ada" if each < 4 else f"owner {each}" for each in range(16)}
    ratings = {each: 1600.0 - 10 * (each % 4) for each in range(16)}  # the seeds alone would join them
    together = field(16, 4, owners=owners, ratings=ratings, stages=3)
    for apart in (True, False):
        _, stages, _ = played(name, replace(together, apart=apart), by_lot(Dice(b"", b"apart")), most=3)
        own = [len({0, 1, 2, 3} & set(table)) for stage in stages[:1] for table in stage.tables]
        assert max(own) == 1 or not apart


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_too_few_for_a_table_play_at_one(name: str) -> None:
    entering, stages, _ = played(name, field(2, 4, challenger=0), lambda entrant, *_: entrant, most=3)
    assert all(sorted(table) == [0, 1] for stage in stages for table in stage.tables)
    assert stages
    assert FORMATS[name].groups(entering) >= 1


@pytest.mark.parametrize("name", sorted(FORMATS))
@pytest.mark.parametrize("duplicate", [True, False])
def test_each_table_plays_so_many_deals(name: str, duplicate: bool) -> None:
    entering = field(12, 4, challenger=0, deals=3, duplicate=duplicate, stages=4)
    entering, stages, _ = played(name, entering, lambda entrant, *_: entrant, most=4)
    groups = Counter(frozenset(table) for table in stages[0].tables)
    assert set(groups.values()) == {3}
    if name != "ladder":
        assert FORMATS[name].groups(entering) == sum(len(stage.tables) for stage in stages)


@pytest.mark.parametrize("name", ["swiss", "ladder"])
def test_single_deals_give_everybody_all_seats_in_turn(name: str) -> None:
    _, stages, _ = played(name, field(16, 4, duplicate=False, stages=12), by_lot(Dice(b"", b"s")), most=12)
    counts = Counter(
        (each, seat) for stage in stages for table in stage.tables for seat, each in enumerate(table)
    )
    for each in range(16):
        seats = [counts[each, seat] for seat in range(4)]
        assert max(seats) - min(seats) <= 2


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_a_plan_follows_from_its_arguments(name: str) -> None:
    def once(seed: bytes) -> list[Stage]:
        return played(name, field(13, 4, challenger=2, seed=seed), lambda e, *_: e * 7 % 5, most=5)[1]

    assert once(b"a") == once(b"a")
    assert once(b"a") != once(b"b")


def test_an_average_gives_nothing_for_a_bye_or_a_smaller_table() -> None:
    pair = Table((0, 1), {0: 20, 1: 8}, {0: 1, 1: 2}, 2)
    three = Table((2, 3, 4), {2: 30, 3: 12, 4: 0}, {2: 3, 3: 3, 4: 0}, 3)
    void = Table((0, 5), {}, {}, 0)
    assert average(range(7), [Done("main", (pair, three), (6,)), Done("main", (void,), ())]) == [
        [2],
        [0],
        [1, 3],
        [4],
        [5, 6],
    ]
