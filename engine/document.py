"""A match written out in full as JSON: every deal, decision, trick and point, in parts that can be compared.

A round of a document, with the document's `rules` and `players`, has all that a referee's script needs.
"""

from collections.abc import Mapping
from typing import Any, Final

from engine.cards import CHALLENGE, CODES, KINDS, NO, NOTATION, PLAY, colour_text, written
from engine.deal import SEED_BYTES, deal
from engine.errors import IllegalMove, RecordError, RulesError
from engine.match import Match
from engine.referee import trick_as_dict
from engine.round import Round
from engine.rules import RuleSet
from engine.switches import whole_number
from engine.view import trump_card

FORMAT: Final = "rage-record"
FORMAT_VERSION: Final = 1
KEYS: Final = ("format", "version", "engine", "rules", "players", "seed", "out", "rounds")


def match_as_dict(match: Match) -> dict[str, Any]:
    """The rounds of a finished match."""
    rounds = []
    for number, played in enumerate(match.finished, start=1):
        rounds.append(_deal_part(match, number) | _result_part(played) | {"moves": moves_as_json(played)})
    return {"rounds": rounds}


def result_as_dict(match: Match, out: tuple[int, ...]) -> dict[str, Any]:
    """What the whole match came to."""
    totals, places = list(match.scores()), list(match.places(out))
    return {"scores": totals, "places": places, "exact_bids": match.exact[:]}


def moves_as_json(played: Round) -> list[int | str | bool]:
    """Every decision of a round, as a script has them."""
    moves = played.moves
    after_bids = moves[played.players :]
    return [*moves[: played.players], *(written(CHALLENGE if m >= NO else PLAY, m) for m in after_bids)]


def _deal_part(match: Match, number: int) -> dict[str, Any]:
    dealt = deal(match.seed, number, match.rules, match.players)
    fresh = Round.dealt(match.law, (number - 2) % match.players, dealt.hands, dealt.pile)
    return {
        "round": number,
        "hand_size": fresh.hand_size,
        "dealer": fresh.dealer,
        "hands": [[NOTATION[card] for card in hand] for hand in dealt.hands],
        "pile": [NOTATION[card] for card in dealt.pile],
        "trump": colour_text(fresh.first_trump),
        "trump_card": trump_card(fresh),
    }


def _result_part(played: Round) -> dict[str, Any]:
    return {
        "bids": played.bids[:],
        "taken": played.taken[:],
        "points": played.points(),
        "penalties": played.penalties[:],
        "tricks": [trick_as_dict(trick) for trick in played.tricks],
    }


def read_seed(document: Mapping[str, Any]) -> bytes:
    """The seed of a document; raises `RecordError`."""
    text = document["seed"]
    try:
        seed = bytes.fromhex(text) if isinstance(text, str) else b""
    except ValueError:
        seed = b""
    if len(seed) != SEED_BYTES or seed.hex() != text:
        raise RecordError("seed", f"must be {SEED_BYTES} bytes in lower-case hexadecimal")
    return seed


def read_rules(document: Mapping[str, Any]) -> tuple[RuleSet, int]:
    """Rules and number of players of a document; raises `RecordError`."""
    players = document["players"]
    try:
        rules = RuleSet.parse(document["rules"])
        rules.check_players(players)
    except RulesError as wrong:
        raise misruled(wrong) from None
    return rules, players


def misruled(wrong: RulesError) -> RecordError:
    """What is wrong with a record's rules or number of players, by its path."""
    path = wrong.field if wrong.field in ("rules", "players") else f"rules.{wrong.field}"
    return RecordError(path, wrong.reason)


def read_out(document: Mapping[str, Any], players: int) -> tuple[int, ...]:
    """The seats that went out; raises `RecordError`."""
    out = document["out"]
    valid = isinstance(out, list | tuple) and all(whole_number(seat, 0, players - 1) for seat in out)
    if not valid or len(set(out)) != len(out):
        raise RecordError("out", "must be a list of different seats")
    return tuple(out)


def read_moves(document: Mapping[str, Any]) -> bytes:
    """Every decision of a document, in order; raises `RecordError` at what is no move at all."""
    moves = bytearray()
    for index, told in enumerate(_rounds(document)):
        for number, value in enumerate(_moves(told, f"rounds[{index}]")):
            moves.append(_read_move(value, f"rounds[{index}].moves[{number}]"))
    return bytes(moves)


