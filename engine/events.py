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

from typing import Final

from engine.cards import colour_text
from engine.match import Match
from engine.round import Round
from engine.tape import FINED, Event
from engine.view import round_start, trump_card

Mark = tuple[int, int]
"""How far a seat has been told: the round's number, and how much of its tape."""

NEVER: Final[Mark] = (0, 0)
"""Before the first round."""


def mark(match: Match) -> Mark:
    """Everything up to now."""
    return match.number, len(match.round.tape)


def events(match: Match, seat: int, since: Mark) -> list[Event]:
    """What `seat` may know now and did not at the mark. Read-only: all who are told share the events."""
    (number, told), played = since, match.round
    begins = number != match.number
    if begins:
        told = 0
    news = [each.told for each in played.tape[told:] if each.told is not None]
    if match.rules.secret_bids:
        news = [event for event in news if event.get("bid", [seat])[0] == seat]
    if begins:
        return [{"round": round_start(match, seat)}, *news]
    if played.trumps[-1][0] >= told:
        news += _trump_news(played, told)
    if not played.law.forced and any(each.kind == FINED for each in played.tape[told:]):
        news.append({"penalties": played.penalties[:]})
    return news


def _trump_news(played: Round, told: int) -> list[Event]:
    """Trump and the card face up, if they are not what they were at this place of the tape."""
    at = len(played.trumps) - 1
    while played.trumps[at][0] >= told:
        at -= 1
    _, colour, face = played.trumps[at]
    if (colour, face) == (played.pile.colour, played.pile.face):
        return []
    return [{"trump": [colour_text(played.pile.colour), trump_card(played)]}]
