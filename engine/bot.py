"""The bot's side of the table: loads an author's Python file and talks JSON lines on its behalf.

Started as `main(file name)` in the folder that holds `bot.py`. Standard output and input are put out of the
author's reach before any of their code runs, so `print` goes to the log. An exception in the author's code is
shown in their own lines and ends the process, as it would at home.
"""

import contextlib
import faulthandler
import json
import linecache
import os
import random
import signal
import sys
import traceback
from collections.abc import Iterator, Mapping
from types import ModuleType, TracebackType
from typing import Any, BinaryIO, NoReturn

from engine.author import Author, AuthorError
from engine.events import Mirror

SOURCE = "bot.py"
NO_JSON_SHOWN = 100


def main() -> None:
    """Play one match over the standard streams; the first argument is the file name to show in tracebacks."""
    questions, answers = _private_streams()
    name = sys.argv[1] if len(sys.argv) > 1 else SOURCE
    sys.argv[:] = [name]
    _show_refused_calls()
    with _authors_errors(name):
        _serve(questions, answers, name)


def load(text: bytes, name: str) -> Author:
    """The author's bot from the source of a file; raises what the author's code raises, or `AuthorError`."""
    module = ModuleType("bot")
    module.__file__ = name
    sys.modules["bot"] = module
    lines = text.decode(errors="replace").splitlines(keepends=True)
    linecache.cache[name] = (len(text), None, lines, name)
    exec(compile(text, name, "exec"), module.__dict__)  # noqa: S102 - running this file is what we are here for
    return Author.of(module)


def _serve(questions: BinaryIO, answers: int, name: str) -> None:
    start = json.loads(questions.readline() or b"null")
    if start is None:
        return
    mirror = Mirror(start) if start.get("rules") else None
    random.seed(start["seed"])
    with open(SOURCE, "rb") as file:
        author = load(file.read(), name)
    author.start({key: value for key, value in start.items() if key not in ("type", "protocol")})
    _say(answers, {"ready": True, "mode": "delta" if mirror else "full"})
    for line in questions:
        message = json.loads(line)
        if message["type"] == "end":
            author.end({key: value for key, value in message.items() if key != "type"})
            return
        _say(answers, {"id": message["id"], "move": author.answer(message["type"], _view(message, mirror))})


def _view(message: Mapping[str, Any], mirror: Mirror | None) -> dict[str, Any]:
    """What the author's function is handed: the view, the choices, and the pile where it may be seen."""
    if "events" in message and mirror:
        mirror.tell(message["events"])
        view = mirror.view()
    else:
        view = dict(message["view"])
    return view | {key: message[key] for key in ("legal", "pile") if key in message}


def _say(answers: int, message: Mapping[str, Any]) -> None:
    data = json.dumps(message, separators=(",", ":"), default=_plain).encode() + b"\n"
    while data:
        data = data[os.write(answers, data) :]


def _plain(value: Any) -> object:
    """Numbers of other libraries as plain ones; anything else by its repr, so that its author sees what it was."""
    item = getattr(value, "item", None)
    return item() if callable(item) else repr(value)[:NO_JSON_SHOWN]


def _private_streams() -> tuple[BinaryIO, int]:
    """Our own copies of input and output; the author reads nothing from 0 and writes to the log on 1."""
    questions, answers = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=True, errors="backslashreplace")  # type: ignore[union-attr]
    return os.fdopen(questions, "rb"), answers


def _show_refused_calls() -> None:
    """The line that made a forbidden system call, or crashed a library, goes to the log."""
    faulthandler.enable()
    with contextlib.suppress(AttributeError, RuntimeError, ValueError):
        faulthandler.register(signal.SIGSYS, all_threads=False, chain=True)


@contextlib.contextmanager
def _authors_errors(name: str) -> Iterator[None]:
    try:
        yield
    except AuthorError as error:
        _leave(f"{name}: {error}\n", 1)
    except SystemExit as leaving:
        code = leaving.code
        _leave("" if code is None or isinstance(code, int) else f"{code}\n", code if isinstance(code, int) else bool(code))
    except BaseException as error:
        error.__traceback__ = _own_part(error.__traceback__, name)
        _leave("".join(traceback.format_exception(error)), 1)


def _own_part(trace: TracebackType | None, name: str) -> TracebackType | None:
    """The traceback from the author's first line on; all of it when the author's file is not in it."""
    part = trace
    while part is not None and part.tb_frame.f_code.co_filename != name:
        part = part.tb_next
    return part if part is not None or name in linecache.cache else trace


def _leave(words: str, status: int) -> NoReturn:
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
    with contextlib.suppress(OSError):
        os.write(2, words.encode(errors="backslashreplace"))
    os._exit(int(status) & 0xFF)
