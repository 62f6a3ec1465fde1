"""`python -m loadtests.fuzz`: requests made up from the API's own document, single and in sequences.

The whole application in this process, on a real database with a played tournament in it and a real Redis.
Every answer is held against the document by all of schemathesis's checks. One of them, that what fits the
document is accepted, cannot know what `UNSAID` lists, and lets a refusal pass that names nothing else.
Prints what was asked how often and answered how; ends with status 1 if anything was wrong.
"""

import argparse
import logging
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import schemathesis
import structlog
from flask import Flask
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from schemathesis.config import SchemathesisConfig
from schemathesis.core.failures import AcceptedNegativeData
from schemathesis.engine import events, from_schema
from schemathesis.openapi.checks import RejectedPositiveData
from schemathesis.transport.wsgi import WSGITransport

from api.blueprint import KEY_PARAMETER
from api.once import HEADER
from loadtests.fuzz_world import World, furnished

SENDERS = ("stranger", "author", "organiser", "admin")
PHASES = ("examples", "coverage", "fuzzing", "stateful")
UNSAID: Mapping[str, str] = {
    "cursor": "is opaque: only what an answer gave is one",
    "code": "is a bot, and no schema describes what a bot is",
    "name": "consists of the letters of all alphabets",
    "label": "consists of letters that can be shown",
    "description": "consists of letters that can be shown",
    "reason": "consists of letters that can be shown",
    "seed": "consists of letters that can be shown",
    "a": "is a bot that is there",
    "b": "is a bot that is there, and another one",
    "field": "are bots that are there",
    "anchor": "is a bot of these rankings, and not asked for together with a time",
    "entrant": "is a bot that is there",
    "entrants": "are bots that are there, as many as the table needs",
    "challenger": "is one of the entrants, and belongs to one format",
    "stages": "belong to one format",
    "meetings": "belong to two formats",
    "same_owner": "does not belong to every format",
    "repeat": "is a cron line",
    "entry": "ends before the start",
    "start_at": "goes with `entry` and `repeat`",
    "rules": "are switches that go together, see /rules",
    "players": "must suit the rules",
    "limits": "have ranges, see /limits",
    "deals": "make more matches than are allowed, with other fields",
    "elo0": "is less than elo1",
    "elo1": "is more than elo0",
    "scopes": "must be the asking token's too",
    "owner": "is an account's name",
}
OF_SOCKETS = ("max_redirects", "verify", "cert", "proxies")


@dataclass(slots=True)
class Seen:
    """What was asked and answered: cases by (operation, status), what was wrong, in words."""

    answers: Counter[tuple[str, int]] = field(default_factory=Counter)
    phases: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    @property
    def cases(self) -> int:
        """All requests."""
        return sum(self.answers.values())

    def add(self, other: "Seen") -> None:
        """Another's sums in these."""
        self.answers += other.answers
        self.phases += other.phases
        self.wrong += other.wrong


def run(there: World, sender: str, *, each: int, seed: int, phases: Iterable[str] = PHASES) -> Seen:
    """Cases of one sender: `each` is the most a phase makes up for an operation (or sequences, stateful)."""
    signs = _signs(there.app, there.tokens[sender]) if sender in there.tokens else {}
    config = _config(each, seed, phases, _known(there.app), signs)
    schema = schemathesis.openapi.from_wsgi("/api/v1/openapi.json", there.app, config=config)
    _worlds[:] = [there]
    seen = Seen()
    for event in from_schema(schema).execute():
        if isinstance(event, events.ScenarioFinished):
            _note(seen, event)
        elif isinstance(event, events.NonFatalError | events.FatalError):
            seen.wrong.append(f"the test itself: {getattr(event, 'info', getattr(event, 'exception', ''))}")
    return seen


def _known(app: Flask) -> dict[str, list[str | int]]:
    """What is there to be asked for, by the parameter that asks for it."""
    http = app.test_client()

    def ids(path: str, name: str = "id") -> list[str | int]:
        return [each[name] for each in http.get(f"/api/v1/{path}").get_json()["items"]]

    finished = str(ids("tournaments?status=finished")[0])
    cursor = http.get("/api/v1/bots?limit=1").get_json()["next"]
    found = {"path.bot_id": ids("bots"), "path.tournament_id": ids("tournaments")}
    found |= {"path.match_id": ids(f"tournaments/{finished}/matches"), "path.number": [1, 2]}
    found |= {"path.comparison_id": ids("comparisons"), "path.preset": ids("rules", "key")}
    found |= {"query.cursor": [cursor], "query.rules": ["fundex", *ids("rankings/pools", "rules")]}
    found |= {f"query.{name}": found["path.bot_id"] for name in ("a", "b", "anchor")}
    return found | {f"body.{name}": found["path.bot_id"] for name in ("a", "b", "entrants[*]", "entrant")}


def _signs(app: Flask, token: str) -> dict[str, Any]:
    """The token for what needs one, and for what tells more to who has one."""
    open_to_all = [
        told["operationId"]
        for path in app.extensions["openapi"]["paths"].values()
        for told in path.values()
        if isinstance(told, dict) and not told.get("security")
    ]
    along = {"include-operation-id": open_to_all, "headers": {"Authorization": f"Bearer {token}"}}
    return {"auth": {"openapi": {"token": {"bearer": token}}}, "operations": [along]}


