"""The table: what a bot does wrong costs the bot, and nobody else."""

from collections.abc import Mapping
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.bots import NAMES, load
from engine.rules import PRESETS, RuleSet
from engine.table import FaultKind, LocalPlayer, Outcome, PlayerFault, Question, play

SEED = bytes(range(32))
SHORT = RuleSet.parse({"preset": "fundex", "hand_sizes": [3, 2]})


def first(view: dict[str, Any]) -> object:
    return view["legal"][0]


def steady() -> LocalPlayer:
    return LocalPlayer(bid=first, play=first)


class Watched:
    """A player that keeps what it is told, and answers with `answer(question)`."""

    def __init__(
        self, answer: Any = lambda question: question.legal[0], start: Exception | None = None
    ) -> None:
        self.answer = answer
        self.failing = start
        self.told: list[str] = []
        self.seen: list[Any] = []

    def start(self, start: Mapping[str, Any]) -> None:
        self.told.append("start")
        self.seen.append(start)
        if self.failing:
            raise self.failing

    def ask(self, question: Question) -> object:
        self.told.append(question.kind)
        return self.answer(question)

    def end(self, result: Mapping[str, Any]) -> None:
        self.told.append("end")
        self.seen.append(result)

    def stop(self) -> None:
        self.told.append("stop")


def meet(*players: Any, rules: RuleSet = SHORT, **options: Any) -> Outcome:
    return play(rules, players, seed=SEED, **options)


def plays_out(view: dict[str, Any]) -> object:
    return "R99"


WRONG = [
    *(("bid", value) for value in (True, 2.0, "1", -1, 4, None, [1], {"move": 1})),
    *(("play", value) for value in (0, "r4", "WILD", None, True, ["R4"], {"move": "R4"})),
]


@pytest.mark.parametrize(("kind", "value"), WRONG)
def test_an_answer_that_is_not_exactly_legal_is_a_fault_and_the_default_is_played(kind, value):
    wrong = Watched(lambda question: value if question.kind == kind else question.legal[0])
    outcome = meet(wrong, steady(), steady())
    reference = meet(steady(), steady(), steady())
    assert {(fault.seat, fault.kind, fault.asked) for fault in outcome.faults} == {
        (0, FaultKind.ILLEGAL, kind)
    }
    assert outcome.record.moves == reference.record.moves
    assert outcome.faults[0].evidence["legal"]
    assert outcome.faults[0].as_dict()["evidence"]["answer"]


@pytest.mark.parametrize("value", [0, 1, "false", None])
def test_a_challenge_is_answered_with_a_boolean(value):
    rules = RuleSet.parse({"preset": "challenge", "hand_sizes": [6]})
    wrong = Watched(lambda question: value if question.kind == "challenge" else question.legal[0])
    faults = meet(wrong, steady(), steady(), rules=rules).faults
    assert {fault.asked for fault in faults} == {"challenge"}


def test_three_strikes_and_the_seat_is_out_and_plays_defaults():
    wrong = Watched(lambda question: "nonsense")
    outcome = meet(steady(), wrong, steady())
    assert [fault.out for fault in outcome.faults] == [False, False, True]
    assert outcome.out == (1,)
    assert outcome.places[1] == 3
    assert wrong.told == ["start", "bid", "play", "play", "stop"]
    assert outcome.record.out == (1,)
    first_fault = outcome.faults[0]
    assert (first_fault.round, first_fault.trick, first_fault.decision) == (1, 0, 1)
    assert (outcome.faults[1].trick, outcome.faults[1].decision) == (1, 2)


def test_a_fault_that_ends_a_bot_puts_it_out_at_once():
    def crash(question: Question) -> object:
        raise PlayerFault(FaultKind.CRASH, "exit status 1", out=True, evidence={"status": 1})

    outcome = meet(Watched(crash), steady())
    assert [fault.as_dict() for fault in outcome.faults] == [
        {
            "seat": 0,
            "kind": "crash",
            "round": 1,
            "trick": 0,
            "decision": 1,
            "asked": "bid",
            "text": "exit status 1",
            "out": True,
            "evidence": {"status": 1},
        }
    ]
    assert outcome.places == (2, 1)


