"""What the API's tests share: an application on a fresh database whose every answer is held against its own
OpenAPI document, authors with tokens, bots that are ready, tournaments played by trusted functions."""

import gzip
import io
import json
import logging
import shutil
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import structlog
from click.testing import CliRunner, Result
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import update
from werkzeug.serving import make_server
from werkzeug.test import TestResponse

from api import saved
from api.app import create_app
from api.cli import main
from api.client import Client
from engine.rules import RuleSet
from engine.table import FaultKind, LocalPlayer, PlayerFault, Question, play
from loadtests import singly
from service import refit, tables, trials
from service.jobs import CHECK, SETTLE, InlineQueue
from service.settings import Settings
from service.sheet import Spent
from service.work import Arena
from tests.databases import OpenDatabase

CODE = b"def bid(view):\n    return 0\n\n\ndef play(view):\n    return view['legal'][0]\n"
KINDS: Mapping[str, tuple[type, ...]] = {
    "object": (dict,), "array": (list,), "string": (str,), "integer": (int,), "number": (int, float),
    "boolean": (bool,), "null": (type(None),),
}  # fmt: skip


@dataclass(slots=True)
class Clock:
    """A clock that stands still until it is turned."""

    now: datetime = field(default_factory=lambda: datetime(2030, 1, 1, 12, tzinfo=UTC))

    def __call__(self) -> datetime:
        self.now += timedelta(microseconds=1)
        return self.now

    def turn(self, **time: float) -> None:
        self.now += timedelta(**time)


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """The server's lines must not mix with what a command prints in the same process."""
    structlog.configure(
        processors=[structlog.contextvars.merge_contextvars, structlog.processors.KeyValueRenderer()],
        logger_factory=structlog.ReturnLoggerFactory(),
        cache_logger_on_first_use=False,
    )
    root = logging.getLogger()
    before = root.handlers[:]
    root.handlers[:] = [each for each in before if type(each).__module__.startswith("_pytest")]
    yield
    root.handlers[:] = before
    structlog.reset_defaults()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def kind(request: pytest.FixtureRequest) -> str:
    """Which sort of database: what `--database` names; a test that is `ON_EACH` has both."""
    return str(request.config.getoption("--database"))


@pytest.fixture
def settings(tmp_path: Path, open_database: OpenDatabase, kind: str) -> Iterator[Settings]:
    with open_database(kind) as told:
        yield Settings.from_environment({"RAGE_DATA_DIR": str(tmp_path), **told})


@pytest.fixture
def arena(settings: Settings, clock: Clock, migrated_file: Path) -> Iterator[Arena]:
    if settings.database_url.startswith("sqlite"):
        shutil.copy(migrated_file, settings.data_dir)
    opened = Arena.open(settings, InlineQueue(), clock)
    yield opened
    opened.close()


# The application, each of whose answers must be as documented.


class Contract:
    """An OpenAPI document as a judge of answers; `seen` are the operations that succeeded."""

    def __init__(self, app: Flask) -> None:
        self.spec: dict[str, Any] = app.extensions["openapi"]
        self.app = app
        self.seen: set[str] = set()

    def judge(self, method: str, answer: TestResponse) -> None:
        operation = self._operation(method, answer.request.path)
        if operation is None:
            return
        status = str(answer.status_code)
        told = operation["responses"].get(status) or self._resolved(operation["responses"]["default"])
        if status.startswith("2"):
            self.seen.add(operation["operationId"])
        else:
            assert status == "304" or answer.mimetype == "application/problem+json", answer.text
        contents = told.get("content", {})
        if not contents or method == "HEAD":
            assert not answer.data
            return
        assert answer.mimetype in contents, f"{operation['operationId']} answers {answer.mimetype}"
        if answer.mimetype.endswith("json"):
            squeezed = answer.headers.get("Content-Encoding") == "gzip"
            told_json = json.loads(gzip.decompress(answer.data) if squeezed else answer.data)
            self.check(contents[answer.mimetype]["schema"], told_json, operation["operationId"])

    def check(self, schema: Mapping[str, Any], value: object, path: str) -> None:
        schema = self._resolved(schema)
        kinds = schema.get("type", list(KINDS))
        allowed = [kind for name in ([kinds] if isinstance(kinds, str) else kinds) for kind in KINDS[name]]
        assert type(value) in allowed, f"{path}: {value!r} is not {kinds}"
        assert "enum" not in schema or value is None or value in schema["enum"], f"{path}: {value!r}"
        if isinstance(value, list):
            for number, item in enumerate(value):
                self.check(schema["items"], item, f"{path}.{number}")
        if isinstance(value, dict) and "properties" in schema:
            assert set(schema.get("required", ())) <= set(value), f"{path}: {sorted(value)}"
            for name, item in value.items():
                assert name in schema["properties"], f"{path}.{name} is not documented"
                self.check(schema["properties"][name], item, f"{path}.{name}")

    def _operation(self, method: str, path: str) -> dict[str, Any] | None:
        with self.app.test_request_context(path, method=method) as context:
            rule = context.request.url_rule
        if rule is None:
            return None
        named = "".join(f"{{{part}}}" if dynamic else part for dynamic, part in rule._trace).removeprefix("|")
        found = self.spec["paths"].get(named, {}).get("get" if method == "HEAD" else method.lower())
        return dict(found) if found else None

    def _resolved(self, told: Mapping[str, Any]) -> Mapping[str, Any]:
        while "$ref" in told:
            found: Any = self.spec
            for part in told["$ref"].removeprefix("#/").split("/"):
                found = found[part]
            told = found
        return told