def _config(
    each: int,
    seed: int,
    phases: Iterable[str],
    known: Mapping[str, list[str | int]],
    signs: Mapping[str, Any],
) -> SchemathesisConfig:
    told = {
        "seed": seed,
        "continue-on-failure": True,
        "generation": {
            "max-examples": each,
            "deterministic": True,
            "database": "none",
            "with-security-parameters": False,  # the senders' tokens are real; a check tries others
        },
        "phases": {name: {"enabled": name in phases} for name in PHASES},
        "dictionaries": {name: {"values": values} for name, values in known.items()},
        "parameters": {name: {"dictionary": name, "probability": 0.6} for name in known},
        **signs,
    }
    return SchemathesisConfig.from_dict(told)


_turns = count()
_worlds: list[World] = []  # the last is the one that is asked: schemathesis hands on nothing to hooks


@schemathesis.hook
def before_call(context: Any, case: Any, kwargs: dict[str, Any]) -> None:
    """The document's examples become what can be: a new Idempotency-Key each time, bots that are there.

    And what all other cases need is not taken away: the senders' tokens, most of the bots.
    """
    if case.headers and case.headers.get(HEADER) == KEY_PARAMETER["example"]:
        case.headers[HEADER] = f"key {next(_turns)}"
    there = _worlds[-1]
    if isinstance(case.body, dict):
        case.body = _real(case.body, there.stand_ins)
    for name, value in (case.path_parameters or {}).items():
        if case.method.upper() == "DELETE" and value in there.kept:
            case.path_parameters[name] = "gone"


def _real(value: Any, stand_ins: Mapping[str, str]) -> Any:
    """The same with bots that are there."""
    if isinstance(value, dict):
        return {name: _real(each, stand_ins) for name, each in value.items()}
    if isinstance(value, list):
        return [_real(each, stand_ins) for each in value]
    return stand_ins.get(value, value) if isinstance(value, str) else value


def _mend() -> None:
    """schemathesis gives applications in its process parameters of connections, which they do not take."""
    send = WSGITransport.send

    def mended(self: WSGITransport, case: Any, **given: Any) -> Any:
        return send(self, case, **{name: value for name, value in given.items() if name not in OF_SOCKETS})

    WSGITransport.send = mended  # type: ignore[method-assign, assignment]


_mend()


@schemathesis.hook
def filter_failure(context: Any, failure: Any, case: Any, response: Any) -> bool:
    """Whether a failure is one: not if what was refused fits the document, but not what that cannot say."""
    if isinstance(failure, AcceptedNegativeData) and case.media_type == "multipart/form-data":
        return False  # once it is sent, all in a form is text or bytes: of the wrong type it was only before
    if not isinstance(failure, RejectedPositiveData) or response.status_code != 422:
        return True
    return not {name.partition(".")[0] for name in response.json()["errors"]} <= UNSAID.keys()


def _note(seen: Seen, event: events.ScenarioFinished) -> None:
    for case_id, met in event.recorder.interactions.items():
        if met.response is not None:
            operation = event.recorder.cases[case_id].value.operation.label
            seen.answers[operation, met.response.status_code] += 1
            seen.phases[event.phase.value] += 1
    for case_id, checks in event.recorder.checks.items():
        for check in checks:
            if check.failure_info is not None:
                seen.wrong.append(_words(event, case_id, check))


def _words(event: events.ScenarioFinished, case_id: str, check: Any) -> str:
    case = event.recorder.cases[case_id].value
    told = check.failure_info
    return f"{case.operation.label}: {check.name}: {told.failure}\n{told.code_sample}"


def show(console: Console, seen: Seen) -> None:
    """Cases by operation and status."""
    statuses = sorted({status for _, status in seen.answers})
    table = Table("operation", "cases", *map(str, statuses))
    for operation in sorted({name for name, _ in seen.answers}):
        counts = [seen.answers[operation, status] for status in statuses]
        table.add_row(operation, f"{sum(counts):,}", *(f"{count:,}" if count else "" for count in counts))
    sums = [sum(n for (_, status), n in seen.answers.items() if status == each) for each in statuses]
    table.add_row("all", f"{seen.cases:,}", *(f"{each:,}" for each in sums))
    console.print(table)
    console.print(", ".join(f"{name} {count:,}" for name, count in seen.phases.items()))


def quiet() -> None:
    """Thousands of log lines tell nothing more."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))


def main() -> None:
    """Cases of all senders in turn, each in a world of its own, until there are as many as were wanted."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=10_000, help="how many at least; default 10000")
    parser.add_argument("--each", type=int, default=30, help="most of a phase for an operation; default 30")
    parser.add_argument("--seed", type=int, default=1, help="other seeds, other cases")
    parser.add_argument("--database", help="a PostgreSQL's address, which is EMPTIED; default: SQLite")
    asked = parser.parse_args()
    quiet()
    console, seen = Console(), Seen()
    with Progress(console=console) as bar, suppress(KeyboardInterrupt):  # what there is until then is shown
        task = bar.add_task("cases", total=asked.cases)
        for more in turns(each=asked.each, seed=asked.seed, database_url=asked.database):
            seen.add(more)
            bar.update(task, completed=seen.cases)
            if seen.cases >= asked.cases:
                break
    show(console, seen)
    for words in seen.wrong[:50]:
        console.print(words, markup=False, highlight=False)
    console.print(f"{len(seen.wrong)} wrong")
    sys.exit(bool(seen.wrong))


def turns(*, each: int, seed: int, database_url: str | None) -> Iterator[Seen]:
    """What each of the senders saw, again and again, each in a world of its own."""
    for turn in count():
        sender = SENDERS[turn % len(SENDERS)]
        with (
            tempfile.TemporaryDirectory(prefix="rage-fuzz-") as folder,
            furnished(Path(folder), database_url) as there,
        ):
            yield run(there, sender, each=each, seed=seed + turn)


if __name__ == "__main__":
    main()
