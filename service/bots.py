"""Bots and their versions: uploaded, checked, retired. A version never changes."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any

from sqlalchemy import Row, Select, and_, func, insert, or_, select, true, tuple_, update
from sqlalchemy.exc import IntegrityError

from service import accounts, alike, counts, names, paging, quotas, upload
from service.accounts import Account
from service.errors import Conflict, Forbidden, Invalid, NotFound, TooLarge
from service.jobs import CHECK, Job
from service.paging import Micros, Page
from service.tables import account
from service.tables import bot as bot_rows
from service.tables import version as version_rows
from service.work import Arena, Work

STATUSES = ("checking", "ready", "rejected", "retired")


@dataclass(frozen=True, slots=True)
class Version:
    """One upload. `report` is what its check saw, told to its owner only (unless the source is public)."""

    id: str
    bot_id: str
    number: int
    status: str
    kind: str
    filename: str
    sha256: str
    size: int
    created_at: datetime
    checked_at: datetime | None
    report: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class Bot:
    """A name with its versions; `status` and `version` are the newest one's."""

    id: str
    name: str
    owner: str
    owner_id: str
    description: str
    public_source: bool
    house: bool
    status: str
    version: int
    created_at: datetime
    versions: list[Version] = field(default_factory=list)


def submit(
    arena: Arena,
    caller: Account,
    *,
    name: str,
    filename: str,
    content: bytes,
    description: str = "",
    public_source: bool = False,
) -> Bot:
    """A new bot with version 1, to be checked."""
    kind = _inspect(arena, filename, content)
    bot_id = names.new_id("bot")
    row = {
        "id": bot_id,
        "owner_id": caller.id,
        "name": names.name("name", name),
        "name_key": names.key(name),
        "description": names.prose("description", description, 2000),
        "public_source": public_source,
        "house": False,
    }
    with arena.work() as work:
        accounts.lock(work, caller)
        quotas.another_bot(arena, work, caller)
        quotas.another_upload(arena, work, caller)
        insert_bot(work, row)
        made = insert_version(work, bot_id, 1, kind, filename, content)
        work.send(Job(CHECK, (made,)))
    return bot(arena, caller, bot_id)


def add_version(arena: Arena, caller: Account, bot_id: str, *, filename: str, content: bytes) -> Version:
    """The next version of a bot, to be checked."""
    kind = _inspect(arena, filename, content)
    with arena.work() as work:
        accounts.lock(work, caller)
        found = _own(work, caller, bot_id)
        if found.retired_at is not None:
            raise Conflict(f"{found.name} is retired and takes no new versions")
        quotas.another_upload(arena, work, caller)
        newest = select(func.max(version_rows.c.number)).where(version_rows.c.bot_id == bot_id)
        number = int(work.db.scalar(newest) or 0) + 1
        made = insert_version(work, bot_id, number, kind, filename, content)
        work.send(Job(CHECK, (made,)))
    return version(arena, caller, bot_id, number)


def bots(
    arena: Arena,
    caller: Account | None = None,
    *,
    limit: int = 50,
    cursor: str | None = None,
    owner: str | None = None,
    status: str | None = None,
    name: str | None = None,
) -> Page[Bot]:
    """Bots, newest first; `owner` and `name` are names, `name` matches a part of one."""
    key = (bot_rows.c.created_at, bot_rows.c.id)
    query = _select_bots().order_by(*(column.desc() for column in key)).limit(limit + 1)
    if (after := paging.read(cursor, Micros, str)) is not None:
        query = query.where(tuple_(*key) < paging.row(key, [paging.moment(after[0]), after[1]]))
    if owner is not None:
        query = query.where(alike.named(account.c.name_key, owner))
    if name is not None:
        keys = (names.exact(name), names.key(name))
        query = query.where(or_(*(bot_rows.c.name_key.contains(key, autoescape=True) for key in keys)))
    if status == "retired":
        query = query.where(bot_rows.c.retired_at.is_not(None))
    elif status is not None:
        query = query.where(bot_rows.c.retired_at.is_(None), version_rows.c.status == status)
    with arena.read() as db:
        rows = db.execute(query).all()
    return paging.cut(rows, limit, lambda row: [paging.micros(row.created_at), row.id], _bot)


def playable(arena: Arena, *, limit: int, owner: str | None = None) -> list[Bot]:
    """Active bots that have a ready version, each shown with the newest of those; newest bots first."""
    query = _select_bots("ready").where(bot_rows.c.retired_at.is_(None))
    if owner is not None:
        query = query.where(alike.named(account.c.name_key, owner))
    with arena.read() as db:
        return [_bot(row) for row in db.execute(query.order_by(bot_rows.c.created_at.desc()).limit(limit))]


def bot(arena: Arena, caller: Account | None, bot_id: str) -> Bot:
    """One bot with its versions, newest first."""
    with arena.read() as db:
        row = db.execute(_select_bots().where(bot_rows.c.id == bot_id)).first()
        if row is None:
            raise NotFound(f"no bot {bot_id}")
        query = (
            _select_versions().where(version_rows.c.bot_id == bot_id).order_by(version_rows.c.number.desc())
        )
        versions = [_version(each, caller) for each in db.execute(query)]
    return _bot(row, versions)


def ready_versions(arena: Arena, bot_ids: Sequence[str]) -> dict[str, list[int]]:
    """The numbers of these bots' ready versions, newest first."""
    query = (
        select(version_rows.c.bot_id, version_rows.c.number)
        .where(version_rows.c.bot_id.in_(bot_ids), version_rows.c.status == "ready")
        .order_by(version_rows.c.number.desc())
    )
    found: dict[str, list[int]] = {}
    with arena.read() as db:
        for row in db.execute(query):
            found.setdefault(row.bot_id, []).append(row.number)
    return found