class Checked(FlaskClient):
    """A test client that holds answers against the document."""

    contract: Contract

    def open(self, *args: Any, **kwargs: Any) -> TestResponse:
        answer = super().open(*args, **kwargs)
        if answer.mimetype != "text/event-stream":
            self.contract.judge(answer.request.method, answer)
        assert answer.headers["X-Request-ID"]
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        return answer


@pytest.fixture
def app(arena: Arena) -> Flask:
    return create_app(arena.settings, arena)


@pytest.fixture
def contract(app: Flask) -> Contract:
    return Contract(app)


@pytest.fixture
def http(app: Flask, contract: Contract) -> FlaskClient:
    app.test_client_class = Checked
    client = app.test_client()
    assert isinstance(client, Checked)
    client.contract = contract
    return client


@pytest.fixture
def strict_http(arena: Arena) -> FlaskClient:
    """The same arena where strangers may neither read nor register."""
    closed = replace(arena.settings, public_read=False, open_registration=False)
    return create_app(arena=replace(arena, settings=closed)).test_client()


# Who and what there is.


@dataclass(frozen=True, slots=True)
class Author:
    """An account that speaks HTTP under /api/v1."""

    http: FlaskClient
    id: str
    name: str
    token: str

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}

    def get(self, path: str, **options: Any) -> TestResponse:
        return self.http.get(f"/api/v1{path}", headers=self.headers, **options)

    def post(self, path: str, body: Any = None, *, key: str | None = None, **options: Any) -> TestResponse:
        headers = self.headers | ({"Idempotency-Key": key} if key else {})
        if body is not None:
            options["json"] = body
        return self.http.post(f"/api/v1{path}", headers=headers, **options)

    def patch(self, path: str, body: Any) -> TestResponse:
        return self.http.patch(f"/api/v1{path}", headers=self.headers, json=body)

    def delete(self, path: str) -> TestResponse:
        return self.http.delete(f"/api/v1{path}", headers=self.headers)

    def upload(
        self,
        path: str = "/bots",
        *,
        code: bytes = CODE,
        filename: str = "bot.py",
        key: str | None = None,
        **fields: Any,
    ) -> TestResponse:
        form = {**fields, "code": (io.BytesIO(code), filename)}
        return self.post(path, data=form, content_type="multipart/form-data", key=key)


@pytest.fixture
def make_author(http: FlaskClient) -> Callable[[str], Author]:
    def make(name: str) -> Author:
        told = http.post("/api/v1/accounts", json={"name": name}).get_json()
        return Author(http, told["id"], told["name"], told["token"])

    return make


@pytest.fixture
def ada(make_author: Callable[[str], Author]) -> Author:
    return make_author("ada")


@pytest.fixture
def bob(make_author: Callable[[str], Author]) -> Author:
    return make_author("bob")


@pytest.fixture
def ready_bots(ada: Author, arena: Arena) -> list[str]:
    """Four bots of Ada's that passed their check."""
    ids = [ada.upload(name=f"bot {number}").get_json()["id"] for number in range(4)]
    with arena.work() as work:
        work.db.execute(update(tables.version).values(status="ready"))
    return ids


