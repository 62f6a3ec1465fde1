"""Shapes of what follows from a tournament's matches: who stands where, who did what to whom, was it fair."""

from api.schemas.fields import (
    Answer,
    Schema,
    choice,
    flag,
    many,
    number,
    numbers,
    objects,
    one_of,
    text,
    whole,
)
from api.schemas.tournaments import ENTRANT, ENTRANT_STATUSES


class FormatQuery(Schema):
    """JSON or a table for a spreadsheet."""

    format = one_of(("json", "csv"), "csv: a table for a spreadsheet", load_default="json")


class StandingAnswer(Answer):
    """A line of the standings."""

    place = whole(
        "1 is best; equals share one. Round robin: by points; knockout: by how far it came; else by points a "
        "match. Who has left comes after all others",
        1,
    )
    entrant = whole("its number", 0)
    bot_id = text("which bot", ENTRANT)
    version = whole("which version", 3, null=True)
    name = text("the bot's name", "spy")
    points = whole("points in all", 4210)
    average = number("points a match", 52.6)
    wins = whole("matches won, shared first places too", 31)
    exact_bids = whole("bids made exactly", 402)
    bid_accuracy = number("share of its bids made exactly; null before the first", 0.503, null=True)
    faults = whole("faults in these matches", 0)
    outs = whole("matches it was out of before the end", 0)
    matches = whole("matches that count: those of whole deal groups", 80)
    places = numbers("how often it came first, second, and so on", (31, 22, 17, 10))
    dealt = number(
        "points a match that the average holder of the same cards took; null without duplicate deals",
        50.1,
        null=True,
    )
    earned = number("points a match it took over that: average = dealt + earned", 2.5, null=True)
    swing = number("points by which the cards moved a single match; cancelled over a group", 13.9, null=True)
    status = choice("in, or left, or a house bot that fills", (*ENTRANT_STATUSES, "filler"))


class CheckAnswer(Answer):
    """One test of what should make no difference."""

    name = text("seat, dealer, worker faults, worker scores, or company: two that help each other", "seat")
    p = number(
        "how likely chance alone looks so uneven; null where there was too little to test", 0.34, null=True
    )
    adjusted = number("the same, corrected for the number of checks (Holm)", 0.8, null=True)
    found = flag("whether that is at or below the level", False)
    levelled = flag("whether the schedule evens it out, everybody being equally often in each seat", True)
    alarm = flag("found, and not evened out", False)
    effect = number("how large it is: points a match, or faults", 0.8, null=True)
    text = text("in words", "seat 2 did best; between the best and the worst seat lie 0.8 points a match")
    detail = objects("the numbers behind it")


class FairnessAnswer(Answer):
    """Whether a tournament was fair."""

    tournament_id = text("which", "t_k4m2xw9tq7bn")
    level = number("how often anything is found where nothing makes a difference", 0.01)
    matches = whole("matches looked at: those of whole deal groups", 480)
    groups = whole("deals", 120)
    alarm = flag("whether any check gives alarm", False)
    checks = many(CheckAnswer, "what was tested")


class PairAnswer(Answer):
    """What two entrants did to each other."""

    a = whole("an entrant's number", 0)
    b = whole("another's", 1)
    a_name = text("its bot", "spy")
    b_name = text("the other's bot", "counter")
    games = whole("matches together", 80)
    difference = number("average of a's points minus b's; null before they met", 4.2, null=True)
    wins_a = whole("matches a ended above b", 46)
    wins_b = whole("matches b ended above a", 31)
    ties = whole("matches they were level", 3)
