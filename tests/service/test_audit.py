"""The audit of a tournament: nothing to say of an honest one, and everything that was changed is named."""

import copy
import hashlib
from collections.abc import Callable
from dataclasses import asdict
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import service
from engine.bots import load
from engine.cards import NOTATION
from engine.deal import deal
from engine.rules import RuleSet
from engine.table import LocalPlayer, play
from service import folds, schedule
from service.audit import Audit, deal_discrepancy, secret_discrepancy
from service.results import result_of
from service.tournaments import Entrant

SECRET = bytes(range(32))
RULES = RuleSet.parse({"preset": "fundex", "hand_sizes": [3]}, 3)
Told = dict[str, Any]


@cache
def honest() -> tuple[Told, list[Told], list[Told], list[Told]]:
    """A tournament of three bots as the API tells it: itself, matches, records, standings."""
    entrants = [
        {"number": n, "bot_id": f"bot_{n}", "version": n + 1, "name": f"bot {n}", "owner": "ada"}
        | {"status": "in", "reason": None, "filler": False}
        for n in range(3)
    ]
    told = {
        "secret": SECRET.hex(),
        "secret_hash": hashlib.sha256(SECRET).hexdigest(),
        "status": "finished",
        "format": "round_robin",
        "stage": 1,
        "players": 3,
        "duplicate": True,
        "rules": RULES.spec(),
        "entrants": entrants,
        "progress": {"total": 6},
    }
    matches, records = [], []
    blocks = schedule.round_robin(3, 3, seed=b"x")
    orders = schedule.groups(blocks, deals=2, duplicate=True, seed=b"x")
    for number, pairing in enumerate(schedule.pairings(orders, duplicate=True)):
        players = [LocalPlayer.of(load(("random", "cautious", "counter")[n])) for n in pairing.entrants]
        outcome = play(RULES, players, seed=schedule.group_seed(SECRET, pairing.group))
        about = {"match": f"t-{number}", "tournament": "t"}
        about |= {"group": pairing.group, "rotation": pairing.rotation}
        records.append({**outcome.record.as_json(), "about": about})
        match = {"id": f"t-{number}", "tournament_id": "t", "number": number, "stage": 1, "status": "done"}
        columns = zip(pairing.entrants, outcome.scores, outcome.places, outcome.exact_bids, strict=True)
        seats = [
            {"seat": seat, "entrant": n, "score": score, "place": place, "exact_bids": exact}
            | {"counted": score, "out": False, "faults": 0}
            | {key: entrants[n][key] for key in ("bot_id", "version")}
            for seat, (n, score, place, exact) in enumerate(columns)
        ]
        matches.append(match | {"group": pairing.group, "rotation": pairing.rotation, "seats": seats})
    return told, matches, records, summed(told, matches)


def summed(told: Told, matches: list[Told]) -> list[Told]:
    """The standings these matches come to."""
    results = [
        result_of(each["group"], (SimpleNamespace(**seat) for seat in each["seats"])) for each in matches
    ]
    played = folds.Played([Entrant(**each) for each in told["entrants"]], results, 3, True, 1, None)
    return [asdict(row) for row in folds.rows(played)]


def audited(
    change: Callable[[Told, list[Told], list[Told], list[Told]], object], **options: Any
) -> str | None:
    told, matches, records, standings = copy.deepcopy(honest())
    change(told, matches, records, standings)
    audit = Audit(told)
    if (wrong := audit.begin(**options)) is not None:
        return wrong
    for match, record in zip(matches, records, strict=False):
        if (wrong := audit.match(match, record)) is not None:
            return wrong
    return audit.end(standings)


def test_an_honest_tournament_has_no_discrepancy() -> None:
    assert audited(lambda *_: None) is None
    assert audited(lambda *_: None, promised=hashlib.sha256(SECRET).hexdigest().upper()) is None


def set_in(place: Any, *path: Any, to: Any) -> None:
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = to(place[path[-1]]) if callable(to) else to


def swap_seats(match: Told) -> None:
    first, second = match["seats"][:2]
    for key in ("entrant", "bot_id", "version"):
        first[key], second[key] = second[key], first[key]


