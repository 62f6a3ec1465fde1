"""Cards and moves as small numbers, and the notation that people and bots read.

Inside the engine a card or a move is an int, so that a hand is a list of ints and a game a few bytes:

    0 ...  95   number cards, 16 * colour + rank
   96 ... 101   a Wild called a colour, rank 16
  102 ... 203   a Wild called a colour and a rank 0 ... 16 (102 + 17 * colour + rank)
  204 ... 208   WILD BONUS MAD CHANGE OUT: the cards themselves; as a move, WILD is a Wild that names nothing
  209 ... 214   a colour, answering a Change
  215, 216      no, yes, answering "do you challenge?"

A bid is its own number. Colours are 0 ... 5 in the order R O Y G B P; 6 means "no colour". Sorted by
number, moves stand in the order in which choices are listed everywhere.
"""

from typing import Final

COLOURS: Final = "ROYGBP"
COLOUR_NAMES: Final = ("red", "orange", "yellow", "green", "blue", "purple")
NO_COLOUR: Final = 6
RANKS: Final = 16
WILD_RANK: Final = 16

FIRST_WILD: Final = 96
FIRST_RANKED_WILD: Final = 102
WILD: Final = 204
BONUS: Final = 205
MAD: Final = 206
CHANGE: Final = 207
OUT: Final = 208
FIRST_COLOUR: Final = 209
NO: Final = 215
YES: Final = 216
ALPHABET: Final = 217

BID: Final = 0
PLAY: Final = 1
TRUMP: Final = 2
CHALLENGE: Final = 3
OVER: Final = 4
KINDS: Final = ("bid", "play", "trump", "challenge", "over")


def _ranked_wilds() -> list[str]:
    return [f"WILD:{colour}{rank}" for colour in COLOURS for rank in range(WILD_RANK + 1)]


NOTATION: Final[tuple[str, ...]] = (
    *(f"{colour}{rank}" for colour in COLOURS for rank in range(RANKS)),
    *(f"WILD:{colour}" for colour in COLOURS),
    *_ranked_wilds(),
    *("WILD", "BONUS", "MAD", "CHANGE", "OUT"),
    *COLOURS,
    *("false", "true"),
)
"""How each move is written; see `written` for the two answers to a challenge, which are JSON booleans."""

CODES: Final[dict[str, int]] = {text: code for code, text in enumerate(NOTATION[:NO])}
CARDS: Final[dict[str, int]] = {t: c for t, c in CODES.items() if c < FIRST_WILD or WILD <= c <= OUT}


def _colour(move: int) -> int:
    if move < FIRST_WILD:
        return move // RANKS
    if move < FIRST_RANKED_WILD:
        return move - FIRST_WILD
    return (move - FIRST_RANKED_WILD) // (WILD_RANK + 1) if move < WILD else NO_COLOUR


def _rank(move: int) -> int:
    if move < FIRST_WILD:
        return move % RANKS
    if move < FIRST_RANKED_WILD:
        return WILD_RANK
    return (move - FIRST_RANKED_WILD) % (WILD_RANK + 1) if move < WILD else 0


COLOUR: Final[list[int]] = [_colour(move) for move in range(ALPHABET)]
RANK: Final[list[int]] = [_rank(move) for move in range(ALPHABET)]
CARD: Final[list[int]] = [WILD if FIRST_WILD <= m < WILD else m for m in range(ALPHABET)]
"""The card that leaves the hand when a move is played: any called Wild is a WILD."""


def colour_text(colour: int) -> str | None:
    """`R` ... `P`, or None for no colour."""
    return COLOURS[colour] if colour < NO_COLOUR else None


def written(kind: int, move: int) -> int | str | bool:
    """A move as the JSON value that bots, scripts and records use."""
    if kind == BID:
        return move
    return move == YES if kind == CHALLENGE else NOTATION[move]


def read(kind: int, value: object) -> int | None:
    """The move behind a JSON value, or None if no move of that kind is written so.

    Types are exact: `true` is no bid, `2.0` is no bid, `1` is no answer to a challenge.
    """
    if kind == BID:
        return value if type(value) is int else None
    if kind == CHALLENGE:
        return NO + value if type(value) is bool else None
    return CODES.get(value) if type(value) is str else None