def test_a_bot_that_does_not_start_is_out_before_the_first_deal():
    dead = Watched(start=PlayerFault(FaultKind.START, "no module named x", out=True))
    outcome = meet(steady(), dead, steady())
    assert dead.told == ["start", "stop"]
    fault = outcome.faults[0]
    assert (fault.kind, fault.asked, fault.round, fault.decision) == (FaultKind.START, "start", 0, 0)
    assert outcome.out == (1,)


def test_who_is_out_counts_at_most_the_lowest_of_those_who_stayed_and_ranks_last_in_order():
    dead = [Watched(start=PlayerFault(FaultKind.START, "no", out=True)) for _ in range(2)]
    outcome = meet(dead[0], steady(), dead[1], steady())
    lowest = min(outcome.scores[1], outcome.scores[3])
    assert outcome.counted[0] == min(outcome.scores[0], lowest)
    assert outcome.counted[1] == outcome.scores[1]
    assert (outcome.places[0], outcome.places[2]) == (4, 3)


def test_a_match_goes_on_when_everybody_is_out():
    dead = [Watched(start=PlayerFault(FaultKind.START, "no", out=True)) for _ in range(3)]
    outcome = meet(*dead)
    assert outcome.places == (3, 2, 1)
    assert outcome.counted == outcome.scores


def test_another_exception_is_ours_and_every_started_player_is_stopped_once():
    def ours(question: Question) -> object:
        raise OSError("no pipe")

    players = [Watched(), Watched(ours), Watched(start=PlayerFault(FaultKind.START, "no", out=True))]
    with pytest.raises(OSError, match="no pipe"):
        meet(*players)
    assert [player.told.count("stop") for player in players] == [1, 1, 1]
    assert all("end" not in player.told for player in players)


def test_a_start_that_is_our_fault_stops_those_who_were_started():
    players = [Watched(), Watched(start=OSError("no sandbox")), Watched()]
    with pytest.raises(OSError, match="no sandbox"):
        meet(*players)
    assert [player.told for player in players] == [["start", "stop"], ["start", "stop"], []]


def test_stopping_goes_on_when_one_cannot_be_stopped():
    class Stuck(Watched):
        def stop(self) -> None:
            super().stop()
            raise OSError("stuck")

    players = [Watched(), Stuck(), Watched()]
    with pytest.raises(OSError, match="stuck"):
        meet(*players)
    assert [player.told[-1] for player in players] == ["stop"] * 3


def test_players_are_told_the_start_and_the_end():
    players = [Watched(), Watched()]
    outcome = meet(*players, limits={"decision_ms": 1000}, bot_seeds=[11, 22])
    assert players[1].seen == [
        {"seat": 1, "players": 2, "rules": SHORT.as_dict(), "limits": {"decision_ms": 1000}, "seed": 22},
        {"scores": list(outcome.scores), "places": list(outcome.places)},
    ]
    assert [told for told in players[1].told if told != "play"] == ["start", "bid", "bid", "end", "stop"]


def test_rounds_are_reported_as_they_finish():
    seen: list[tuple[int, int]] = []
    meet(steady(), steady(), on_round=lambda finished, rounds: seen.append((finished, rounds)))
    assert seen == [(1, 2), (2, 2)]


def test_an_author_sees_the_choices_in_the_view_and_the_pile_when_searching():
    seen: dict[str, dict[str, Any]] = {}

    def keep(kind: str) -> Any:
        return lambda view: seen.setdefault(kind, view)["legal"] and view["legal"][-1]

    rules = RuleSet.parse({"preset": "fundex", "deck": {"change": 8}, "hand_sizes": [8, 8, 8]})
    meet(
        *(LocalPlayer(bid=keep("bid"), play=keep("play"), choose_trump=keep("trump")) for _ in range(2)),
        rules=rules,
    )
    assert set(seen) == {"bid", "play", "trump"}
    assert "pile" not in seen["play"]
    assert len(seen["trump"]["pile"]) > 50


