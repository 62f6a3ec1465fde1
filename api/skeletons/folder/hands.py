"""What a hand is worth."""


def tricks(hand, trump):
    """How many tricks to hope for: every Wild, and every trump from 8 up."""
    strong = [card for card in hand if card[0] == trump and card[1:].isdigit() and int(card[1:]) >= 8]
    return len(strong) + hand.count("WILD")
