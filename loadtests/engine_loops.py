"""What the engine is timed at: each a `Play`, done so many times."""

from collections.abc import Callable, Sequence
from random import Random

from engine.deal import Deal
from engine.events import NEVER, events, mark
from engine.knowledge import Knowledge
from engine.law import law
from engine.match import Match
from engine.record import Record
from engine.round import Round
from engine.rules import PRESETS, RuleSet
from engine.sampling import Sampler, rollout
from engine.table import LocalPlayer, Player, Question, play
from engine.view import view
from loadtests.peers import Play


def stepped(preset: str = "fundex", players: int = 4, *, rules: RuleSet | None = None) -> Play:
    """Whole matches, each decision drawn uniformly from its choices, by one call of `turns`."""
    rule_set, draw, seeds = rules or PRESETS[preset], Random(1).random, Random(2)

    def run(count: int) -> int:
        decisions = 0
        for _ in range(count):
            match = Match(rule_set, players, seeds.randbytes(32))
            for _ in match.rounds:
                moves, send = match.legal(), match.round.turns()
                while moves:
                    moves = send(moves[int(draw() * len(moves))])
                    decisions += 1
                match.settle()
        return decisions

    return run


def stepped_from_deals() -> Play:
    """The same of deals drawn beforehand, as OpenSpiel's best loop has them."""
    rules, draw, seeds = law(PRESETS["fundex"], 4), Random(1).random, Random(2)
    matches = []
    for _ in range(30):
        seed = seeds.randbytes(32)
        whole = [rules.shuffler.first(seed, number, rules.shuffler.size) for number in range(1, 11)]
        matches.append(list(zip(rules.rounds, whole, strict=True)))

    def run(count: int) -> int:
        decisions = 0
        for number in range(count):
            for dealer, (size, deck) in enumerate(matches[number % 30]):
                played = Round.of(rules, dealer % 4, Deal(rules.shuffler, deck, size, 4))
                moves, send = played.legal(), played.turns()
                while moves:
                    moves = send(moves[int(draw() * len(moves))])
                    decisions += 1
                played.scores()
        return decisions

    return run


def observed(*, events_too: bool = True) -> Play:
    """The same, telling each seat its news at every question, and packing a record."""
    rule_set, draw, seeds = PRESETS["fundex"], Random(1).random, Random(2)

    def run(count: int) -> int:
        decisions = 0
        for _ in range(count):
            match = Match(rule_set, 4, seeds.randbytes(32))
            told = [NEVER] * 4
            for _ in match.rounds:
                played, moves, send = match.round, match.legal(), match.round.turns()
                while moves:
                    if events_too:
                        seat = played.seat
                        events(match, seat, told[seat])
                        told[seat] = mark(match)
                    moves = send(moves[int(draw() * len(moves))])
                    decisions += 1
                match.settle()
            Record.of(match).pack()
        return decisions

    return run


class Watcher:
    """Takes in its news and answers at once."""

    def start(self, start: object) -> None:
        """Nothing to prepare."""

    def ask(self, question: Question) -> object:
        """The first choice, after the news."""
        return question.events and question.legal[0]

    def end(self, result: object) -> None:
        """Nothing to learn."""

    def stop(self) -> None:
        """Nothing to end."""


def tabled(players: Callable[[], Sequence[Player]]) -> Play:
    """Matches at a table in this process: observed, answers checked, recorded, packed."""
    seeds = Random(2)

    def run(count: int) -> int:
        decisions = 0
        for _ in range(count):
            record = play(PRESETS["fundex"], players(), seed=seeds.randbytes(32)).record
            decisions += len(record.moves)
            record.pack()
        return decisions

    return run


def watchers() -> list[Player]:
    """Four who follow the news."""
    return [Watcher() for _ in range(4)]


def authors() -> list[Player]:
    """Four functions that are handed full views."""
    return [LocalPlayer(bid=lambda view: 0, play=lambda view: view["legal"][0]) for _ in range(4)]


def half_played(number: int = 0) -> Match:
    """A first round with five of ten tricks played."""
    match, dice = Match(PRESETS["fundex"], 4, bytes([number]) * 32), Random(number)
    while len(match.round.tricks) < 5 or match.round.trick:
        match.advance(dice.choice(match.legal()))
    return match


def searched() -> Play:
    """Worlds sampled at half-played rounds of ten tricks and played to their ends; one is a decision."""
    samplers, dice = [], Random(3)
    for number in range(20):
        match = half_played(number)
        shown = view(match, match.round.seat) | {"legal": match.choices()}
        samplers.append(Sampler(Knowledge(match.rules, shown)))

    def run(count: int) -> int:
        for number in range(count):
            rollout(samplers[number % 20].sample(dice), dice)
        return count

    return run


def cloned() -> Play:
    """Copies of a half-played round."""
    clone = half_played().round.clone

    def run(count: int) -> int:
        for _ in range(count):
            clone()
        return count

    return run
