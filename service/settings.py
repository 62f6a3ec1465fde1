"""What an operator may set: the only reader of RAGE_ environment variables.

Read once, checked at once, frozen. A variable that makes no sense stops the start by its name.
"""

import hashlib
import os
from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit, urlunsplit

from service import interpreters as listing

PREFIX = "RAGE_"
LONGEST_SOCKET = 100  # bytes; the kernel refuses a unix socket path beyond about 107
SHORTEST_SECRET = 16
LOG_LEVELS = ("debug", "info", "warning", "error")
SWITCH = {
    "true": True,
    "yes": True,
    "on": True,
    "1": True,
    "false": False,
    "no": False,
    "off": False,
    "0": False,
}


class SettingsError(Exception):
    """A variable whose value cannot be used; the text names it and says what would be right."""

    def __init__(self, variable: str, reason: str) -> None:
        self.variable = variable
        super().__init__(f"{variable} {reason}")


# Readers: text to value; their ValueError says what would be right.


def _number(low: int, high: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        plain = text.replace("_", "")
        if not (plain.isascii() and plain.isdigit() and low <= int(plain) <= high):
            raise ValueError(f"must be a whole number from {low} to {high}")
        return int(plain)

    return read


def _switch(text: str) -> bool:
    if text.lower() not in SWITCH:
        raise ValueError("must be true or false")
    return SWITCH[text.lower()]


def _level(text: str) -> str:
    if text.lower() not in LOG_LEVELS:
        raise ValueError(f"must be one of {', '.join(LOG_LEVELS)}")
    return text.lower()


def _host(text: str) -> str:
    if "/" in text or any(letter.isspace() for letter in text):
        raise ValueError("must be an address or a host name alone, such as 127.0.0.1 or 0.0.0.0")
    return text.removeprefix("[").removesuffix("]")


def _path(text: str) -> Path:
    try:
        return Path(os.path.abspath(Path(text).expanduser()))
    except RuntimeError as error:
        raise ValueError("must be a path; its ~ leads nowhere here") from error


def _database(text: str) -> str:
    """SQLite in a file or PostgreSQL; a relative file is made absolute, since programs start elsewhere."""
    file = text.removeprefix("sqlite:///")
    if file not in {text, ""} and ":memory:" not in file:
        return f"sqlite:///{_path(file)}"
    parts = urlsplit(text)
    if parts.scheme in {"postgresql", "postgresql+psycopg"} and parts.path.strip("/"):
        return text
    raise ValueError("must be sqlite:///FILE or postgresql://USER:PASSWORD@HOST/DATABASE")


def _redis(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme in {"redis", "rediss"} and parts.hostname:
        return text
    if parts.scheme == "unix" and parts.path.strip("/"):
        return text
    raise ValueError("must be redis://HOST:PORT/0, rediss://HOST:PORT/0 or unix:///PATH?db=0")


def _secret(text: str) -> str:
    if len(text) < SHORTEST_SECRET or not text.isascii() or any(letter.isspace() for letter in text):
        raise ValueError(f"must be {SHORTEST_SECRET} or more letters, digits and signs without a space")
    return text


def _setting(default: str | None, read: Callable[[str], Any], meaning: str) -> Any:
    """A field filled from its variable; `default` as a person would write it, None: worked out."""
    return field(metadata={"default": default, "read": read, "meaning": meaning})


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Every setting, read and checked; each field's variable is RAGE_ and its name."""

    data_dir: Path = _setting("~/.local/share/rage-arena", _path, "database, broker data and logs")
    database_url: str = _setting(None, _database, "the database; unset: a SQLite file in the data directory")
    database_pooled: bool = _setting(
        "false",
        _switch,
        "whether PgBouncer hands out connections (pool_mode = transaction, a short query_wait_timeout)",
    )
    redis_url: str | None = _setting(None, _redis, "the Redis to use; unset: `rage up` starts its own")
    valkey_server: Path | None = _setting(None, _path, "valkey-server to start; unset: the installed one")
    host: str = _setting("127.0.0.1", _host, "address the API listens on")
    port: int = _setting("8000", _number(0, 65535), "port the API listens on; 0 takes a free one")
    workers: int = _setting(None, _number(1, 512), "matches played at once; unset: one for each core")
    log_level: str = _setting("info", _level, f"how much is logged: {', '.join(LOG_LEVELS)}")
    public_read: bool = _setting("true", _switch, "whether anyone may read without a token")
    open_registration: bool = _setting("true", _switch, "whether anyone may make an account")
    lease_seconds: int = _setting("15", _number(5, 3600), "seconds a silent worker keeps its match")
    chunk_ms: int = _setting("1000", _number(50, 60_000), "playing time aimed at in one job, in milliseconds")
    batch_ms: int = _setting(
        "250", _number(1, 60_000), "playing time of short matches leased together: so late a result is seen"
    )
    reap_seconds: int = _setting("2", _number(1, 600), "how often lost work is looked for and sent again")
    stop_seconds: int = _setting("5", _number(0, 3600), "time a stopping worker gives the matches it plays")
    max_matches: int = _setting("400000", _number(1, 100_000_000), "most matches one tournament may need")
    max_bots: int = _setting("100", _number(1, 1_000_000), "most active bots of one account")
    uploads_per_hour: int = _setting("120", _number(1, 1_000_000), "most uploads of one account an hour")
    queued_matches: int = _setting(
        "400000", _number(1, 100_000_000), "most matches of one account's tournaments that may wait"
    )
    requests_per_minute: int = _setting(
        "1200", _number(1, 10_000_000), "most requests a minute of one account, or of one address without"
    )
    writes_per_minute: int = _setting("300", _number(1, 10_000_000), "most of these that change something")
    accounts_per_hour: int = _setting("60", _number(1, 10_000_000), "most accounts one address makes an hour")
    proxies: int = _setting("0", _number(0, 10), "proxies before the API whose X-Forwarded-For is true")
    metrics_token: str | None = _setting(
        None, _secret, "the token /metrics asks for; unset: it answers all who ask without a proxy"
    )
    records_days: int = _setting(
        "0", _number(0, 36_500), "days after which records of a finished tournament move to files; 0: never"
    )
    records_dir: Path | None = _setting(
        None, _path, "where those files are, for the API and the desk; unset: records in the data directory"
    )
    upload_bytes: int = _setting(str(5 << 20), _number(1024, 1 << 30), "largest bot upload")
    sandbox_python: Path | None = _setting(None, _path, "the Python that bots run on; unset: found by itself")
    interpreters: Mapping[str, str] = _setting(
        "", listing.read, "what else bots may run on, such as node=/usr/bin/node,bash=/bin/bash"
    )

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> "Settings":
        """Settings from RAGE_ variables; an empty one counts as unset. Raises `SettingsError`."""
        values = {each.name: _read(each, environ) for each in fields(cls)}
        if values["database_url"] is None:
            values["database_url"] = f"sqlite:///{values['data_dir']}/rage.sqlite3"
        if values["workers"] is None:
            values["workers"] = len(os.sched_getaffinity(0))
        return cls(**values)

    def environment(self) -> dict[str, str]:
        """The same settings as variables, for the programs `rage up` starts; unset ones are empty."""
        return {variable(each): _written(getattr(self, each.name)) for each in fields(self)}

    def describe(self) -> list[tuple[str, str, str, str]]:
        """Rows for a person: variable, value, default, meaning. Passwords are not shown."""
        return [_row(each, getattr(self, each.name)) for each in fields(self)]

    @property
    def records(self) -> Path:
        """Where records are that have left the database."""
        return self.records_dir or self.data_dir / "records"

    @property
    def socket(self) -> Path:
        """Where `rage up`'s own server listens: a short place when the data directory's name is long."""
        usual = self.data_dir / "run" / "valkey.sock"
        if len(os.fsencode(usual)) <= LONGEST_SOCKET:
            return usual
        name = hashlib.sha256(os.fsencode(self.data_dir)).hexdigest()[:12]
        return Path(f"/tmp/rage-{os.getuid()}-{name}/valkey.sock")  # noqa: S108 - valkey.py checks its owner

    @property
    def client_url(self) -> str:
        """The broker's address as redis-py takes it."""
        return self.redis_url or f"unix://{quote(str(self.socket))}?db=0"

    @property
    def broker_url(self) -> str:
        """The broker's address as kombu takes it."""
        parts = urlsplit(self.client_url)
        if parts.scheme != "unix":
            return self.client_url
        number = [part.removeprefix("db=") for part in parts.query.split("&") if part.startswith("db=")]
        return f"redis+socket://{parts.path}?virtual_host={number[0] if number else 0}"


def variable(each: "Field[Any]") -> str:
    """The environment variable that fills a field."""
    return PREFIX + each.name.upper()


def misspelt(environ: Mapping[str, str]) -> list[str]:
    """A sentence for each RAGE_ variable that nobody reads and that looks like one somebody would."""
    known = [variable(each) for each in fields(Settings)]
    strangers = sorted(name for name in environ if name.startswith(PREFIX) and name not in known)
    guesses = {name: get_close_matches(name, known, n=1, cutoff=0.8) for name in strangers}
    return [f"{name} is not a setting; {guess[0]} is" for name, guess in guesses.items() if guess]


def _read(each: "Field[Any]", environ: Mapping[str, str]) -> Any:
    text = environ.get(variable(each), "").strip() or each.metadata["default"]
    try:
        return text if text is None else each.metadata["read"](text)
    except ValueError as error:
        told = "://" not in text and each.metadata["read"] is not _secret  # an address may hold a password
        shown = f", not {text!r}" if told else ""
        raise SettingsError(variable(each), f"{error}{shown}") from None


def _row(each: "Field[Any]", value: object) -> tuple[str, str, str, str]:
    shown = "***" if value and each.metadata["read"] is _secret else hidden(_written(value))
    return variable(each), shown, each.metadata["default"] or "", each.metadata["meaning"]


def _written(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, Mapping):
        return listing.written(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def hidden(text: str) -> str:
    """An address without its password."""
    parts = urlsplit(text)
    if "@" not in parts.netloc:
        return text
    return urlunsplit(parts._replace(netloc=f"{parts.username or ''}:***@{parts.netloc.rpartition('@')[2]}"))
