"""The same as a view, told as news. `mirror` makes views of it again.

An event is an object with one key:

    {"round": {"round", "hand_size", "dealer", "hand", "trump", "trump_card", "scores"}}   a new round
    {"bid": [seat, bid]}              a bid this seat may know
    {"play": [seat, card]}            a card played, as called
    {"took": [winner, trump]}         the trick is over, judged by this trump (null: none)
    {"trump": [colour, card]}         trump now, and the card that lies face up (null: none)
    {"penalties": [...]}              this round's penalties as they stand now

Events tell exactly what the views of the same questions would: of several changes of trump between two
questions only the last, and of a round only what came before the seat's last question in it.
"""

from typing import Any, Final

from engine.cards import BID, NOTATION, PLAY, colour_text
from engine.match import Match
from engine.tape import FINED, TOOK, TURNED, Entry
from engine.view import round_start, trump_card

Mark = tuple[int, int]
"""How far a seat has been told: the round's number, and how much of its tape."""

NEVER: Final[Mark] = (0, 0)
"""Before the first round."""


def mark(match: Match) -> Mark:
    """Everything up to now."""
    return match.number, len(match.round.tape)


def events(match: Match, seat: int, since: Mark) -> list[dict[str, Any]]:
    """What `seat` may know now and did not at the mark."""
    number, told = since
    tape = match.round.tape
    if number != match.number:
        return [{"round": round_start(match, seat)}, *_decisions(match, seat, tape)]
    fresh = tape[told:]
    return _decisions(match, seat, fresh) + _standing(match, tape, told, fresh)


def _decisions(match: Match, seat: int, fresh: list[Entry]) -> list[dict[str, Any]]:
    """Bids, plays and tricks among new entries of the tape, as far as `seat` may know them."""
    secret = match.rules.secret_bids
    news: list[dict[str, Any]] = []
    for kind, who, what in fresh:
        if kind == PLAY:
            news.append({"play": [who, NOTATION[what]]})
        elif kind == TOOK:
            news.append({"took": [who, colour_text(what)]})
        elif kind == BID and (who == seat or not secret):
            news.append({"bid": [who, what]})
    return news


def _standing(match: Match, tape: list[Entry], told: int, fresh: list[Entry]) -> list[dict[str, Any]]:
    """Trump and penalties, if they are not what they were."""
    played = match.round
    kinds = {kind for kind, _, _ in fresh}
    news: list[dict[str, Any]] = []
    if TURNED in kinds:
        turns = [(at, entry) for at, entry in enumerate(tape) if entry[0] == TURNED]
        if [entry for at, entry in turns if at < told][-1] != turns[-1][1]:
            news.append({"trump": [colour_text(played.pile.colour), trump_card(played)]})
    if FINED in kinds:
        news.append({"penalties": played.penalties[:]})
    return news