def version(arena: Arena, caller: Account | None, bot_id: str, number: int) -> Version:
    """One version of a bot."""
    query = _select_versions().where(version_rows.c.bot_id == bot_id, version_rows.c.number == number)
    with arena.read() as db:
        row = db.execute(query).first()
        name = db.scalar(select(bot_rows.c.name).where(bot_rows.c.id == bot_id)) if row is None else None
    if row is None:
        raise NotFound(f"{name} has no version {number}" if name else f"no bot {bot_id}")
    return _version(row, caller)


def change(
    arena: Arena,
    caller: Account,
    bot_id: str,
    *,
    description: str | None = None,
    public_source: bool | None = None,
) -> Bot:
    """Another description, or its code shown or hidden; what is None stays as it is."""
    values: dict[str, Any] = {}
    if description is not None:
        values["description"] = names.prose("description", description, 2000)
    if public_source is not None:
        values["public_source"] = public_source
    with arena.work() as work:
        _own(work, caller, bot_id)
        if values:
            work.db.execute(update(bot_rows).where(bot_rows.c.id == bot_id).values(values))
    return bot(arena, caller, bot_id)


def retire(arena: Arena, caller: Account, bot_id: str) -> None:
    """No new entries from now on; history stays. Again does no harm."""
    with arena.work() as work:
        if _own(work, caller, bot_id).retired_at is None:
            work.db.execute(update(bot_rows).where(bot_rows.c.id == bot_id).values(retired_at=work.now))
            counts.ask_for_bot(work, bot_id)


def _inspect(arena: Arena, filename: str, content: bytes) -> str:
    if len(content) > arena.settings.upload_bytes:
        most = f"{arena.settings.upload_bytes / upload.MIB:.3g} MiB"
        raise TooLarge(f"code: at most {most} are allowed, this has {len(content):,} bytes")
    if len(filename) > 200 or not filename.isprintable():
        raise Invalid({"code": ["its file name must be at most 200 printable characters"]})
    return upload.inspect(filename, content, arena.settings.interpreters)


def insert_bot(work: Work, row: dict[str, Any]) -> None:
    """A new bot's row; raises `Conflict` if its name is taken, or looks like one that is."""
    taken = f"{names.taken(row['name'])}, or add a version to your bot of that name"
    if alike.taken(work.db, bot_rows, row["name"]):
        raise Conflict(taken)
    try:
        work.db.execute(insert(bot_rows).values({**row, "created_at": work.now}))
    except IntegrityError:
        raise Conflict(taken) from None


def insert_version(work: Work, bot_id: str, number: int, kind: str, filename: str, content: bytes) -> str:
    """A version that waits for its check; its id."""
    file = PurePosixPath(filename.replace("\\", "/")).name  # whatever folder it came from
    row = {"id": f"{bot_id}:{number}", "bot_id": bot_id, "number": number, "kind": kind, "filename": file}
    digest = hashlib.sha256(content).hexdigest()
    stored = {"sha256": digest, "size": len(content), "code": content, "status": "checking"}
    work.db.execute(insert(version_rows).values({**row, **stored, "created_at": work.now}))
    return str(row["id"])


def _own(work: Work, caller: Account, bot_id: str) -> "Row[Any]":
    found = work.db.execute(select(bot_rows).where(bot_rows.c.id == bot_id).with_for_update()).first()
    if found is None:
        raise NotFound(f"no bot {bot_id}")
    if not caller.may_change(found.owner_id):
        raise Forbidden(f"{found.name} is another account's bot")
    return found


def _select_bots(*statuses: str) -> "Select[Any]":
    """Bots with their newest version, or the newest of those in one of these states."""
    each = version_rows.alias("each")
    these = each.c.status.in_(statuses) if statuses else true()
    query = select(func.max(each.c.number)).where(each.c.bot_id == bot_rows.c.id, these)
    newest = query.scalar_subquery()
    return (
        select(bot_rows, account.c.name.label("owner"), version_rows.c.status, version_rows.c.number)
        .join(account, account.c.id == bot_rows.c.owner_id)
        .join(version_rows, and_(version_rows.c.bot_id == bot_rows.c.id, version_rows.c.number == newest))
    )


def _select_versions() -> "Select[Any]":
    """Everything about versions but their code, and whose they are."""
    columns = [column for column in version_rows.c if column.name != "code"]
    return select(*columns, bot_rows.c.owner_id, bot_rows.c.public_source, bot_rows.c.house).join(
        bot_rows, bot_rows.c.id == version_rows.c.bot_id
    )


def may_look(row: Any, caller: Account | None) -> bool:
    """Whether somebody may see what is its author's, such as the code."""
    return row.public_source or row.house or (caller is not None and caller.may_change(row.owner_id))


def _bot(row: "Row[Any]", versions: Sequence[Version] = ()) -> Bot:
    return Bot(
        id=row.id,
        name=row.name,
        owner=row.owner,
        owner_id=row.owner_id,
        description=row.description,
        public_source=row.public_source,
        house=row.house,
        status="retired" if row.retired_at is not None else row.status,
        version=row.number,
        created_at=row.created_at,
        versions=list(versions),
    )


def _version(row: "Row[Any]", caller: Account | None) -> Version:
    shown = {name: getattr(row, name) for name in Version.__slots__ if name != "report"}
    return Version(**shown, report=row.report if may_look(row, caller) else None)
