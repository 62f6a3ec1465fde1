"""Schedules: who meets whom, who sits where, which matches share a deal."""

import hashlib
import hmac
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import combinations
from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.design import Dice, balanced, even, search, seated, spread
from service.schedule import Pairing, Table, bot_seed, group_seed, groups, pairings, round_robin

MEETINGS = (1, 2, 4)


def matches(blocks: list[list[Table]], *, deals: int, duplicate: bool, seed: bytes) -> list[Pairing]:
    return list(pairings(groups(blocks, deals=deals, duplicate=duplicate, seed=seed), duplicate=duplicate))


def seat_counts(orders: Iterable[tuple[int, ...]], entrants: int, seats: int) -> list[list[int]]:
    counts = [[0] * seats for _ in range(entrants)]
    for order in orders:
        for seat, entrant in enumerate(order):
            counts[entrant][seat] += 1
    return counts


def pair_counts(orders: Iterable[tuple[int, ...]], entrants: int) -> list[int]:
    met = Counter(pair for order in orders for pair in combinations(sorted(order), 2))
    return [met[pair] for pair in combinations(range(entrants), 2)]


def assert_fair(entrants: int, seats: int, meetings: int, seed: bytes) -> None:
    blocks = round_robin(entrants, seats, meetings=meetings, seed=seed)
    orders = [table.entrants for block in blocks for table in block]
    assert all(len(set(order)) == len(order) == seats for order in orders)
    pairs = pair_counts(orders, entrants)
    assert min(pairs) >= meetings
    assert max(pairs) - min(pairs) <= 1
    counts = seat_counts(orders, entrants, seats)
    assert len({sum(seat) for seat in counts}) == 1
    assert all(max(seat) - min(seat) <= 1 for seat in counts)
    for number, block in enumerate(blocks):
        assert len({sum(seat) for seat in seat_counts([t.entrants for t in block], entrants, seats)}) == 1
        assert even([table.entrants for table in block]) or number == len(blocks) - 1


sizes = st.integers(2, 6).flatmap(lambda k: st.tuples(st.integers(k, 60), st.just(k)))
seeds = st.binary(max_size=40)


@settings(max_examples=40, deadline=None)
@given(sizes, st.sampled_from(MEETINGS), seeds)
def test_pairs_meet_often_enough_and_within_one_and_seats_are_balanced(
    size: tuple[int, int], meetings: int, seed: bytes
) -> None:
    assert_fair(*size, meetings, seed)


@pytest.mark.slow
@pytest.mark.parametrize("meetings", MEETINGS)
@pytest.mark.parametrize("seats", range(2, 7))
def test_every_field_up_to_sixty_is_scheduled_fairly(seats: int, meetings: int) -> None:
    for entrants in range(seats, 61):
        assert_fair(entrants, seats, meetings, b"all of them")


@pytest.mark.parametrize(("entrants", "seats", "tables"), [(7, 3, 7), (13, 4, 13), (21, 5, 21), (31, 6, 31)])
def test_a_projective_plane_is_found_where_there_is_one(entrants: int, seats: int, tables: int) -> None:
    blocks = round_robin(entrants, seats, seed=b"plane")
    orders = [table.entrants for block in blocks for table in block]
    assert len(orders) == tables
    assert set(pair_counts(orders, entrants)) == {1}


def test_a_hundred_entrants_at_tables_of_four_stay_near_the_counting_bound() -> None:
    tables = sum(len(block) for block in round_robin(100, 4, seed=b"hundred"))
    assert 825 <= tables <= 900
    assert_fair(100, 4, 1, b"hundred")


@pytest.mark.parametrize("meetings", MEETINGS)
@pytest.mark.parametrize("seats", range(2, 7))
def test_a_full_table_meets_once_for_each_meeting(seats: int, meetings: int) -> None:
    orders = [t.entrants for block in round_robin(seats, seats, meetings=meetings, seed=b"") for t in block]
    assert [sorted(order) for order in orders] == [list(range(seats))] * meetings


@pytest.mark.parametrize("meetings", [1, 2, 3])
@pytest.mark.parametrize("entrants", [2, 3, 8, 9])
def test_two_seats_make_a_complete_round_robin(entrants: int, meetings: int) -> None:
    orders = [t.entrants for block in round_robin(entrants, 2, meetings=meetings, seed=b"") for t in block]
    assert pair_counts(orders, entrants) == [meetings] * comb(entrants, 2)


@pytest.mark.parametrize(("entrants", "seats", "meetings"), [(6, 4, 6), (6, 3, 4), (5, 4, 3), (8, 2, 1)])
def test_all_tables_are_used_where_they_are_fewer_with_balanced_seats(
    entrants: int, seats: int, meetings: int
) -> None:
    orders = [
        t.entrants for block in round_robin(entrants, seats, meetings=meetings, seed=b"") for t in block
    ]
    assert {tuple(sorted(order)) for order in orders} == set(combinations(range(entrants), seats))
    assert len(orders) == comb(entrants, seats)
    assert_fair(entrants, seats, meetings, b"")