def _rounds(document: Mapping[str, Any]) -> list[Any]:
    rounds = document["rounds"]
    if not isinstance(rounds, list):
        raise RecordError("rounds", "must be a list")
    return rounds


def _moves(told: object, path: str) -> list[Any]:
    moves = told.get("moves") if isinstance(told, Mapping) else None
    if not isinstance(moves, list):
        raise RecordError(f"{path}.moves", "must be a list")
    return moves


def _read_move(value: object, path: str) -> int:
    if isinstance(value, bool):
        return NO + value
    if whole_number(value, 0, 255) and isinstance(value, int):
        return value
    if not isinstance(value, str) or value not in CODES:
        raise RecordError(path, f"{value!r:.40} is no move")
    return CODES[value]


def check_head(document: Mapping[str, Any]) -> None:
    """Raises `RecordError` unless this is a document of a form that is known here."""
    if not isinstance(document, Mapping):
        raise RecordError("record", "must be a JSON object")
    for key in KEYS:
        if key not in document:
            raise RecordError(key, "is missing")
    for key, value in (("format", FORMAT), ("version", FORMAT_VERSION)):
        if document[key] != value or type(document[key]) is not type(value):
            raise RecordError(key, f"must be {value!r}")
    if not isinstance(document["engine"], str):
        raise RecordError("engine", "must be a string")


def first_discrepancy(document: Mapping[str, Any], match: Match, out: tuple[int, ...]) -> str | None:
    """Plays a document's rounds in `match` (about to begin) and names the first thing that is not so.

    Raises `RecordError` where that is no list of moves, or no move: what was played before it is right.
    """
    rounds = _rounds(document)
    for index, told in enumerate(rounds):
        if match.over:
            return f"rounds[{index}]: the match has {len(match.rounds)} rounds"
        wrong = _wrong_round(told, match, f"rounds[{index}]")
        if wrong:
            return wrong
    if not match.over:
        return f"rounds: {len(rounds)} recorded, the match has {len(match.rounds)}"
    result = result_as_dict(match, out)
    extra = {key: document[key] for key in document if key not in (*KEYS, "about")}
    return difference(result, extra, "")


def _wrong_round(told: object, match: Match, path: str) -> str | None:
    if not isinstance(told, Mapping):
        return f"{path}: must be an object"
    number = match.number
    expected = _deal_part(match, number)
    wrong = difference(expected, {key: told[key] for key in expected if key in told}, path)
    if wrong:
        return wrong
    for index, value in enumerate(_moves(told, path)):
        where = f"{path}.moves[{index}]"
        _read_move(value, where)
        if len(match.finished) == number:
            return f"{where}: the round is over"
        try:
            match.advance(match.answer(value))
        except IllegalMove as refusal:
            return f"{where}: {value!r:.40} by seat {match.round.seat} is not legal: {refusal}"
    if len(match.finished) < number:
        asked = match.round
        return f"{path}.moves: ends where seat {asked.seat} is asked for a {KINDS[asked.kind]}"
    expected = _result_part(match.finished[-1])
    rest = {key: value for key, value in told.items() if key not in ("moves", *_deal_part(match, number))}
    return difference(expected, rest, path)


def difference(expected: Any, told: Any, path: str) -> str | None:
    """The path of the first place where two JSON values differ, and both; None if they are equal."""
    if isinstance(expected, dict) and isinstance(told, Mapping):
        return _object_difference(expected, told, path)
    if isinstance(expected, list) and isinstance(told, list):
        for index, (mine, theirs) in enumerate(zip(expected, told, strict=False)):
            if found := difference(mine, theirs, f"{path}[{index}]"):
                return found
        if len(expected) != len(told):
            return f"{path}: {len(told)} recorded, it should be {len(expected)}"
        return None
    if expected == told and type(expected) is type(told):
        return None
    return f"{path}: {told!r:.60} recorded, it should be {expected!r:.60}"


def _object_difference(expected: Mapping[str, Any], told: Mapping[str, Any], path: str) -> str | None:
    for key, value in expected.items():
        where = f"{path}.{key}" if path else key
        if key not in told:
            return f"{where}: is missing"
        if found := difference(value, told[key], where):
            return found
    unknown = next((key for key in told if key not in expected), None)
    return None if unknown is None else f"{path + '.' if path else ''}{unknown}: is not part of a record"
