"""The bot's side of the table: loads an author's Python file and talks JSON lines on its behalf.

Started as `main(file name)` in the folder that holds `bot.py`. Standard output and input are put out of the
author's reach before any of their code runs, so `print` goes to the log. An exception in the author's code is
shown in their own lines and ends the process, as it would at home.
"""

# A fresh process plays every match, so what is imported here is paid for by every seat: the less the better.
from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # `signal` itself would bring in `enum`
import faulthandler
import os
import random
import sys

from engine import lines
from engine.author import Author, AuthorError
from engine.mirror import Mirror

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, BinaryIO, NoReturn

SOURCE = "bot.py"


def main() -> None:
    """Play one match over the standard streams; the first argument is the file name to show in tracebacks."""
    prepare()
    questions, answers = _private_streams()
    name = sys.argv[1] if len(sys.argv) > 1 else SOURCE
    place = f"{os.getcwd()}/{SOURCE}"  # wherever the author's code goes
    sys.argv[:] = [name]
    try:
        serve(questions, answers, name, place)
    except AuthorError as error:
        _leave(f"{name}: {error}\n", 1)
    except SystemExit as leaving:
        _exit(leaving.code)
    except BaseException as error:
        _leave(_authors_traceback(error, name, place), 1)
    _leave("", 0)


def prepare() -> None:
    """What is the same before every match; a warm parent has done it for all its children. Idempotent.

    Each print shows at once, and the line that makes a forbidden system call, crashes a library or overruns
    its time goes to the log.
    """
    if faulthandler.is_enabled():
        return
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=True, errors="backslashreplace")  # type: ignore[union-attr]
    faulthandler.enable()
    for asked, ends in ((_signal.SIGSYS, True), (_signal.SIGUSR2, False)):
        faulthandler.register(asked, all_threads=False, chain=ends)


def load(text: bytes, name: str) -> Author:
    """The author's bot from the source of a file; raises what the author's code raises, or `AuthorError`."""
    module = type(sys)("bot")
    module.__file__ = name
    sys.modules["bot"] = module
    exec(compile(text, name, "exec"), module.__dict__)  # noqa: S102 - running this file is what we are here for
    return Author.of(module)


def serve(questions: BinaryIO, answers: int, name: str, place: str) -> None:
    """Answer line by line, as the bot in the file at `place`, until the end."""
    start = lines.read(questions.readline() or b"null")
    if start is None:
        return
    mirror = Mirror(start)
    random.seed(start["seed"])
    author = load(_source(place), name)
    author.start({key: value for key, value in start.items() if key not in ("type", "protocol")})
    _say(answers, {"ready": True, "mode": "delta"})
    for line in questions:
        message = lines.read(line)
        if message["type"] == "end":
            author.end({key: value for key, value in message.items() if key != "type"})
            return
        _say(answers, {"id": message["id"], "move": author.answer(message["type"], _view(message, mirror))})


def _view(message: Mapping[str, Any], mirror: Mirror) -> dict[str, Any]:
    """What the author's function is handed: the view, the choices, and the pile where it may be seen."""
    mirror.tell(message["events"])
    view = mirror.view()
    view["legal"] = message["legal"]
    if "pile" in message:
        view["pile"] = message["pile"]
    return view


def _source(place: str) -> bytes:
    with open(place, "rb") as file:
        return file.read()


def _say(answers: int, message: Mapping[str, Any]) -> None:
    data = lines.written(message)
    while data:
        data = data[os.write(answers, data) :]


def _private_streams() -> tuple[BinaryIO, int]:
    """Our own copies of input and output; the author reads nothing from 0 and writes to the log on 1."""
    questions, answers = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return os.fdopen(questions, "rb"), answers


def _authors_traceback(error: BaseException, name: str, place: str) -> str:
    """The traceback from the author's first line on, with their source lines, as at home."""
    import linecache
    import traceback

    text = _source(place)
    lines = text.decode(errors="replace").splitlines(keepends=True)
    linecache.cache[name] = (len(text), None, lines, name)
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename != name:
        trace = trace.tb_next
    if trace is None and not isinstance(error, SyntaxError):  # which shows its own place
        trace = error.__traceback__
    return "".join(traceback.format_exception(type(error), error, trace))


def _exit(code: object) -> NoReturn:
    """As the interpreter would: a number is the status, words go to the log."""
    if code is None or isinstance(code, int):
        _leave("", code or 0)
    _leave(f"{code}\n", 1)


def _leave(words: str, status: int) -> NoReturn:
    try:
        sys.stdout.flush()
        os.write(2, words.encode(errors="backslashreplace"))
    except (OSError, ValueError):
        pass
    os._exit(status & 0xFF)
