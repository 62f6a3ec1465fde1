"""Counts the cards it has seen, bids what its hand should take, then plays to take exactly that."""

COLOURS = "ROYGBP"
NUMBERS = [f"{colour}{rank}" for colour in COLOURS for rank in range(16)]


def bid(view):
    """What the cards would take if each were led."""
    return round(sum(chance(best_call(card, view), view) for card in view["hand"]))


def play(view):
    cards, seat = honest(view), view["seat"]
    missing = view["bids"][seat] - view["taken"][seat]
    chances = {card: chance(card, view) for card in cards}
    if missing == 0:  # duck, and get rid of the strongest card that cannot win
        return min(cards, key=lambda card: (chances[card], -value(card, view)))
    likeliest = max(cards, key=lambda card: (chances[card], -value(card, view)))
    if missing < 0 or missing >= len(view["hand"]) or chances[likeliest] >= 0.3:
        return likeliest  # also when too many are taken: each is a point, and spoils another's bid
    return min(cards, key=lambda card: (value(card, view), chances[card]))


def challenge(view):
    """Doubts a card when its player is most unlikely to be out of the lead colour."""
    hidden = unseen(view)
    held = cards_left(view) - 1
    denied = sum(colour(card) == view["lead"] for card in hidden)
    return missing_all(denied, held, hidden) < 0.1


def chance(card, view):
    """How likely a card takes this trick, if the unseen cards lie anywhere."""
    lead = view["lead"] or colour(card)
    now = max((power(other, lead, view) for other in view["trick"]), default=0)
    mine = power(card, lead, view)
    if mine <= now:
        return 0.0
    hidden, held = unseen(view), cards_left(view)
    follow = sum(colour(other) == lead for other in hidden)
    higher = sum(colour(other) == lead and power(other, lead, view) > mine for other in hidden)
    trumps = sum(
        colour(other) == view["trump"] != lead and power(other, lead, view) > mine for other in hidden
    )
    cannot_trump = 1 - missing_all(follow, held, hidden) * (1 - missing_all(trumps, held, hidden))
    one_player = missing_all(higher, held, hidden) * cannot_trump
    return one_player ** (view["players"] - 1 - len(view["trick"]))


def missing_all(number, held, hidden):
    """The chance that a player who holds `held` of the hidden cards has none of `number` among them."""
    return (1 - min(1, held / max(1, len(hidden)))) ** number


def unseen(view):
    """The number cards that may be in other hands."""
    seen = set(view["hand"]) | set(view["trick"]) | {view["trump_card"]}
    for trick in view["tricks"]:
        seen |= set(trick["cards"])
    return [card for card in NUMBERS if card not in seen]


def cards_left(view):
    return view["hand_size"] - len(view["tricks"])


def honest(view):
    """The legal cards, without those that deny a colour which is in the hand."""
    lead = view["lead"]
    if lead is None or not any(colour(card) == lead for card in view["hand"]):
        return view["legal"]
    return [card for card in view["legal"] if colour(card) == lead]


def best_call(card, view):
    """A Wild in the hand is worth most as the highest trump."""
    return f"WILD:{view['trump'] or 'R'}" if card == "WILD" else card


def value(card, view):
    """What a card is worth keeping for: trumps most, action cards least."""
    return rank(card) + (20 if colour(card) == view["trump"] else 0)


def power(card, lead, view):
    """How strong a card is in a trick of this lead: trumps over the lead colour over all others."""
    if colour(card) is None:
        return 0
    if colour(card) == view["trump"]:
        return 100 + rank(card)
    return 1 + rank(card) if colour(card) == lead else 0


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
