"""What a seat may know, as the JSON that bots are told: its own hand and all that lies open, nothing else.

No other hand, no pile, no seed; with secret bids no other seat's bid.
"""

from typing import Any

from engine.cards import NOTATION, colour_text
from engine.match import Match
from engine.referee import trick_as_dict
from engine.round import Round


def view(match: Match, seat: int) -> dict[str, Any]:
    """The view of `seat`: fresh JSON values, the caller's to keep or change.

    `scores` are the totals of the finished rounds, their penalties included; `penalties` are this round's.
    `trump_card` is the card that lies face up on the pile. Hands are in the order of `legal`.
    """
    played = match.round
    return {
        **round_start(match, seat),
        "rounds": len(match.rounds),
        "players": match.players,
        "seat": seat,
        "bids": [_shown_bid(played, seat, other) for other in range(match.players)],
        "taken": played.taken[:],
        "penalties": played.penalties[:],
        "leader": played.leader,
        "lead": colour_text(played.lead),
        "trick": [NOTATION[card] for card in played.trick],
        "tricks": [trick_as_dict(trick) for trick in played.tricks],
        "teams": teams(match),
    }


def round_start(match: Match, seat: int) -> dict[str, Any]:
    """The part of a view that a new round sets."""
    played = match.round
    return {
        "round": match.number,
        "hand_size": played.hand_size,
        "dealer": played.dealer,
        "hand": [NOTATION[card] for card in played.held(seat)],
        "trump": colour_text(played.pile.colour),
        "trump_card": trump_card(played),
        "scores": match.totals[:],
    }


def trump_card(played: Round) -> str | None:
    """The card that lies face up on the pile, if any."""
    face = played.pile.face
    return None if face < 0 else NOTATION[face]


def pile(match: Match) -> list[str] | None:
    """The pile, top first, where the seat to decide may look through it now: at a search."""
    played = match.round
    if not played.sees_pile:
        return None
    return [NOTATION[card] for card in played.pile.cards]


def teams(match: Match) -> list[list[int]] | None:
    """The seats of each team, or None."""
    named = match.rules.teams
    return [list(team) for team in named.seats] if named else None


def _shown_bid(played: Round, seat: int, other: int) -> int | None:
    hidden = other != seat and played.law.secret_bids
    return None if hidden or played.bids[other] < 0 else played.bids[other]
