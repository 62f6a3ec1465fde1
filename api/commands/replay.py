"""`rage replay`: a finished match on the terminal, step by step or from beginning to end."""

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from api.commands.games import WHAT, match_id

State = dict[str, Any]
COLOURS = {"R": "red", "O": "bright_red", "Y": "yellow", "G": "green", "B": "blue", "P": "magenta"}
NAMES = {"R": "red", "O": "orange", "Y": "yellow", "G": "green", "B": "blue", "P": "purple"}
KEYS = "→ next   ← back   t trick   r round   b round before   q quit"
NEXT, BACK, TRICK, ROUND, BEFORE, QUIT = "next", "back", "trick", "round", "before", "quit"
PRESSED = {
    **dict.fromkeys(("n", " ", "\r", "\n", "\x1b[C", "\x1bOC", "j"), NEXT),
    **dict.fromkeys(("p", "\x7f", "\x1b[D", "\x1bOD", "k"), BACK),
    **dict.fromkeys(("q", "\x1b", "\x04"), QUIT),
    "t": TRICK,
    "r": ROUND,
    "b": BEFORE,
}


@dataclass(frozen=True, slots=True)
class Frame:
    """The table after one step."""

    round: int
    hand_size: int
    dealer: int
    step: Mapping[str, Any]
    state: State


@click.command(short_help="Watch a finished match, step by step.")
@click.argument("match", metavar=WHAT)
@click.option("--round", "begin", type=click.IntRange(1), default=1, help="Begin with this round.")
@click.option("--all", "whole", is_flag=True, help="Print the whole story instead of stepping through it.")
def replay(match: str, begin: int, whole: bool) -> None:
    """Watch a finished match: a record's FILE (- reads standard input) or a MATCH of the server.

    On a terminal it goes step by step, forwards and backwards; anywhere else, and with --all, the story is
    printed. All hands are open.

    \b
    rage replay t_k4m2xw9tq7bn-17
    rage play mybot.py counter --record game.json && rage replay game.json --round 3
    """
    document = _document(match)
    frames, names = _frames(document), _names(document)
    if begin > frames[-1].round:
        raise click.BadParameter(f"the match has {frames[-1].round} rounds", param_hint="--round")
    if whole or not (sys.stdin.isatty() and sys.stdout.isatty()):
        for frame in frames:
            if frame.round >= begin:
                _tell(frame, names)
        click.echo(f"places: {', '.join(_places(document, names))}")
        return
    at = next(index for index, frame in enumerate(frames) if frame.round == begin)
    with _keys() as keys:
        for frame in _stepped(frames, at, keys):
            click.clear()
            _show(frame, names, last=frame is frames[-1])


@contextmanager
def _keys() -> Iterator[Iterator[str]]:
    """The keys that are pressed, each at once. None is lost that comes while the table is drawn."""
    import termios
    import tty

    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    tty.setcbreak(terminal)
    try:
        yield iter(lambda: os.read(terminal, 8).decode(errors="replace") or "q", None)
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)


def _document(match: str) -> Any:
    if match != "-" and not Path(match).exists():
        from api import saved

        return saved.client().record(match_id(match))
    text = sys.stdin.read() if match == "-" else Path(match).read_text(encoding="utf-8", errors="replace")
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        hint = "; it may hold several records, one a line: sed -n 1p FILE" if text.count("\n{") else ""
        raise click.BadParameter(f"not a record: {error}{hint}", param_hint=WHAT) from None


def _frames(document: Any) -> list[Frame]:
    from engine.errors import EngineError
    from engine.record import Record
    from engine.story import story

    try:
        rounds = story(Record.from_json(document))
    except EngineError as error:
        raise click.BadParameter(f"not the record of a match: {error}", param_hint=WHAT) from None
    frames: list[Frame] = []
    for told in rounds:
        state: State = {}
        for step in told["steps"]:
            state = after(state, step)
            frames.append(Frame(told["round"], told["hand_size"], told["dealer"], step, state))
    return frames


def after(state: State, step: Mapping[str, Any]) -> State:
    """The state that a step leaves (see `engine.story`)."""
    new = {**state, **{name: value for name, value in step.items() if name not in ("marks", "gave")}}
    if "gave" in step:
        seat, index = step["gave"]
        new["hands"] = [hand[:] for hand in state["hands"]]
        del new["hands"][seat][index]
    return new


def _names(document: Mapping[str, Any]) -> list[str]:
    """Who sat where, if the record says so."""
    names = [f"seat {seat}" for seat in range(document["players"])]
    about = document.get("about")
    seats = about.get("seats") if isinstance(about, dict) else None
    for each in seats if isinstance(seats, list) else []:
        if (
            isinstance(each, dict)
            and each.get("seat") in range(len(names))
            and isinstance(each.get("name"), str)
        ):
            version = f" v{each['version']}" if isinstance(each.get("version"), int) else ""
            names[each["seat"]] += f" {_clean(each['name'])}{version}"
    return names


