"""`python -m loadtests.attack_table`: every attack in every mode this machine can do, and what stopped it.

The bots are those of the tests, beside an honest one, before a canary and a listener; archives are those an
upload must refuse. Ends with status 1 if anything was breached.
"""

import argparse
import os
import sys
from collections.abc import Iterator
from typing import Any

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from engine.table import Fault, FaultKind
from loadtests import archives, proving
from loadtests.attack import Attack
from loadtests.attacks import AT_START, ATTACKS
from loadtests.proving import Ground, Tried
from service import upload
from service.errors import Invalid
from workers.match import Played
from workers.sandbox import Sandbox, SandboxUnavailable

MODES: dict[str, dict[str, Any]] = {
    "A fork-server": {"launcher": "fork-server", "require_groups": True},
    "A one-shot": {"launcher": "one-shot", "require_groups": True},
    "B fork-server": {"launcher": "fork-server", "use_groups": False},
    "B one-shot": {"launcher": "one-shot", "use_groups": False},
    "C landlock": {"launcher": "landlock"},
}
BY_KIND = {
    FaultKind.ILLEGAL: "strict wire",
    FaultKind.GARBAGE: "strict wire",
    FaultKind.FLOOD: "output allowance",
    FaultKind.START: "strict wire",
}
SIGNS = (  # in what the fault or the log says, in this order
    ("PermissionError: [Errno 1]", "system call filter"),
    ("system call that is not allowed", "system call filter"),
    ("processes or threads", "process limit"),
    ("scratch space or files", "scratch limits"),
    ("wrote a file beyond", "file size limit"),
    ("CPU", "CPU clock"),
    ("no answer within", "wall clock"),
    ("not ready within", "wall clock"),
    ("standard output", "end of output"),
    ("[Errno 2]", "root of its own"),
    ("[Errno 20]", "root of its own"),
    ("No module named", "root of its own"),
    ("[Errno 13]", "permissions"),
    ("[Errno 30]", "read-only mounts"),
    ("[Errno 3]", "PID namespace"),
    ("exceeds maximum limit", "hard limits"),
)


def main() -> None:
    """Try all, print a row each."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--only", default="", help="attacks whose name holds this text")
    options.add_argument("--markdown", action="store_true", help="a table to keep")
    chosen = options.parse_args()
    attacks = [attack for attack in [*ATTACKS, *AT_START] if chosen.only in attack.name]
    columns: dict[str, list[str]] = {}
    breaches: list[str] = []
    with proving.ground() as ground, Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("attacks", total=len(MODES) * len(attacks))
        for mode in MODES:
            for attack, row, found in _tried(mode, attacks, ground):
                columns.setdefault(attack.name, []).append(row)
                breaches += [f"{mode}: {attack.name}: {sentence}" for sentence in found]
                progress.advance(task)
    told = [(name, *cells) for name, cells in columns.items()]
    _show(("attack", *MODES), told, markdown=chosen.markdown)
    refused = [(each.name, _refusal(each.content())) for each in archives.HOSTILE]
    breaches += [f"archive: {name}: was let in" for name, reason in refused if not reason]
    _show(("archive", "refused with"), refused, markdown=chosen.markdown)
    print(f"{len(told)} attacks in {len(MODES)} modes, {len(refused)} archives; breaches: {len(breaches)}")
    for sentence in breaches:
        print(sentence)
    sys.exit(1 if breaches else 0)


def _tried(mode: str, attacks: list[Attack], ground: Ground) -> Iterator[tuple[Attack, str, list[str]]]:
    try:
        sandbox = Sandbox.probe(**MODES[mode])
    except SandboxUnavailable as error:
        print(f"{mode}: not on this machine: {error}", file=sys.stderr)
        yield from ((attack, "-", []) for attack in attacks)
        return
    try:
        quiet = proving.play([], sandbox)
        for attack in attacks:
            tried = ground.tried(attack, sandbox)
            found = tried.breaches(quiet)
            yield attack, _cell(tried, found), found
    finally:
        sandbox.close()


def _cell(tried: Tried, found: list[str]) -> str:
    """Fault kinds, what stopped it, what was left behind if anything was."""
    kinds = ", ".join(dict.fromkeys(str(fault.kind) for fault in tried.faults)) or "no fault"
    left = "" if not tried.left else f"; LEFT {tried.left}"
    return f"{kinds}: {_layer(tried)}{left}{'; BREACH' if found else ''}"


def _layer(tried: Tried) -> str:
    if not tried.faults:
        return "nothing in reach"
    return _stopped_by(tried.faults[-1], tried.played)


def _stopped_by(fault: Fault, played: Played) -> str:
    if fault.kind == FaultKind.MEMORY:
        said = "MemoryError" in played.usage[0].log
        return "address limit" if said or played.mode != "A" else "memory group"
    said_all = f"{fault.text} {fault.evidence.get('log_tail', '')}{fault.evidence.get('log_head', '')}"
    layer = next((layer for sign, layer in SIGNS if sign in said_all), None)
    if layer == "permissions":
        return "Landlock" if played.mode == "C" else "file permissions"
    return layer or BY_KIND.get(fault.kind, "it ended itself")


def _refusal(content: bytes) -> str:
    try:
        upload.inspect("bot.zip", content)
    except Invalid as refused:
        return refused.errors["code"][0]
    return ""


def _show(head: tuple[str, ...], rows: list[tuple[str, ...]], *, markdown: bool) -> None:
    if markdown:
        for row in (head, ("---",) * len(head), *rows):
            print("| " + " | ".join(row) + " |")
        return
    table = Table(*head)
    for row in rows:
        table.add_row(*row)
    Console(width=None if sys.stdout.isatty() else 60 * len(head)).print(table, markup=False)


if __name__ == "__main__":
    os.umask(0o022)
    main()
