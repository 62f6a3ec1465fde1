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
from engine.tape import FINED, TURNED, Event
from engine.view import round_start, trump_card

Mark = tuple[int, int, int]
"""How far a seat has been told: the round's number, how much of its tape, and how many of its asides."""

NEVER: Final[Mark] = (0, 0, 0)
"""Before the first round."""


def mark(match: Match) -> Mark:
    """Everything up to now."""
    played = match.round
    return match.number, len(played.tape), len(played.asides)


def events(match: Match, seat: int, since: Mark) -> list[Event]:
    """What `seat` may know now and did not at the mark. Read-only: all who are told share the events."""
    (number, told, asides), played = since, match.round
    begins = number != match.number
    news = played.tape[0 if begins else told :]
    if played.law.secret_bids:
        news = [event for event in news if event.get("bid", [seat])[0] == seat]
    if begins:
        return [{"round": round_start(match, seat)}, *news]
    if len(played.asides) > asides:
        news += _of_asides(played, [kind for kind, _, _ in played.asides[asides:]])
    return news


def _of_asides(played: Round, kinds: list[int]) -> list[Event]:
    """Trump and the card face up, if these asides have changed them, and penalties if they are new."""
    news: list[Event] = []
    now = played.pile.colour, played.pile.face
    if played.trumps[-1 - kinds.count(TURNED)] != now:
        news.append({"trump": [colour_text(now[0]), trump_card(played)]})
    if FINED in kinds:
        news.append({"penalties": played.penalties[:]})
    return news
