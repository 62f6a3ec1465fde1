"""Fills an installation with authors, bots and played tournaments, by the service's own verbs.

    python -m loadtests.seed --data-dir DIR --bots 500 --matches 10000

Every match is really played, by the engine and without sandboxes: the bots' moves are drawn at random, better
bots bid with more care. So all that is computed from matches (standings, ratings, records, replays) is true.
Stop the service before, start it after: `rage up --data-dir DIR`.
"""

import argparse
import random
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path

from engine.cards import BID
from engine.match import Match
from engine.record import Record
from engine.rules import RuleSet
from engine.scoring import counted
from engine.table import Outcome
from loadtests import singly
from service import accounts, bots, house, refit, schema, tournaments, trials
from service.accounts import Account
from service.jobs import InlineQueue
from service.leases import Assignment
from service.settings import Settings
from service.sheet import Spent
from service.work import Arena

CODE = b"def bid(view):\n    return 0\n\n\ndef play(view):\n    return view['legal'][0]\n"
ENTRANTS = 42  # in each tournament
BOTS_EACH = 20  # of one author
STEP = 500  # matches between two words about it


def main(argv: Sequence[str]) -> None:
    """Fill and say how it goes."""
    told = read(argv)
    settings = Settings.from_environment({"RAGE_DATA_DIR": str(told.data_dir)})
    told.data_dir.mkdir(parents=True, exist_ok=True)
    settings = replace(settings, uploads_per_hour=1_000_000, max_bots=1_000_000, queued_matches=100_000_000)
    schema.migrate(settings)
    arena = Arena.open(settings, InlineQueue())
    try:
        fill(arena, told.bots, told.matches, random.Random(told.seed))
    finally:
        arena.close()


def read(argv: Sequence[str]) -> argparse.Namespace:
    """What is wanted."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data-dir", type=Path, required=True, help="as for rage up")
    parser.add_argument("--bots", type=int, default=500)
    parser.add_argument("--matches", type=int, default=10_000, help="at least so many")
    parser.add_argument("--seed", type=int, default=1, help="of all dice but the deals'")
    return parser.parse_args(argv)


def fill(arena: Arena, many: int, matches: int, dice: random.Random) -> None:
    """So many bots and at least so many matches, in tournaments of neighbours; ratings after each."""
    house.ensure(arena)
    skill = {bot_id: dice.random() for bot_id in submit(arena, many)}
    everyone, done, began = list(skill), 0, time.monotonic()
    owner, _ = accounts.register(arena, name=f"organiser {dice.randrange(10**6)}")
    for number in count():
        if done >= matches:
            break
        start = number * ENTRANTS * 4 // 5 % len(everyone)  # neighbours overlap, so that all can be compared
        entered = (everyone[start:] + everyone[:start])[:ENTRANTS]
        spec = {"name": f"Cup {number + 1}", "entrants": entered, "players": 4, "deals": 1}
        made = tournaments.create(arena, owner, spec)
        for played in play(arena, skill, dice):
            done += played
            if done % STEP == 0:
                say(f"{done} of {matches} matches, {time.monotonic() - began:.0f} s")
        refit.settle(arena, made.id)
    say(f"{len(everyone)} bots, {done} matches in {number} tournaments")


def submit(arena: Arena, many: int) -> Iterator[str]:
    """Ids of new bots, ready, each author with a few."""
    author: Account | None = None
    for number in range(many):
        if author is None or number % BOTS_EACH == 0:
            author, _ = accounts.register(arena, name=f"author {number // BOTS_EACH + 1}")
        made = bots.submit(arena, author, name=f"seeded {number + 1}", filename="bot.py", content=CODE)
        trial = trials.claim(arena, f"{made.id}:1")
        assert trial is not None
        trials.record_check(arena, trial, ready=True, report={"ready": True})
        yield made.id


def play(arena: Arena, skill: dict[str, float], dice: random.Random) -> Iterator[int]:
    """Plays all that waits; 1 for each match."""
    held = singly.claim(arena, "seed")
    while held is not None:
        outcome = one(held, [skill.get(each.partition(":")[0], 0.5) for each in held.versions], dice)
        spent = [Spent(dice.randrange(5, 400), dice.randrange(400, 2000), 9000) for _ in held.versions]
        _, held = singly.finish_and_claim(arena, held, outcome, spent, mode="A", worker="seed", more=True)
        yield 1


def one(held: Assignment, skills: Sequence[float], dice: random.Random) -> Outcome:
    """A match of random moves; who is good bids little, which is mostly right."""
    game = Match(RuleSet.parse(held.rules, len(skills)), len(skills), held.seed)
    while not game.over:
        asked, legal = game.round, game.legal()
        careful = asked.kind == BID and dice.random() < skills[asked.seat]
        game.advance(legal[min(1, len(legal) - 1)] if careful else dice.choice(legal))
    scores = game.scores()
    return Outcome(
        record=Record.of(game),
        scores=scores,
        counted=counted(scores, ()),
        places=game.places(),
        exact_bids=tuple(game.exact),
        faults=(),
        out=(),
    )


def say(words: str) -> None:
    """A line on standard error."""
    print(words, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