def test_without_functions_for_them_the_most_held_colour_is_chosen_and_nobody_is_challenged():
    from engine.author import most_held_colour, never

    view = {"hand": ["R1", "B2", "B3", "BONUS", "BONUS", "BONUS"], "legal": ["R", "O", "B"]}
    assert most_held_colour(view) == "B"
    assert most_held_colour({"hand": ["BONUS"], "legal": ["R", "O"]}) == "R"
    assert never(view) is False


def test_a_module_a_class_and_an_object_are_all_bots():
    class Bot:
        def bid(self, view: dict[str, Any]) -> object:
            return first(view)

        play = bid

    class Module:
        pass

    module = Module()
    module.Bot = Bot  # type: ignore[attr-defined]
    expected = meet(steady(), steady()).record
    for code in (Bot, Bot(), module):
        assert meet(LocalPlayer.of(code), LocalPlayer.of(code)).record == expected


def test_code_without_a_bot_is_refused_by_what_it_lacks():
    from engine.author import Author, AuthorError

    class Half:
        def bid(self, view: dict[str, Any]) -> object:
            return 0

    with pytest.raises(AuthorError, match="play"):
        Author.of(Half)


@settings(max_examples=25)  # whole matches, some of them of many thinkers
@given(data=st.data(), seed=st.integers(0, 2**32))
def test_house_bots_play_any_rules_without_a_fault(data, seed, rule_sets):
    rules, players = data.draw(rule_sets)
    bots = [LocalPlayer.of(load(NAMES[(seed + seat) % len(NAMES)])) for seat in range(players)]
    outcome = play(rules, bots, seed=Random(seed).randbytes(32), bot_seeds=range(players))
    assert outcome.faults == ()
    assert outcome.record.replay().scores() == outcome.scores


@pytest.mark.parametrize("preset", sorted(PRESETS))
def test_the_same_seeds_give_the_same_match(preset):
    def once() -> Outcome:
        bots = [LocalPlayer.of(load(name)) for name in NAMES[:3]]  # the fourth looks at the clock
        return play(PRESETS[preset], bots, seed=SEED, bot_seeds=[1, 2, 3])

    assert once().record == once().record


SECRET = RuleSet.parse({"preset": "fundex", "hand_sizes": [3, 2], "secret_bids": True})


def answers_of(players: list[Any], seen: list[list[int]]) -> Any:
    """Asks the last bidder first, and shows every question to all its player is."""

    def ask_all(questions: Any) -> list[object]:
        seen.append([question.seat for question in questions])
        answered: dict[int, object] = {}
        for question in reversed(questions):
            try:
                answered[question.seat] = players[question.seat].ask(question)
            except PlayerFault as fault:
                answered[question.seat] = fault
        return [answered[question.seat] for question in questions]

    return ask_all


@given(seed=st.binary(min_size=32, max_size=32), seats=st.integers(2, 5), data=st.data())
def test_secret_bids_asked_at_once_are_those_asked_one_by_one(seed, seats, data) -> None:
    told: list[list[Any]] = []
    wrong = data.draw(st.sets(st.tuples(st.integers(0, seats - 1), st.integers(1, 4))))

    def seated() -> list[Any]:
        questions: list[Any] = []
        told.append(questions)

        def answer(question: Question) -> object:
            questions.append((question.seat, question.number, question.kind, question.view, question.events))
            if (question.seat, question.number) in wrong:
                raise PlayerFault(FaultKind.CRASH, "gone", out=question.number > 2)
            return question.legal[-1]

        return [Watched(answer) for _ in range(seats)]

    groups: list[list[int]] = []
    players = seated()
    together = play(SECRET, players, seed=seed, ask_all=answers_of(players, groups))
    assert together == play(SECRET, seated(), seed=seed)
    assert sorted(told[0], key=str) == sorted(told[1], key=str)
    assert len(groups) == 2 and set(groups[0]) == set(range(seats))


def test_open_bids_are_asked_one_by_one_for_each_may_answer_those_before() -> None:
    groups: list[list[int]] = []
    players = [Watched() for _ in range(3)]
    play(SHORT, players, seed=SEED, ask_all=answers_of(players, groups))
    assert groups == []
