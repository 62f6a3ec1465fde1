"""Who meets whom: a round robin's tables block by block, the matches and deal groups made of them, seeds.

Pure and the same everywhere: all choices come from SHAKE-256 (`service.design.Dice`) and HMAC-SHA-256.
"""

import hmac
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from math import comb

from service.design import Dice, Order, design, developed, even, seated


@dataclass(frozen=True, slots=True)
class Table:
    """Entrants (numbers from 0) who play together, in the seat order of rotation 0."""

    entrants: Order


@dataclass(frozen=True, slots=True)
class Pairing:
    """One match, entrants in seat order; all matches of a `group` are dealt the same cards."""

    group: int
    rotation: int
    entrants: Order


def round_robin(
    entrants: int, seats: int, *, meetings: int = 1, seed: bytes, bases: Sequence[Order] | None = None
) -> list[list[Table]]:
    """Blocks of tables of `seats`: each pair meets `meetings` times or more, no two pairs' counts 2 apart.

    After every block each entrant has played equally often, and equally often in each seat; only the last
    block may leave an entrant's seats one apart (see `design`; for two seats and an even number it must).
    The design depends on the three numbers alone, or is made of the `bases` found for them before; the seed
    says who is who in it and shuffles the order.
    Raises ValueError for fewer entrants than seats, fewer than two seats or no meeting.
    """
    if seats < 2 or meetings < 1:
        raise ValueError(f"{seats} seats and {meetings} meetings: at least 2 seats and 1 meeting are needed")
    if entrants < seats:
        raise ValueError(f"a table of {seats} needs at least {seats} entrants, there are {entrants}")
    dice = Dice(b"schedule", seed)
    names = dice.shuffled(range(entrants))
    made = developed(bases, entrants) if bases else design(entrants, seats, meetings)
    blocks = sorted(dice.shuffled(made), key=even, reverse=True)
    return [[Table(tuple(names[x] for x in order)) for order in dice.shuffled(block)] for block in blocks]


def tables(entrants: int, seats: int, meetings: int, bases: Sequence[Order] | None) -> int:
    """How many tables a round robin of these base blocks has; without any: of all there are."""
    if bases:
        return len(bases) * entrants
    return -(-meetings // comb(entrants - 2, seats - 2)) * comb(entrants, seats)


def groups(blocks: Sequence[Sequence[Table]], *, deals: int, duplicate: bool, seed: bytes) -> Iterator[Order]:
    """The order of seats of every deal group of `deals` passes through the blocks; one a table and pass.

    `duplicate`: a fresh random order; the rotations (`pairings`) seat everyone once in each seat, whatever it
    is. Otherwise a group is one match. There a block with even seats has its seats renamed by a fresh random
    permutation each pass, the same at all its tables, so it stays even; the tables of uneven blocks are
    seated anew, all passes together: nobody's seats end up more than one apart.
    Raises ValueError for no deals.
    """
    if deals < 1:
        raise ValueError(f"{deals} deals: at least 1 is needed")
    dice = Dice(b"seats", seed)
    orders = [[table.entrants for table in block] for block in blocks]
    return _shuffled(orders, deals, dice) if duplicate else _renamed(orders, deals, dice)


def pairings(
    orders: Iterable[Order], *, duplicate: bool, first: int = 0, teams: Sequence[Order] = ()
) -> Iterator[Pairing]:
    """The matches of deal groups, which are numbered from `first`.

    `duplicate`: one for each cyclic rotation of the order, so that everybody has had everybody's cards.
    `teams`: the seats of each team; an entrant of the order then has all seats of its team.
    """
    for group, order in enumerate(orders, first):
        for rotation in range(len(order) if duplicate else 1):
            yield Pairing(group, rotation, _seats(order[rotation:] + order[:rotation], teams))


def _seats(order: Order, teams: Sequence[Order]) -> Order:
    if not teams:
        return order
    of_seat = {seat: entrant for entrant, team in zip(order, teams, strict=True) for seat in team}
    return tuple(of_seat[seat] for seat in sorted(of_seat))


def group_seed(secret: bytes, group: int) -> bytes:
    """The 32 bytes that deal a group: HMAC-SHA-256(secret, "deal" + group as 8 bytes, high byte first)."""
    return hmac.digest(secret, b"deal" + group.to_bytes(8, "big"), "sha256")


def bot_seed(secret: bytes, match_number: int, seat: int) -> int:
    """A bot's own 32 bits, no clue to any deal: HMAC-SHA-256(secret, "bot" + match + seat), first 4 bytes.

    Match and seat take 8 bytes each, high byte first like the result.
    """
    message = b"bot" + match_number.to_bytes(8, "big") + seat.to_bytes(8, "big")
    return int.from_bytes(hmac.digest(secret, message, "sha256")[:4], "big")


def _shuffled(blocks: list[list[Order]], deals: int, dice: Dice) -> Iterator[Order]:
    for _ in range(deals):
        for block in blocks:
            for order in block:
                yield tuple(dice.shuffled(order))


def _renamed(blocks: list[list[Order]], deals: int, dice: Dice) -> Iterator[Order]:
    fine = [even(block) for block in blocks]
    rest = [order for block, kept in zip(blocks, fine, strict=True) if not kept for order in block]
    spare = iter(seated([tuple(dice.shuffled(order)) for order in rest * deals]))
    for _ in range(deals):
        for block, kept in zip(blocks, fine, strict=True):
            seats = dice.shuffled(range(len(block[0])))
            yield from [tuple(o[s] for s in seats) for o in block] if kept else islice(spare, len(block))
