"""The course of a round: the rules of play, as one coroutine that asks for moves.

The hot core. It yields the choices of the seat to decide and is sent a move, to the end of the round; what is
looked up often is a local variable here. The round itself is always kept up to date beside it, so that all
may read it between two moves, and a course can begin anywhere: in a copy, in the middle of a trick.
"""

from collections.abc import Generator
from typing import TYPE_CHECKING, Final

from engine.cards import (
    BID,
    CARD,
    CHALLENGE,
    COLOUR,
    FIRST_COLOUR,
    FIRST_WILD,
    NO,
    NO_COLOUR,
    OVER,
    PLAY,
    TRUMP,
    WILD,
    YES,
)
from engine.errors import IllegalMove
from engine.hand import ACTIONS, CALLS, Hand
from engine.tape import FINED
from engine.trick import POWER, best_card

if TYPE_CHECKING:
    from engine.law import Law
    from engine.round import Round

Course = Generator[list[int], int, None]

PENALTY: Final = -10

_ANSWERS: Final = [NO, YES]


def course(game: "Round") -> Course:
    """From wherever a round stands to its end: yields choices, is sent moves; the last choices are none."""
    hands: list[Hand] = game.hands
    law, tape, watched = game.law, game.tape, not game.law.forced
    while game.kind == BID:  # each seat once, from the dealer's left on
        seat = game.seat
        bid: int = yield game.choices
        tape.append(law.bid[seat][bid])
        game.bids[seat] = bid
        game.kind = BID if seat != game.dealer else PLAY
        game.seat = law.left[seat]
    while game.kind != OVER:  # trick by trick
        if game.kind != PLAY:
            yield from _asides(game)
        trick, lead, trump, winner = game.trick, game.lead, game.pile.colour, game.leader
        due, power, best, judged = law.due[lead], POWER[trump][lead], 0, not trick
        order: list[int] = law.orders[winner]
        for seat in order if judged else order[len(trick) :]:
            hand: Hand = hands[seat]
            moves = hand[due] or hand[NO_COLOUR]
            if hand[CALLS] and (due == NO_COLOUR or not hand[due] or law.any_time):
                moves = moves + hand[CALLS] if game.wilds_allowed else _without_wilds(moves, hand, law)
            game.seat, game.choices = seat, moves
            move: int = yield moves
            if move < FIRST_WILD:
                hand[NO_COLOUR].remove(move)  # first, so that a card not held leaves all as it was
                hand[move >> 4].remove(move)
                trick.append(move)
                tape.append(law.play[seat][move])
                if lead == NO_COLOUR:
                    game.lead = lead = move >> 4
                    due, power = law.due[lead], POWER[trump][lead]
                if watched:
                    yield from _asides(game)
            else:
                _act(game, hand, move)
                if game.kind == TRUMP:
                    _choose(game, (yield game.choices))
                if watched:
                    yield from _asides(game)
                lead = game.lead
                due, power = law.due[lead], POWER[trump][lead]
                judged = judged and trump == game.pile.colour and not law.last_wild
            if power[move] > best:
                best, winner = power[move], seat
        _take(game, winner if judged else _winner(game))
    yield game.choices
    raise IllegalMove("the round is over")


def _asides(game: "Round") -> Course:
    """What the last card brings with it: a Change's colour is asked, and under renege the others are."""
    if game.kind == TRUMP:
        _choose(game, (yield game.choices))
    if game.kind == PLAY and not game.law.forced:
        _watch(game, game.trick[-1])
    while game.kind == CHALLENGE:
        _answer(game, (yield game.choices))


def _without_wilds(cards: list[int], hand: Hand, law: "Law") -> list[int]:
    """The choices where a trick may hold one Wild only; who has nothing else plays one as nothing."""
    return cards + law.actions_after_wild[tuple(hand[ACTIONS])] or [WILD]


def _act(game: "Round", hand: Hand, move: int) -> None:
    """An action card goes from the hand to the trick, may lead, and has its effect."""
    law, card = game.law, CARD[move]
    actions = hand[ACTIONS][:]
    actions.remove(card)
    game.tape.append(law.play[game.seat][move])
    game.trick.append(move)
    hand[ACTIONS] = actions
    hand[CALLS] = law.actions[tuple(actions)] if actions else actions
    game.acted = True
    if game.lead == NO_COLOUR:
        game.lead = COLOUR[move]
    law.effects[card](game)


def _choose(game: "Round", move: int) -> None:
    """The colour of a Change."""
    game.aside(TRUMP, move)
    game.law.chosen(game, move - FIRST_COLOUR)
    game.kind, game.turn_due = PLAY, False
    game.trump_turned()


def _watch(game: "Round", move: int) -> None:
    """Ask the others about a card that does not follow an existing lead."""
    if game.lead in (NO_COLOUR, COLOUR[move]) or (move >= FIRST_WILD and game.law.any_time):
        return
    game.kind, game.choices = CHALLENGE, _ANSWERS
    game.seat = game.law.left[game.seat]


def _answer(game: "Round", move: int) -> None:
    """Whether a seat challenges the last card."""
    game.aside(CHALLENGE, move)
    player = (game.leader + len(game.trick) - 1) % game.players
    after = game.law.left[game.seat]
    if move == YES:
        _fine(game, player if game.hands[player][game.lead] else game.seat)
    if move == YES or after == player:
        game.kind = PLAY
    else:
        game.seat = after


def _fine(game: "Round", seat: int) -> None:
    for mate in game.law.mates[seat]:
        game.penalties[mate] += PENALTY
    game.aside(FINED)


def _winner(game: "Round") -> int:
    """Who takes the full trick."""
    turn = best_card(game.trick, game.pile.colour, game.lead, last_wild=game.law.last_wild)
    return (game.leader + turn) % game.players


def _take(game: "Round", winner: int) -> None:
    """The trick is full: who takes it leads the next."""
    game.taken[winner] += 1
    game.tricks.append((game.leader, game.trick, game.pile.colour, winner))
    game.tape.append(game.law.took[winner][game.pile.colour])
    game.leader = game.seat = winner
    game.lead = NO_COLOUR
    game.trick = []
    if game.acted:
        _clear(game, winner)
    if len(game.tricks) == game.hand_size:
        game.end()


def _clear(game: "Round", winner: int) -> None:
    """What action cards leave behind when their trick is over."""
    game.acted, game.wilds_allowed = False, True
    game.stakes[winner] += game.stake
    game.stake = 0
    if game.turn_due:
        game.turn_due = False
        game.pile.turn()
        game.trump_turned()