def _clean(text: str) -> str:
    """Somebody's words, without what could move a cursor."""
    return "".join(letter for letter in text if letter.isprintable())[:80]


def _places(document: Mapping[str, Any], names: Sequence[str]) -> list[str]:
    """Who came where by what was played, whatever else the document says."""
    from engine.record import Record

    record = Record.from_json(document)
    match = record.replay()
    listed = sorted(zip(match.places(record.out), names, match.scores(), strict=True))
    return [f"{place}. {name} ({score})" for place, name, score in listed]


def _stepped(frames: Sequence[Frame], at: int, keys: Iterator[str]) -> Iterator[Frame]:
    """The frames somebody asks for."""
    yield frames[at]
    for key in keys:
        asked = PRESSED.get(key)
        if asked == QUIT:
            return
        if asked is not None:
            at = moved(frames, at, asked)
            yield frames[at]


def moved(frames: Sequence[Frame], at: int, asked: str) -> int:
    """Where a key leads; the ends hold."""
    last = len(frames) - 1
    if asked == NEXT:
        return min(at + 1, last)
    if asked == BACK:
        return max(at - 1, 0)
    here = frames[at].round
    if asked == TRICK:
        ahead = (i for i in range(at + 1, last) if frames[i].step["did"] in ("take", "score"))
        return next(ahead, last)
    if asked == ROUND:
        return next((i for i in range(at + 1, last + 1) if frames[i].round > here), last)
    first = next(i for i, frame in enumerate(frames) if frame.round == here)
    before = frames[max(first - 1, 0)].round
    return first if at > first else next(i for i, frame in enumerate(frames) if frame.round == before)


def _tell(frame: Frame, names: Sequence[str]) -> None:
    """One line of the story, or a few."""
    did = frame.step["did"]
    if did == "deal":
        click.echo(f"\n{_head(frame, names)}, {_trump(frame.state)}")
        for name, hand in zip(names, frame.state["hands"], strict=True):
            click.echo(f"  {name}: {' '.join(map(_card, hand))}")
    else:
        click.echo(f"  {_words(frame, names)}")


def _show(frame: Frame, names: Sequence[str], *, last: bool) -> None:
    """The whole table."""
    state, wide = frame.state, max(map(len, names))
    click.echo(f"{_head(frame, names)}\n{_trump(state)}\n")
    for seat, name in enumerate(names):
        marker = "▸" if seat == state["turn"] else " "
        bid = "-" if state["bids"][seat] is None else state["bids"][seat]
        sums = f"bid {bid:>2}  took {state['taken'][seat]:>2}  {state['scores'][seat]:>4}"
        click.echo(f"{marker} {name:{wide}}  {sums}  {' '.join(map(_card, state['hands'][seat]))}")
    lies = " ".join(map(_card, state["trick"])) or "nothing yet"
    click.echo(f"\n  table: {lies}\n\n  {_words(frame, names)}\n")
    click.echo(click.style("the end   " + KEYS if last else KEYS, dim=True))


def _words(frame: Frame, names: Sequence[str]) -> str:
    step, state = frame.step, frame.state
    did, seat = step["did"], step.get("seat")
    name = names[seat] if seat is not None else ""
    if did == "bid":
        return f"{name} bids {step['move']}"
    if did == "play":
        turned = f"; {_trump(state)}" if "trump" in step else ""
        return f"{name} plays {_card(step['move'])}{turned}"
    if did == "trump":
        return f"{name} names {NAMES[step['move']]}; {_trump(state)}"
    if did == "challenge":
        return f"{name} challenges: penalties {_sums(state['penalties'])}"
    if did == "pass":
        return f"{', '.join(names[each] for each in step['seats'])} let it pass"
    if did == "take":
        return f"{name} takes the trick"
    if did == "score":
        return f"points {_sums(state['points'])}, in all {_sums(state['scores'])}"
    return "the cards are dealt"


def _head(frame: Frame, names: Sequence[str]) -> str:
    cards = f"{frame.hand_size} card{'s' if frame.hand_size != 1 else ''} each"
    return f"round {frame.round}: {cards}, {names[frame.dealer]} deals"


def _sums(numbers: Sequence[int]) -> str:
    return " ".join(map(str, numbers))


def _trump(state: State) -> str:
    card = f" ({_card(state['trump_card'])})" if state["trump_card"] else ""
    return f"trump {NAMES[state['trump']]}{card}" if state["trump"] else "no trump"


def _card(card: str) -> str:
    """A card in its colour; the letter says it, too. Colours are left out where there is no terminal."""
    colour = card.removeprefix("WILD:")[:1]
    known = card not in ("WILD", "BONUS", "MAD", "CHANGE", "OUT")
    return click.style(card, fg=COLOURS[colour]) if known else click.style(card, bold=True)
