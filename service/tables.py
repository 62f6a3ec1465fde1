"""The rows: every table of the database."""

from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Dialect,
    Float,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
    UniqueConstraint,
    false,
    text,
    true,
)

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


class Moment(TypeDecorator[datetime]):
    """An aware time in UTC, stored as whole microseconds: the same order and precision in every database."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:
        """Refuses a time without a zone (TypeError), which would mean something else on every machine."""
        return None if value is None else (value - EPOCH) // MICROSECOND

    def process_result_value(self, value: int | None, dialect: Dialect) -> datetime | None:
        """The aware time again."""
        return None if value is None else EPOCH + value * MICROSECOND


metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def _id() -> "Column[str]":
    return Column("id", String(40), primary_key=True)


def _to(name: str, target: str, **options: Any) -> "Column[str]":
    return Column(name, String(60), ForeignKey(target), nullable=False, **options)


def _moment(name: str, *, known: bool = True) -> "Column[datetime]":
    return Column(name, Moment, nullable=not known)


def _switch(name: str, default: bool) -> "Column[bool]":
    return Column(name, Boolean, nullable=False, server_default=true() if default else false())


def _lease() -> "tuple[Column[Any], ...]":
    """Who is at it: `lease_until` changes with every sign of life; `watch.py` keeps the last two columns."""
    return (
        Column("lease_token", String(32)),
        Column("lease_worker", String(120)),
        _moment("lease_until", known=False),
        _moment("lease_seen", known=False),  # the `lease_until` the watch saw last
        Column("silent_since", BigInteger),  # watched milliseconds when it first saw that one
    )


def _match_key() -> ForeignKeyConstraint:
    return ForeignKeyConstraint(
        ["tournament_id", "number"], ["match.tournament_id", "match.number"], ondelete="CASCADE"
    )


account = Table(
    "account",
    metadata,
    _id(),
    Column("name", String(60), nullable=False),
    Column("name_key", String(120), nullable=False, unique=True),
    Column("role", String(10), nullable=False),
    _moment("created_at"),
)

token = Table(
    "token",
    metadata,
    Column("hash", String(64), primary_key=True),
    Column("id", String(40), nullable=False, unique=True),
    _to("account_id", "account.id", index=True),
    Column("label", String(60), nullable=False),
    Column("scopes", String(60), nullable=False),
    _moment("created_at"),
    _moment("last_used_at", known=False),
    _moment("revoked_at", known=False),
    Column("made_with", String(40)),  # the id of the token it was asked for with; None: by the operator
)

session = Table(  # a browser that signed in with a token; gone with it
    "session",
    metadata,
    Column("hash", String(64), primary_key=True),
    Column("token_hash", String(64), ForeignKey("token.hash"), nullable=False, index=True),
    _moment("created_at"),
    _moment("until"),
)

bot = Table(
    "bot",
    metadata,
    _id(),
    _to("owner_id", "account.id", index=True),
    Column("name", String(60), nullable=False),
    Column("name_key", String(120), nullable=False, unique=True),
    Column("description", Text, nullable=False),
    Column("public_source", Boolean, nullable=False),
    Column("house", Boolean, nullable=False),
    _moment("created_at"),
    _moment("retired_at", known=False),
)

version = Table(
    "version",
    metadata,
    Column("id", String(60), primary_key=True),  # "<bot>:<number>"
    _to("bot_id", "bot.id"),
    Column("number", Integer, nullable=False),
    Column("kind", String(8), nullable=False),
    Column("filename", String(200), nullable=False),
    Column("sha256", String(64), nullable=False),
    Column("size", Integer, nullable=False),
    Column("code", LargeBinary, nullable=False),
    Column("status", String(10), nullable=False, index=True),
    Column("report", JSON),
    _moment("created_at"),
    _moment("checked_at", known=False),
    Column("attempts", Integer, nullable=False, server_default="0"),
    *_lease(),
    Column("trouble", Text),  # our own failure in the last attempt, for the operator
    UniqueConstraint("bot_id", "number"),
)

tournament = Table(
    "tournament",
    metadata,
    _id(),
    _to("owner_id", "account.id", index=True),
    Column("name", String(120), nullable=False),
    Column("format", String(20), nullable=False),
    Column("status", String(10), nullable=False, index=True),
    Column("reason", Text),
    Column("rules", JSON, nullable=False),
    Column("rules_key", String(40), nullable=False),
    Column("players", Integer, nullable=False),
    Column("deals", Integer, nullable=False),
    Column("duplicate", Boolean, nullable=False),
    Column("meetings", Integer, nullable=False),
    Column("limits", JSON, nullable=False),
    Column("seed", String(200), nullable=False),
    Column("secret", LargeBinary, nullable=False),
    Column("total", Integer, nullable=False),
    _moment("start_at", known=False),
    _moment("created_at"),
    _moment("started_at", known=False),
    _moment("finished_at", known=False),
    _moment("claimed_at", known=False),  # when one of its matches was last given out
    Column("stages", Integer),  # how many stages were asked for, where the format leaves the choice
    Column("challenger", String(100)),  # BOT or BOT:VERSION as it was entered
    _switch("apart", False),  # whether bots of one owner are kept from one table
    Column("plan", JSON(none_as_null=True)),  # what its format worked out before the start
    Column("stage", Integer, nullable=False, server_default="0"),  # stages planned so far
    Column("planned", Integer, nullable=False, server_default="0"),  # deal groups in them; see parts.py
    Column("groups", Integer, nullable=False, server_default="0"),  # deal groups written so far
    Column("written", Integer, nullable=False, server_default="0"),  # matches written so far
    _switch("more", False),  # whether a further stage may follow
    _switch("entry_open", False),
    Column("entry_limit", Integer),
    _moment("entry_deadline", known=False),
    Column("repeat", String(100)),  # a cron line; the next one is made when this one starts
    Column("series", String(60), index=True),  # the first tournament of those that repeat
    Index("ix_tournament_pool", "rules_key", "players"),
)

entrant = Table(
    "entrant",
    metadata,
    _to("tournament_id", "tournament.id", primary_key=True),
    Column("number", Integer, primary_key=True),
    _to("bot_id", "bot.id", index=True),
    Column("version_id", String(60), ForeignKey("version.id"), index=True),  # known from the start on
    Column("status", String(12), nullable=False, server_default="in"),  # in, withdrawn, disqualified
    Column("reason", Text),
    _moment("left_at", known=False),
    _switch("filler", False),  # a house bot that fills a seat: unrated
)

stage = Table(  # tables that were planned together
    "stage",
    metadata,
    _to("tournament_id", "tournament.id", primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("kind", String(10), nullable=False),
    Column("tables", JSON, nullable=False),  # entrant numbers of each deal group, without fillers
    Column("byes", JSON, nullable=False),
    Column("first_group", Integer, nullable=False),
    _moment("planned_at"),
)

progress = Table(  # how far it is; see service.progress
    "progress",
    metadata,
    _to("tournament_id", "tournament.id", primary_key=True),
    Column("slot", Integer, primary_key=True),
    *(
        Column(name, BigInteger, nullable=False, server_default="0")
        for name in ("done", "failed", "void", "faults", "decisions", "ended")
    ),
)

record_file = Table(  # where the records of a tournament are, if not here; see service.retention
    "record_file",
    metadata,
    _to("tournament_id", "tournament.id", primary_key=True),
    Column("file", String(200), nullable=False),
    Column("matches", Integer, nullable=False),
    Column("sha256", String(64), nullable=False),
    _moment("moved_at"),
    Column("cleared", Boolean, nullable=False),  # whether all have left the database
    _moment("back_at", known=False),  # brought back: only who names it moves it again
)

summary = Table(  # what follows from one that is over; see service.summaries
    "summary",
    metadata,
    _to("tournament_id", "tournament.id", primary_key=True),
    Column("version", Integer, nullable=False),
    Column("body", JSON, nullable=False),
)

comparison = Table(  # the test of a tournament that compares two bots
    "comparison",
    metadata,
    _to("tournament_id", "tournament.id", primary_key=True),
    Column("elo0", Float, nullable=False),
    Column("elo1", Float, nullable=False),
    Column("alpha", Float, nullable=False),
    Column("beta", Float, nullable=False),
    Column("cap", Integer, nullable=False),
)

match = Table(
    "match",
    metadata,
    _to("tournament_id", "tournament.id", primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("deal_group", Integer, nullable=False),
    Column("rotation", Integer, nullable=False),
    Column("stage", Integer, nullable=False, server_default="1"),
    _switch("rated", True),  # not so with a filler, or fewer seats than the tournament's
    Column("entrants", JSON, nullable=False),  # entrant numbers in seat order
    Column("status", String(8), nullable=False),
    Column("attempts", Integer, nullable=False, server_default="0"),
    *_lease(),
    Column("suspicion", Integer, nullable=False, server_default="0"),  # see lost.py
    Column("trouble", Text),  # our own failure in the last attempt, for the operator
    _moment("started_at", known=False),
    _moment("finished_at", known=False),
    Column("mode", String(4)),
    Column("replays", Integer, nullable=False, server_default="0"),  # for a machine that was too busy
    Column("faults", Integer, nullable=False, server_default="0"),
    Column("decisions", Integer, nullable=False, server_default="0"),
    Column("record", LargeBinary),
    Column("told", Integer),  # its number among the results as they are told, from 1; see events.py
    Index("ix_match_todo", "tournament_id", "status", "number"),
    Index(
        "ix_match_leases",
        "lease_until",
        sqlite_where=text("status = 'leased'"),
        postgresql_where=text("status = 'leased'"),
    ),
    Index(
        "ix_match_tokens",
        "lease_token",
        "tournament_id",
        sqlite_where=text("status = 'leased'"),
        postgresql_where=text("status = 'leased'"),
    ),
    Index("ix_match_finished", "tournament_id", "finished_at", "number"),
    Index(
        "ix_match_told",
        "tournament_id",
        "told",
        "number",
        sqlite_where=text("status = 'done'"),
        postgresql_where=text("status = 'done'"),
    ),
    Index("ix_match_group", "tournament_id", "deal_group"),
)

seat = Table(
    "seat",
    metadata,
    Column("tournament_id", String(60), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("seat", Integer, primary_key=True),
    Column("entrant", Integer, nullable=False),
    Column("score", Integer, nullable=False),
    Column("counted", Integer, nullable=False),
    Column("exact_bids", Integer, nullable=False),
    Column("place", Integer, nullable=False),
    Column("out", Boolean, nullable=False),
    Column("faults", Integer, nullable=False),
    Column("cpu_ms", Integer, nullable=False),
    Column("wall_ms", Integer, nullable=False),
    Column("memory_kb", Integer, nullable=False),
    Column("waited_ms", Integer, nullable=False, server_default="0"),  # ready to run, without a core
    _match_key(),
)

fault = Table(
    "fault",
    metadata,
    Column("tournament_id", String(60), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("ordinal", Integer, primary_key=True),
    _to("version_id", "version.id", index=True),
    Column("seat", Integer, nullable=False),
    Column("kind", String(10), nullable=False),
    Column("round", Integer, nullable=False),
    Column("trick", Integer, nullable=False),
    Column("decision", Integer, nullable=False),
    Column("asked", String(10), nullable=False),
    Column("text", Text, nullable=False),
    Column("out", Boolean, nullable=False),
    Column("evidence", JSON, nullable=False),
    _match_key(),
)

fault_count = Table(
    "fault_count",
    metadata,
    Column("kind", String(10), primary_key=True),
    Column("slot", Integer, primary_key=True, autoincrement=False),
    Column("n", BigInteger, nullable=False, server_default="0"),
)

pool = Table(  # matches that are rated together: one rule set, one table size
    "pool",
    metadata,
    Column("rules_key", String(40), primary_key=True),
    Column("players", Integer, primary_key=True),
    _moment("asked_at", known=False),  # something came to an end, or a bot retired: fit anew
    _moment("fitted_at", known=False),
    Column("took_ms", Integer, nullable=False, server_default="0"),  # the last fit
    Column("lease_token", String(32)),  # of whoever fits it
    _moment("lease_until", known=False),
)

counted = Table(  # all that ratings need of the matches of one table of entrants; see service.tally
    "counted",
    metadata,
    _to("tournament_id", "tournament.id", primary_key=True),
    Column("seats", LargeBinary(40), primary_key=True),  # entrant numbers of two bytes, in order of versions
    Column("rules_key", String(40), nullable=False),
    Column("players", Integer, nullable=False),
    Column("matches", Integer, nullable=False),
    Column("last_group", Integer, nullable=False),
    Column("sums", LargeBinary, nullable=False),  # numbers of eight bytes
    Index("ix_counted_pool", "rules_key", "players"),
)

snapshot = Table(  # written once
    "snapshot",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("rules_key", String(40), nullable=False),
    Column("players", Integer, nullable=False),
    Column("model", String(20), nullable=False),
    Column("model_version", Integer, nullable=False, server_default="1"),
    Column("parameters", JSON, nullable=False, server_default="{}"),
    Column("matches", Integer, nullable=False),
    Column("deals", Integer, nullable=False, server_default="0"),
    Column("tournaments", Integer, nullable=False, server_default="0"),  # that were over
    Column("last_deal", String(80)),  # the newest that is counted: "<tournament>/<deal group>"
    Column("final", Boolean, nullable=False, server_default=true()),  # the first after a tournament: kept
    Column("digest", String(64), nullable=False, server_default=""),  # of all that went into it
    Column("body", JSON, nullable=False),
    _moment("created_at"),
    Index("ix_snapshot_pool", "rules_key", "players", "model", "created_at"),
)

estimate = Table(  # what the newest snapshot knows of differences
    "estimate",
    metadata,
    Column("rules_key", String(40), primary_key=True),
    Column("players", Integer, primary_key=True),
    Column("model", String(20), primary_key=True),
    Column("snapshot_id", Integer, ForeignKey("snapshot.id"), nullable=False),
    Column("versions", JSON, nullable=False),
    Column("arrays", LargeBinary, nullable=False),  # ratings, covariance, half-points; numpy's format
)

rating = Table(  # a bot's history: its line in each final snapshot
    "rating",
    metadata,
    Column("snapshot_id", Integer, ForeignKey("snapshot.id"), primary_key=True),
    _to("version_id", "version.id", primary_key=True, index=True),
    Column("rating", Float, nullable=False),
    Column("low", Float),
    Column("high", Float),
    Column("matches", Integer, nullable=False),
    Column("place", Integer),
    Column("provisional", Boolean, nullable=False),
)

answer = Table(  # the first answer to a request with an Idempotency-Key
    "answer",
    metadata,
    _to("account_id", "account.id", primary_key=True),
    Column("key", String(200), primary_key=True),
    Column("fingerprint", String(64), nullable=False),
    Column("status", Integer, nullable=False),
    Column("body", LargeBinary, nullable=False),
    _moment("created_at"),
)

worker = Table(  # who has been heard of lately
    "worker",
    metadata,
    Column("name", String(120), primary_key=True),
    Column("mode", String(4)),
    Column("detail", JSON, nullable=False),
    _moment("started_at"),
    _moment("seen_at"),
)

pulse = Table(  # one row: how long somebody has been watching over leases
    "pulse",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    _moment("at"),
    Column("watched_ms", BigInteger, nullable=False),
)

incident = Table(  # what went wrong with us, not with a bot: for the operator, forgotten after a while
    "incident",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("kind", String(30), nullable=False, index=True),
    Column("about", String(80), nullable=False),  # a match's or a version's id
    Column("worker", String(120)),
    Column("text", Text),
    _moment("at"),
)