CHANGES: dict[str, tuple[Callable[..., object], str]] = {
    "another secret": (lambda t, *_: t.update(secret="00" * 32), "secret: its SHA-256 is"),
    "a secret that is none": (lambda t, *_: t.update(secret="xyz"), "is not hexadecimal"),
    "no secret": (lambda t, *_: t.update(secret=None, status="running"), "this one is running"),
    "a match left out": (lambda t, m, r, s: (m.pop(2), r.pop(2)), "t-3: number: match 2 is missing"),
    "the last left out": (lambda t, m, r, s: (m.pop(), r.pop()), "5 are listed, 6 were planned"),
    "seats exchanged": (lambda t, m, *_: swap_seats(m[1]), "t-1: seats: not those of the other matches"),
    "another version": (lambda t, m, *_: set_in(m, 0, "seats", 0, "version", to=9), "t-0: seats[0]: not the"),
    "other cards": (lambda t, m, r, s: set_in(r, 4, "seed", to="00" * 32), "t-4: seed: '0000"),
    "another group's cards": (
        lambda t, m, r, s: set_in(r, 3, "about", "group", to=0), "t-3: seed: "),
    "another record": (lambda t, m, r, s: r.__setitem__(1, r[0]), "t-1: record.about.match: 't-0'"),
    "other rules": (
        lambda t, m, r, s: r[0]["rules"].update(secret_bids=True), "t-0: record.rules: "),
    "a move": (lambda t, m, r, s: set_in(r, 5, "rounds", 0, "moves", 0, to=lambda bid: 3 - bid), "t-5: "),
    "a score": (lambda t, m, r, s: set_in(r, 2, "scores", 0, to=lambda was: was + 1), "t-2: scores"),
    "a result": (
        lambda t, m, *_: set_in(m, 2, "seats", 1, "score", to=lambda was: was + 1), "t-2: seats[1].score: "),
    "what counts": (
        lambda t, m, *_: set_in(m, 2, "seats", 1, "counted", to=lambda was: was + 1), "[1].counted: "),
    "who was out": (lambda t, m, *_: set_in(m, 2, "seats", 1, "out", to=True), "t-2: seats[1].out: True"),
    "a place": (lambda t, m, *_: set_in(m, 2, "seats", 1, "place", to=9), "t-2: seats[1].place: 9"),
    "a sum": (lambda t, m, r, s: set_in(s, 1, "points", to=lambda was: was + 1), "has points "),
    "a count": (lambda t, m, r, s: set_in(s, 0, "matches", to=7), "has matches 7, by the records 6"),
    "a standing": (lambda t, m, r, s: set_in(s, 0, "place", to=2), "has place 2, by the records 1"),
    "a row": (lambda t, m, r, s: s.pop(), "has 0 rows"),
}  # fmt: skip


@pytest.mark.parametrize("what", CHANGES)
def test_what_was_changed_is_named(what: str) -> None:
    change, said = CHANGES[what]
    wrong = audited(change)
    assert wrong is not None
    assert said in wrong


def test_a_hash_noted_at_the_start_holds_against_one_exchanged_later() -> None:
    other = bytes(32)

    def exchange(told: Told, *_: object) -> None:
        told.update(secret=other.hex(), secret_hash=hashlib.sha256(other).hexdigest())

    noted = hashlib.sha256(SECRET).hexdigest()
    assert f"promised was {noted}" in str(audited(exchange, promised=noted))


def test_a_group_that_was_not_played_to_its_end_counts_for_nothing() -> None:
    told, matches, records, standings = copy.deepcopy(honest())
    audit = Audit(told)
    assert audit.begin() is None
    for number, (match, record) in enumerate(zip(matches, records, strict=True)):
        assert audit.match(match, None if number == 5 else record) is None
    assert (audit.matches, audit.groups) == (5, 2)
    assert "by the records" in str(audit.end(standings))
    half = summed(told, matches[:3])
    assert {row["matches"] for row in half} == {3}
    assert audit.end(half) is None


def test_the_documented_example_is_true() -> None:
    readme = (Path(service.__file__).parent / "README.md").read_text(encoding="utf-8")
    digest = hashlib.sha256(SECRET).hexdigest()
    seeds = [schedule.group_seed(SECRET, group) for group in (0, 7)]
    first = deal(seeds[1], 1, RuleSet.parse({"preset": "fundex"}, 4), 4).hands[0]
    cards = " ".join(NOTATION[card] for card in first)
    for told in (digest, *(seed.hex() for seed in seeds), cards, str(schedule.bot_seed(SECRET, 29, 3))):
        assert f"| {told} |" in readme
    assert secret_discrepancy(SECRET.hex(), digest) is None
    record = {"seed": seeds[1].hex(), "about": {"group": 7}}
    assert deal_discrepancy(record, SECRET) is None
    for about in (None, {}, {"group": -1}, {"group": "7"}, []):
        assert "about.group" in str(deal_discrepancy({**record, "about": about}, SECRET))
