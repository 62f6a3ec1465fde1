"""Each rule of the engine, and how to break it: what `mutate_engine` tries."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Break:
    """One rule broken: `old` becomes `new` in a file."""

    rule: str
    file: str
    old: str
    new: str


BREAKS = (
    Break(
        "the deal: bytes beyond the last multiple are dropped", "deal.py", "// self.size * self.size", "// 1"
    ),
    Break(
        "the deal: the round's number is in the stream", "deal.py", 'number.to_bytes(4, "big")', "bytes(4)"
    ),
    Break("the deal: a deck too small caps the hand", "rules.py", "self.deck.size // players)", "10**6)"),
    Break(
        "the trump card is turned until a number shows", "pile.py", "if card < FIRST_WILD:", "if card < 300:"
    ),
    Break(
        "STAYS",
        "pile.py",
        "Turned.STAYS: lambda passed: (passed, [])",
        "Turned.STAYS: lambda passed: ([], passed)",
    ),
    Break(
        "LEAVES",
        "pile.py",
        "Turned.LEAVES: lambda passed: ([], [])",
        "Turned.LEAVES: lambda passed: (passed, [])",
    ),
    Break(
        "BOTTOM",
        "pile.py",
        "Turned.BOTTOM: lambda passed: ([], passed)",
        "Turned.BOTTOM: lambda passed: (passed, [])",
    ),
    Break("the dealer's left bids and leads first", "round.py", "law.left[dealer]", "dealer"),
    Break("every seat bids once", "course.py", "if seat != game.dealer else", "if seat != 0 else"),
    Break("a bid may be as high as the hand", "law.py", "list(range(size + 1))", "list(range(size))"),
    Break(
        "who can follow must",
        "course.py",
        "moves = hand[due] or hand[NO_COLOUR]",
        "moves = hand[NO_COLOUR]",
    ),
    Break("a Wild never obliges, but leads", "course.py", "if game.lead == NO_COLOUR:", "if False:"),
    Break("action cards wait while one can follow", "course.py", "or law.any_time):", "or True):"),
    Break("action_any_time", "law.py", "rules.action_any_time", "False"),
    Break("trump beats the lead colour", "trick.py", "2 + WILD_RANK", "1"),
    Break(
        "the lead colour beats others",
        "trick.py",
        "if COLOUR[move] == lead else 0",
        "if COLOUR[move] < 6 else 0",
    ),
    Break("first of equals is higher", "trick.py", "if power[card] > best or", "if power[card] >= best or"),
    Break("and card by card as well", "course.py", "if power[move] > best:", "if power[move] >= best:"),
    Break("a trick is judged by the trump of its end", "course.py", "and trump == game.pile.colour", ""),
    Break("a trick half played is judged as a whole", "course.py", "0, not trick", "0, True"),
    Break("korean: the last Wild is waited for", "course.py", " and not law.last_wild", ""),
    Break(
        "korean: the last Wild is higher",
        "trick.py",
        "or (last_wild and",
        "or (False and",
    ),
    Break(
        "tricks of actions go to the first card",
        "trick.py",
        "== best > 0)",
        "== best)",
    ),
    Break("a Wild ranks 16", "cards.py", "        return WILD_RANK\n", "        return 14\n"),
    Break(
        "challenge: no second Wild in a trick", "law.py", "is not WildPair.REFUSED", "is not WildPair.LAST"
    ),
    Break("challenge: a hand of Wilds plays one as nothing", "course.py", "or [WILD]", "or [YES]"),
    Break(
        "the winner leads",
        "course.py",
        "game.leader = game.seat = winner",
        "game.leader = game.seat = game.law.left[winner]",
    ),
    Break("Bonus is worth 5", "actions.py", "game.stake += CARD_POINTS", "game.stake += 4"),
    Break("Mad costs 5", "actions.py", "game.stake -= CARD_POINTS", "game.stake -= 4"),
    Break(
        "Bonus goes to who takes the trick",
        "course.py",
        "game.stakes[winner] += game.stake",
        "game.stakes[game.dealer] += game.stake",
    ),
    Break("a stake ends with its trick", "course.py", "    game.stake = 0\n", ""),
    Break(
        "Out ends the trump",
        "pile.py",
        "        self._bury()\n        self.colour = NO_COLOUR",
        "        self._bury()",
    ),
    Break(
        "the card Out cancels goes to the bottom", "pile.py", "self._bottom.append(self._top.pop(0))", "pass"
    ),
    Break("amigo: Out lasts a trick", "law.py", "rules.out is Out.TRICK", "False"),
    Break("amigo: a Change after Out cancels the turn", "actions.py", "    game.turn_due = False\n", ""),
    Break(
        "amigo: a chosen colour cancels it too",
        "course.py",
        "game.kind, game.turn_due = PLAY, False",
        "game.kind = PLAY",
    ),
    Break(
        "amigo: a turn passes the old colour over",
        "actions.py",
        "if game.law.rules.turn_passes_over",
        "if False",
    ),
    Break(
        "amigo: only the old colour left, nothing turns",
        "pile.py",
        "if avoid != NO_COLOUR and not any(",
        "if False and not any(",
    ),
    Break(
        "turn: cards on the way go to the bottom", "pile.py", "cards[index:] + cards[:index]", "cards[index:]"
    ),
    Break("search: never the present trump", "pile.py", "if colour != left]", "]"),
    Break("search: only colours in the pile", "pile.py", "if move in there]", "]"),
    Break(
        "search: the highest of the colour",
        "pile.py",
        "RANKS * colour + RANKS - 1) - 1]",
        "RANKS * colour - 1)]",
    ),
    Break(
        "search: of a dealt pile as well",
        "deal.py",
        "return _NUMBERS.translate(None, bytes(gone))",
        "return _NUMBERS",
    ),
    Break("search: laid on top", "pile.py", "self._top.insert(0, best)", "self._top.append(best)"),
    Break("a searched card leaves its place", "pile.py", "self._missing.append(best)", "pass"),
    Break("name: any colour but trump", "actions.py", "COLOURS_BUT[game.pile.colour]", "COLOURS_BUT[6]"),
    Break("nothing is asked without a choice", "round.py", "        if colours:\n", "        if True:\n"),
    Break(
        "a Change after the last card of a trick counts",
        "course.py",
        "best_card(game.trick, game.pile.colour",
        "best_card(game.trick, game.first_trump",
    ),
    Break(
        "renege: any card may be played",
        "law.py",
        "else [NO_COLOUR] * 7",
        "else list(range(7))",
    ),
    Break(
        "renege: who follows is not asked about",
        "course.py",
        "game.lead in (NO_COLOUR, COLOUR[move])",
        "game.lead == NO_COLOUR",
    ),
    Break(
        "renege: not about action cards under any_time",
        "course.py",
        "or (move >= FIRST_WILD and",
        "or (False and",
    ),
    Break(
        "renege: the player's left is asked first",
        "course.py",
        "game.kind, game.choices = CHALLENGE, _ANSWERS\n    game.seat = game.law.left[game.seat]",
        "game.kind, game.choices = CHALLENGE, _ANSWERS",
    ),
    Break(
        "renege: one challenge a card",
        "course.py",
        "if move == YES or after == player:",
        "if after == player:",
    ),
    Break(
        "renege: the challenger pays if wrong",
        "course.py",
        "player if game.hands[player][game.lead] else game.seat",
        "player",
    ),
    Break("a penalty is 10", "course.py", "PENALTY: Final = -10", "PENALTY: Final = -9"),
    Break(
        "teams bear penalties together",
        "course.py",
        "for mate in game.law.mates[seat]:",
        "for mate in (seat,):",
    ),
    Break("an exact bid is worth 10", "switches.py", "exact=10, zero=5", "exact=9, zero=5"),
    Break("an exact zero is worth 5", "switches.py", "zero=5, missed=0", "zero=4, missed=0"),
    Break("strict: a miss costs 5", "switches.py", "missed=-5", "missed=-4"),
    Break("a trick is worth 1", "scoring.py", "tricks + stake +", "stake +"),
    Break("sweep_double", "scoring.py", "points[taken.index(sweep)] += sweep", "pass"),
    Break("no sweep in a round of one trick", "scoring.py", "if sweep > 1 and", "if sweep and"),
    Break(
        "teams sum their bids",
        "scoring.py",
        "return [sum(each[seat] for seat in team)",
        "return [max(each[seat] for seat in team)",
    ),
    Break("teams are exact together", "scoring.py", "for seat in team) == 0", "for seat in team[:1]) == 0"),
    Break(
        "members sit alternately",
        "switches.py",
        "range(first, self.players, teams)",
        "range(first * 2, first * 2 + 2)",
    ),
    Break(
        "penalties count in the total",
        "round.py",
        "list(map(add, points, self.penalties)) if any(self.penalties) else points",
        "points",
    ),
    Break(
        "more exact bids break ties",
        "scoring.py",
        "exact if rules.tie_break is",
        "exact if rules.tie_break is not",
    ),
    Break(
        "who is out comes last",
        "scoring.py",
        "(-1 - len(out) + out.index(seat), 0, 0)",
        "(0, scores[seat], 0)",
    ),
    Break("standings count no more than who stayed", "scoring.py", "min(score, floor)", "score"),
    Break("the deal passes to the left", "match.py", "(number - 2) % players", "(number - 1) % players"),
    Break("a secret bid is not shown", "view.py", "other != seat and", "False and"),
    Break("a secret bid is no news", "events.py", "if played.law.secret_bids:", "if False:"),
    Break("a change of trump is news", "events.py", "kinds.count(TURNED)", "0"),
    Break("a fine is news", "events.py", "if FINED in kinds:", "if False:"),
    Break("other decisions stand among the cards", "round.py", "bids + cards_before", "bids"),
    Break("only who searches sees the pile", "view.py", "if not played.sees_pile:", "if False:"),
    Break(
        "true is no bid", "cards.py", "if type(value) is int else None", "if isinstance(value, int) else None"
    ),
    Break("a stored record is whole", "packing.py", "if zlib.crc32(body)", "if False and zlib.crc32(body)"),
    Break("a packed head is all there is of it", "packing.py", "if more or", "if"),
    Break("a packed number has one form", "packing.py", 'number[:1] == b"\\0" or', ""),
    Break("a packed number is bounded", "packing.py", " or len(number) > _most(ruled)", ""),
    Break("a packed number is all read", "packing.py", "if reader.number:", "if False:"),
    Break(
        "who went out sat there",
        "packing.py",
        'read_out({"out": tuple(out)}, players), rest',
        "tuple(out), rest",
    ),
    Break("an older record is bounded too", "packing_v1.py", "if len(moves) > most:", "if False:"),
    Break("after a look the rest are actions", "knowledge.py", "self.nowhere |= NUMBERS  #", "pass  #"),
    Break("three strikes and out", "table.py", "STRIKES: Final = 3", "STRIKES: Final = 4"),
    Break(
        "the default bid is 0",
        "table.py",
        "return 0 if self.match.round.kind == BID",
        "return 1 if self.match.round.kind == BID",
    ),
    Break(
        "an Out sends a known face to the bottom",
        "known_pile.py",
        "self._bury()\n            self._turn_due",
        "self._turn_due",
    ),
    Break("sampled hands keep shown voids", "knowledge.py", "[COLOUR[card] not in void for", "[True for"),
    Break(
        "sampled deals are equally likely",
        "sampling.py",
        "dice.random() * most >= comb(choices, size)",
        "False",
    ),
)
