"""Bids only what can hardly fail, and ducks as soon as it has that many tricks."""

COLOURS = "ROYGBP"


def bid(view):
    """Wilds, and the three highest trumps."""
    sure = [card for card in view["hand"] if card == "WILD" or (is_trump(card, view) and rank(card) >= 13)]
    return len(sure)


def play(view):
    cards = honest(view)
    if view["taken"][view["seat"]] < view["bids"][view["seat"]]:
        return max(cards, key=lambda card: power(card, view))
    best = max((power(card, view) for card in view["trick"]), default=0)
    losers = [card for card in cards if power(card, view) <= best]
    if losers:
        return max(losers, key=rank)  # nothing to fear from it: get rid of the dangerous ones
    return min(cards, key=lambda card: power(card, view))


def honest(view):
    """The legal cards, without those that deny a colour which is in the hand."""
    lead = view["lead"]
    if lead is None or not any(colour(card) == lead for card in view["hand"]):
        return view["legal"]
    return [card for card in view["legal"] if colour(card) == lead]


def power(card, view):
    """How strong a card is in this trick: trumps over the lead colour over all others."""
    if is_trump(card, view):
        return 100 + rank(card)
    return 1 + rank(card) if colour(card) == (view["lead"] or colour(card)) else 0


def is_trump(card, view):
    return colour(card) is not None and colour(card) == view["trump"]


def colour(card):
    """The colour of `R4` or `WILD:R`; None for action cards."""
    first, rest = card.removeprefix("WILD:")[0], card.removeprefix("WILD:")[1:]
    return first if first in COLOURS and not rest.isalpha() else None


def rank(card):
    """0 ... 15 for number cards, 16 for a Wild unless it is called lower, -1 for other action cards."""
    if card == "WILD" or (card.startswith("WILD:") and len(card) == 6):
        return 16
    digits = card.removeprefix("WILD:")[1:]
    return int(digits) if digits.isdigit() else -1