@pytest.mark.parametrize(
    ("entrants", "seats", "meetings", "text"),
    [
        (3, 4, 1, "a table of 4 needs at least 4 entrants, there are 3"),
        (0, 2, 1, "a table of 2 needs at least 2 entrants, there are 0"),
        (5, 1, 1, "at least 2 seats"),
        (5, 3, 0, "1 meeting"),
    ],
)
def test_what_cannot_be_scheduled_is_refused(entrants: int, seats: int, meetings: int, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        round_robin(entrants, seats, meetings=meetings, seed=b"")


def test_no_deals_are_refused() -> None:
    with pytest.raises(ValueError, match="0 deals: at least 1"):
        matches(round_robin(4, 4, seed=b""), deals=0, duplicate=True, seed=b"")


def test_the_seed_decides_who_is_who_but_not_how_many_tables_there_are() -> None:
    one, other = (round_robin(20, 4, seed=seed) for seed in (b"one", b"other"))
    assert one != other
    assert [len(block) for block in one] == [len(block) for block in other]


DIGEST = """
import hashlib, json
from service.schedule import groups, pairings, round_robin
played = []
for entrants, seats, meetings in [(7, 2, 1), (6, 3, 4), (30, 5, 1), (24, 3, 4)]:
    blocks = round_robin(entrants, seats, meetings=meetings, seed=b"golden")
    for duplicate in (True, False):
        orders = groups(blocks, deals=2, duplicate=duplicate, seed=b"g")
        played.append([list(each.entrants) for each in pairings(orders, duplicate=duplicate)])
print(hashlib.sha256(json.dumps(played).encode()).hexdigest())
"""
GOLDEN = "4539ec3b0aa34155e4d1f3453185ffb7b3ddb184338e2862cc1bf35fa5645822"


@pytest.mark.parametrize("hash_seed", ["0", "1", "77"])
def test_a_schedule_is_the_same_in_every_interpreter(hash_seed: str) -> None:
    run = subprocess.run(
        [sys.executable, "-c", DIGEST], capture_output=True, text=True, env={"PYTHONHASHSEED": hash_seed}
    )
    assert run.stdout.strip() == GOLDEN, run.stderr


def test_dice_can_be_repeated_in_any_language() -> None:
    page = hashlib.shake_256(b"use:seed" + bytes(8)).digest(4096)
    following = hashlib.shake_256(b"use:seed" + bytes(7) + b"\x01").digest(4)
    dice = Dice(b"use", b"seed")
    words = [dice.word() for _ in range(1025)]
    assert words[:2] == [int.from_bytes(page[:4], "big"), int.from_bytes(page[4:8], "big")]
    assert words[1024] == int.from_bytes(following, "big")


def test_dice_show_every_face_about_equally_often() -> None:
    dice = Dice(b"test", b"")
    faces = Counter(dice.below(6) for _ in range(6000))
    assert sum((faces[face] - 1000) ** 2 / 1000 for face in range(6)) < 20.5  # chi squared, 5 degrees, 0.1 %
    orders = Counter(tuple(dice.shuffled("abc")) for _ in range(6000))
    assert sum((count - 1000) ** 2 / 1000 for count in orders.values()) < 20.5
    assert len(orders) == 6


some_blocks = st.builds(
    lambda size, meetings, seed: (size, round_robin(*size, meetings=meetings, seed=seed)),
    st.integers(2, 6).flatmap(lambda k: st.tuples(st.integers(k, 14), st.just(k))),
    st.sampled_from((1, 2)),
    seeds,
)


@settings(max_examples=60, deadline=None)
@given(some_blocks, st.integers(1, 5), seeds)
def test_a_duplicate_group_seats_everyone_once_in_each_seat(
    field: tuple[tuple[int, int], list[list[Table]]], deals: int, seed: bytes
) -> None:
    (_, seats), blocks = field
    groups = defaultdict(list)
    for match in matches(blocks, deals=deals, duplicate=True, seed=seed):
        groups[match.group].append(match)
    tables = [frozenset(table.entrants) for block in blocks for table in block]
    assert list(groups) == list(range(len(tables) * deals))
    assert [frozenset(group[0].entrants) for group in groups.values()] == tables * deals
    for group in groups.values():
        assert [match.rotation for match in group] == list(range(seats))
        base = group[0].entrants
        assert [match.entrants for match in group] == [base[r:] + base[:r] for r in range(seats)]


@settings(max_examples=60, deadline=None)
@given(some_blocks, st.integers(1, 9), seeds)
def test_single_deals_keep_seats_within_one_over_all_passes(
    field: tuple[tuple[int, int], list[list[Table]]], deals: int, seed: bytes
) -> None:
    (entrants, seats), blocks = field
    played = matches(blocks, deals=deals, duplicate=False, seed=seed)
    tables = [frozenset(table.entrants) for block in blocks for table in block]
    assert [(match.group, match.rotation) for match in played] == [(g, 0) for g in range(len(tables) * deals)]
    assert [frozenset(match.entrants) for match in played] == tables * deals
    counts = seat_counts([match.entrants for match in played], entrants, seats)
    assert all(max(seat) - min(seat) <= 1 for seat in counts)


def test_orders_of_seats_are_fresh_for_each_deal() -> None:
    blocks = round_robin(13, 4, seed=b"")
    for duplicate in (True, False):
        first = [m for m in matches(blocks, deals=24, duplicate=duplicate, seed=b"fresh") if m.rotation == 0]
        bases = [match.entrants for match in first if set(match.entrants) == set(blocks[0][0].entrants)]
        assert len(bases) == 24
        assert len(set(bases)) > 10
    one, other = (matches(blocks, deals=1, duplicate=True, seed=seed) for seed in (b"1", b"2"))
    assert one != other


def test_matches_are_values() -> None:
    first = matches([[Table((0, 1))]], deals=1, duplicate=True, seed=b"")[0]
    assert first in {Pairing(0, 0, (0, 1)), Pairing(0, 0, (1, 0))}


@settings(max_examples=200, deadline=None)
@given(st.data(), st.integers(2, 6))
def test_any_list_of_tables_can_be_seated_within_one(data: st.DataObject, seats: int) -> None:
    table = st.lists(st.integers(0, seats + 6), min_size=seats, max_size=seats, unique=True).map(tuple)
    tables = data.draw(st.lists(table, max_size=60))
    result = seated(tables)
    assert [sorted(order) for order in result] == [sorted(order) for order in tables]
    assert all(max(seat) - min(seat) <= 1 for seat in seat_counts(result, seats + 7, seats))


def test_seats_left_as_they_come_would_not_be_balanced() -> None:
    lazy = [tuple(order) for order in combinations(range(8), 4)]
    assert max(max(seat) - min(seat) for seat in seat_counts(lazy, 8, 4)) > 1
    assert all(max(seat) - min(seat) <= 1 for seat in seat_counts(seated(lazy), 8, 4))


def test_a_group_seed_is_the_documented_hmac() -> None:
    expected = hmac.new(b"secret", b"deal\0\0\0\0\0\0\1\2", hashlib.sha256).digest()
    assert group_seed(b"secret", 258) == expected
    assert len({group_seed(b"secret", group) for group in range(1000)}) == 1000


def test_a_bot_seed_has_32_bits_and_depends_on_match_and_seat() -> None:
    expected = hmac.new(b"secret", b"bot" + bytes(7) + b"\7" + bytes(7) + b"\3", hashlib.sha256).digest()[:4]
    assert bot_seed(b"secret", 7, 3) == int.from_bytes(expected, "big")
    drawn = {bot_seed(b"secret", match, seat) for match in range(100) for seat in range(6)}
    assert len(drawn) == 600
    assert all(0 <= number < 1 << 32 for number in drawn)


@pytest.mark.slow
def test_a_thousand_entrants_can_be_scheduled_within_a_spread_of_two() -> None:
    bases = search(1000, 4, 1)
    assert bases is not None
    assert len(bases) * 1000 <= 1.1 * 1000 * 999 / 12
    assert spread(bases, 1000) <= 2
    times = Counter(
        min(d, 1000 - d) for base in bases for x, y in combinations(base, 2) for d in [abs(x - y)]
    )
    assert all(times[d] >= 1 for d in range(1, 501))


@pytest.mark.parametrize(("entrants", "seats"), [(61, 7), (64, 11)])
def test_large_tables_of_many_are_scheduled(entrants: int, seats: int) -> None:
    orders = [t.entrants for block in round_robin(entrants, seats, seed=b"large") for t in block]
    pairs = pair_counts(orders, entrants)
    assert min(pairs) >= 1
    assert max(pairs) - min(pairs) <= 2


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_seats_of_tables_of_any_sizes_are_as_fair_as_of_each_size_alone(data: st.DataObject) -> None:
    table = st.integers(2, 5).flatmap(
        lambda k: st.lists(st.integers(0, 9), min_size=k, max_size=k, unique=True)
    )
    tables = data.draw(st.lists(table.map(tuple), max_size=30))
    orders = balanced(tables, {})
    assert [sorted(order) for order in orders] == [sorted(each) for each in tables]
    for size in range(2, 6):
        counts = seat_counts([order for order in orders if len(order) == size], 10, size)
        assert all(max(seat) - min(seat) <= 1 for seat in counts)


def test_who_had_a_seat_before_gets_another() -> None:
    had = {(0, 0): 2, (1, 1): 1, (2, 2): 3}
    (order,) = balanced([(0, 1, 2)], Counter(had))
    assert all(order[seat] != who for who, seat in had)


def test_a_team_has_all_its_seats_in_every_rotation() -> None:
    found = list(pairings([(7, 9)], duplicate=True, first=5, teams=((0, 2), (1, 3))))
    assert [(each.group, each.rotation, each.entrants) for each in found] == [
        (5, 0, (7, 9, 7, 9)),
        (5, 1, (9, 7, 9, 7)),
    ]