def spec_of(entrants: list[str], **more: Any) -> dict[str, Any]:
    rules = {"preset": "fundex", "hand_sizes": [2, 1]}
    return {"name": "Open", "entrants": entrants, "deals": 2, "rules": rules, **more}


@pytest.fixture
def make_spec() -> Callable[..., dict[str, Any]]:
    return spec_of


class Faulty(LocalPlayer):
    """Says something that is no legal card, once a match."""

    asked = 0

    def ask(self, question: Question) -> object:
        self.asked += 1
        if self.asked == 2:
            raise PlayerFault(FaultKind.ILLEGAL, "R99 is no card", out=False, evidence={"answer": "R99"})
        return super().ask(question)


@pytest.fixture
def play_all(arena: Arena) -> Callable[..., None]:
    """Plays what waits to be played with trusted functions; entrant 0 commits a fault in each match."""

    def run(most: int = 1000) -> None:
        held = singly.claim(arena, "here")
        while held is not None and most > 0:
            most -= 1
            functions = {"bid": lambda view: 1, "play": lambda view: view["legal"][0]}
            seats = [(Faulty if each == 0 else LocalPlayer)(**functions) for each in held.entrants]
            outcome = play(RuleSet.parse(held.rules, len(seats)), seats, seed=held.seed)
            spent = [Spent(1, 2, 3)] * len(seats)
            _, held = singly.finish_and_claim(
                arena, held, outcome, spent, mode="A", worker="here", more=most > 0
            )

    return run


@pytest.fixture
def cup(ada: Author, ready_bots: list[str], play_all: Callable[..., None], arena: Arena) -> dict[str, Any]:
    """A finished and rated tournament of Ada's."""
    made = ada.post("/tournaments", spec_of(ready_bots)).get_json()
    play_all()
    refit.settle(arena, made["id"])
    told: dict[str, Any] = ada.get(f"/tournaments/{made['id']}").get_json()
    assert told["status"] == "finished"
    return told


# Real HTTP, for the client and the command.


@pytest.fixture
def server(app: Flask, arena: Arena) -> Iterator[str]:
    """The application on a free port; new bots pass their check at once, tournaments are rated when over."""
    queue = arena.queue
    assert isinstance(queue, InlineQueue)
    queue.does = {
        CHECK: lambda version: _pass(arena, version),
        SETTLE: lambda one: refit.settle(arena, one),
    }
    listener = make_server("127.0.0.1", 0, app, threaded=True)
    threading.Thread(target=listener.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{listener.server_port}"
    listener.shutdown()
    listener.server_close()


def _pass(arena: Arena, version_id: str) -> None:
    trial = trials.claim(arena, version_id)
    if trial is None:
        return  # its job was sent twice, and the check is done
    good = b"raise" not in trial.code
    report = {"ready": good} if good else {"ready": False, "error": {"message": "it raised", "line": 1}}
    trials.record_check(arena, trial, ready=good, report=report)


# The `rage` command, in this process.

Run = Callable[..., Result]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name in ("RAGE_URL", "RAGE_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def run(home: Path) -> Run:
    def invoke(*words: str, status: int = 0, **options: Any) -> Result:
        result = CliRunner().invoke(main, list(words), **options)
        assert result.exit_code == status, result.output
        assert result.exception is None or isinstance(result.exception, SystemExit)
        return result

    return invoke


@pytest.fixture
def bot(home: Path) -> Path:
    file = home / "spy.py"
    file.write_bytes(CODE)
    return file


@pytest.fixture
def logged_in(run: Run, server: str) -> Client:
    run("login", server, "--register", "ada in")
    login = saved.load()
    assert login is not None
    return Client(login.url, login.token)


@pytest.fixture
def four(run: Run, logged_in: Client, arena: Arena) -> list[str]:
    ids = [logged_in.submit(f"bot {number}", "bot.py", CODE)["id"] for number in range(4)]
    assert isinstance(arena.queue, InlineQueue)
    arena.queue.run()
    return ids


@pytest.fixture
def prompt(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> None:
    """Jobs are done as soon as they are sent."""
    monkeypatch.setattr(
        InlineQueue, "send", lambda self, job: job.name in self.does and self.does[job.name](*job.arguments)
    )
