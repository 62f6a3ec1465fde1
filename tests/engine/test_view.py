"""A seat is told all it may know and nothing else, in views and in events alike."""

import json
from random import Random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from engine.cards import KINDS, NOTATION, PLAY
from engine.events import NEVER, Mark, events, mark
from engine.hand import sorted_hand
from engine.match import Match
from engine.mirror import Mirror
from engine.rules import PRESETS, RuleSet
from engine.view import pile, view

KEYS = {
    *("round", "rounds", "hand_size", "players", "seat", "dealer", "hand", "trump", "trump_card", "bids"),
    *("taken", "scores", "penalties", "leader", "lead", "trick", "tricks", "teams"),
}


def started(spec: dict[str, Any], players: int, seed: int = 7) -> Match:
    return Match(RuleSet.parse(spec), players, Random(seed).randbytes(32))


def another_world(match: Match, seat: int, dice: Random) -> Match:
    """The same to `seat`: what it has not seen lies elsewhere, and what others bid in secret is other."""
    twin = match.clone()
    twin.seed = dice.randbytes(32)
    played = twin.round
    others = [other for other in range(match.players) if other != seat]
    hidden = [card for other in others for card in played.held(other)]
    kept = len(played.pile.cards) if seat == played.seat and played.sees_pile else int(played.pile.shown)
    hidden += played.pile.cards[kept:]
    dice.shuffle(hidden)
    for other in others:
        size = len(played.held(other))
        played.hands[other], hidden = sorted_hand(hidden[:size], played.law.actions), hidden[size:]
    played.pile.cards = played.pile.cards[:kept] + hidden
    if match.rules.secret_bids:
        for at, event in enumerate(played.tape):
            bidder, bid = event.get("bid", (seat, 0))
            if bidder != seat:
                played.bids[bidder] = (bid + 1) % (played.hand_size + 1)
                played.tape[at] = {"bid": [bidder, played.bids[bidder]]}
    return twin


def told(match: Match, seat: int, since: Mark) -> list[Any]:
    """Everything a question tells."""
    asked = [pile(match), match.choices()] if seat == match.round.seat else []
    return [view(match, seat), events(match, seat, since), events(match, seat, NEVER), *asked]


def diff(before: dict[str, Any] | None, after: dict[str, Any]) -> list[dict[str, Any]]:
    """The events between two views, from nothing but the views."""
    if before is None or before["round"] != after["round"]:
        start = ("round", "hand_size", "dealer", "hand", "trump", "trump_card", "scores")
        return [{"round": {key: after[key] for key in start}}, *happened(after)]
    news = happened(after)[len(happened(before)) :]
    if (before["trump"], before["trump_card"]) != (after["trump"], after["trump_card"]):
        news.append({"trump": [after["trump"], after["trump_card"]]})
    if before["penalties"] != after["penalties"]:
        news.append({"penalties": after["penalties"]})
    return news


def happened(seen: dict[str, Any]) -> list[dict[str, Any]]:
    players = seen["players"]
    turns = [(seen["dealer"] + 1 + turn) % players for turn in range(players)]
    news: list[dict[str, Any]] = [
        {"bid": [seat, seen["bids"][seat]]} for seat in turns if seen["bids"][seat] is not None
    ]
    for trick in seen["tricks"]:
        news += plays(trick["leader"], trick["cards"], players)
        news.append({"took": [trick["winner"], trick["trump"]]})
    return news + plays(seen["leader"], seen["trick"], players)


def plays(leader: int, cards: list[str], players: int) -> list[dict[str, Any]]:
    return [{"play": [(leader + turn) % players, card]} for turn, card in enumerate(cards)]


@given(data=st.data())
def test_worlds_that_differ_only_in_what_is_hidden_look_the_same(data, games, random_move):
    match, dice = data.draw(games)
    marks = [NEVER] * match.players
    while not match.over:
        for seat in range(match.players):
            twin = another_world(match, seat, dice)
            assert told(twin, seat, marks[seat]) == told(match, seat, marks[seat])
            if dice.random() < 0.2:
                marks[seat] = mark(match)
        match.advance(random_move(match, dice))


@given(data=st.data())
def test_a_mirror_told_the_events_shows_the_view(data, games, random_move):
    match, dice = data.draw(games)
    rules = match.rules.as_dict()
    mirrors = [
        Mirror({"seat": seat, "players": match.players, "rules": rules}) for seat in range(match.players)
    ]
    marks = [NEVER] * match.players
    while not match.over:
        seat = match.round.seat
        mirrors[seat].tell(events(match, seat, marks[seat]))
        marks[seat] = mark(match)
        assert mirrors[seat].view() == view(match, seat)
        match.advance(random_move(match, dice))


@given(data=st.data())
def test_events_tell_what_the_two_views_tell_and_no_more(data, games, random_move):
    match, dice = data.draw(games)
    marks, seen = [NEVER] * match.players, [None] * match.players
    while not match.over:
        seat = match.round.seat
        now = view(match, seat)
        assert events(match, seat, marks[seat]) == diff(seen[seat], now)
        marks[seat], seen[seat] = mark(match), now
        match.advance(random_move(match, dice))


@given(data=st.data())
def test_a_view_has_its_keys_and_belongs_to_its_reader(data, games):
    match, _ = data.draw(games)
    shown = view(match, 0)
    assert set(shown) == KEYS
    for value in shown.values():
        if isinstance(value, list):
            value.append("scribbled")
    assert "scribbled" not in str(view(match, 0))


def test_secret_bids_show_only_ones_own():
    match = started({"preset": "fundex", "secret_bids": True}, 3)
    for bid in (4, 2, 1):
        match.apply(bid)
    assert view(match, 1)["bids"] == [None, 2, None]
    assert view(match, 0)["bids"] == [4, None, None]


def test_open_bids_show_as_they_are_made():
    match = started({"preset": "fundex"}, 3)
    match.apply(4)
    assert view(match, 2)["bids"] == [4, None, None]


def test_the_pile_shows_only_to_a_player_who_searches_it():
    for name, shown in (("fundex", True), ("korean", True), ("wikipedia", False)):
        match, dice, seen = started({"preset": name}, 4), Random(3), 0
        while not match.over:
            asked = KINDS[match.round.kind]
            expected = [NOTATION[card] for card in match.round.pile.cards] if asked == "trump" else None
            assert pile(match) == (expected if shown else None)
            seen += asked == "trump"
            legal = match.legal()
            match.advance(207 if 207 in legal and match.round.kind == PLAY else dice.choice(legal))
        assert seen


def test_teams_are_shown_as_seats():
    match = started({"preset": "amigo", "teams": "2+2+2"}, 6)
    assert view(match, 4)["teams"] == [[0, 3], [1, 4], [2, 5]]
    assert view(started({"preset": "amigo"}, 6), 4)["teams"] is None


def test_a_question_in_events_is_short():
    """A play of ten cards among four, told as news, stays well under a view's size."""
    match, dice = Match(PRESETS["fundex"], 4, bytes(32)), Random(1)
    marks, sizes, full = [NEVER] * 4, [], []
    while not match.over:
        seat = match.round.seat
        sizes.append(len(json.dumps(events(match, seat, marks[seat]), separators=(",", ":"))))
        full.append(len(json.dumps(view(match, seat), separators=(",", ":"))))
        marks[seat] = mark(match)
        match.advance(dice.choice(match.legal()))
    assert sum(sizes) / len(sizes) < 150 < sum(full) / len(full)
