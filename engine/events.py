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
from engine.tape import Event, Tape
from engine.view import round_start, trump_card

Mark = tuple[int, int]
"""How far a seat has been told: the round's number, and how much of its tape."""

NEVER: Final[Mark] = (0, 0)
"""Before the first round."""


def mark(match: Match) -> Mark:
    """Everything up to now."""
    return match.number, match.round.happened


def events(match: Match, seat: int, since: Mark) -> list[Event]:
    """What `seat` may know now and did not at the mark. Read-only: all who are told share the events."""
    return tell(match, seat, since)[0]


def tell(match: Match, seat: int, since: Mark) -> tuple[list[Event], Mark]:
    """`events` and `mark` in one."""
    tape, number, told = match.round.followed, match.number, since[1]
    now = (number, len(tape.news))
    if since[0] != number:
        return [{"round": round_start(match, seat)}, *_known(match, seat, tape.news)], now
    fresh = tape.news[told:]
    if tape.noted < told and not match.rules.secret_bids:
        return fresh, now  # type: ignore[return-value]  # no None is among them
    return _known(match, seat, fresh) + _standing(match, tape, told), now


def _known(match: Match, seat: int, news: list[Event | None]) -> list[Event]:
    """Bids, plays and tricks as far as `seat` may know them."""
    known = [event for event in news if event is not None]
    if match.rules.secret_bids:
        return [event for event in known if event.get("bid", [seat])[0] == seat]
    return known


def _standing(match: Match, tape: Tape, told: int) -> list[Event]:
    """Trump and penalties, if they are not what they were."""
    played, (turned, trump) = match.round, tape.turns[-1]
    news: list[Event] = []
    if turned >= told and [entry for at, entry in tape.turns if at < told][-1] != trump:
        news.append({"trump": [colour_text(played.pile.colour), trump_card(played)]})
    if tape.fine >= told:
        news.append({"penalties": played.penalties[:]})
    return news
