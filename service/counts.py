"""Results as whole numbers in the database, added up in the transaction that finishes a deal.

A deal counts once all its matches are done. When its tournament is over, so does what was played of a deal
that never was whole, and while one is paused it is counted as if: or whoever stops a tournament at the right
moment, or withdraws from it, would pick which results count. A match is done once, as its lease says, so a
deal is counted once. `rebuilt` makes the same numbers from the matches themselves.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Row,
    bindparam,
    case,
    exists,
    func,
    insert,
    select,
    text,
    type_coerce,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite

from service import results
from service.tables import EPOCH, MICROSECOND, counted, entrant, match, pool, tournament
from service.tally import Game, Ints, Player, Tables, Tally, count, merged, ordered, width
from service.work import Work

OVER = ("finished", "cancelled")
DONE = func.sum(case((match.c.status == "done", 1), else_=0))
THIS = match.c.tournament_id == bindparam("this")
DEALS = select(match.c.deal_group).where(THIS, match.c.number.in_(bindparam("numbers", expanding=True)))
NOT_WHOLE = select(match.c.deal_group).where(  # built once, for it is asked after every match
    THIS, match.c.status != "done", match.c.deal_group.in_(bindparam("groups", expanding=True))
)
POOL: Any = select(tournament.c.id, tournament.c.rules_key, tournament.c.players, tournament.c.rules).where(
    tournament.c.id == bindparam("this")
)
NUMBERS = select(entrant.c.number, entrant.c.version_id).where(
    entrant.c.tournament_id == bindparam("this"),
    entrant.c.version_id.in_(bindparam("versions", expanding=True)),
)
OF_TABLE = (counted.c.tournament_id == bindparam("this"), counted.c.seats == bindparam("table"))
BEFORE, ADDED = select(counted).where(*OF_TABLE).with_for_update(), update(counted).where(*OF_TABLE)
LOCK = text("SELECT pg_advisory_xact_lock(hashtextextended(:deal, 0))")


@dataclass(frozen=True, slots=True)
class Counted:
    """A pool's results: the tally, how many tournaments of it are over, and the newest deal that counts."""

    tally: Tally
    tournaments: int
    last_deal: str | None


@dataclass(frozen=True, slots=True)
class Line:
    """A row of the counts: a table's entrants in the order of their versions, sums as in `Tables`."""

    seats: bytes
    matches: int
    last_group: int
    sums: bytes


def _lock(work: Work, tournament_id: str, groups: Sequence[int]) -> None:
    """One at a time looks whether a deal is whole, or of the last two neither would see the other's match.

    Each has finished its own match before, and sees all that was committed before it got the lock. Several
    deals are locked in their order. On SQLite a writer is alone anyway.
    """
    if work.db.dialect.name == "postgresql":
        for group in groups:
            work.db.execute(LOCK, {"deal": f"{tournament_id}/{group}"})


def finished(work: Work, numbers: Mapping[str, Sequence[int]]) -> None:
    """After matches were done, numbers by tournament: count their deals as far as they are whole."""
    for tournament_id, some in sorted(numbers.items()):
        this = {"this": tournament_id}
        groups = sorted(set(work.db.scalars(DEALS, {**this, "numbers": some})))
        _lock(work, tournament_id, groups)
        whole = set(groups) - set(work.db.scalars(NOT_WHOLE, {**this, "groups": groups}))
        if whole:
            _add(work, tournament_id, sorted(whole))


def close(work: Work, tournament_id: str) -> None:
    """When a tournament is over: count what was played of deals that are not whole, and have all fitted."""
    found = work.db.execute(POOL, {"this": tournament_id}).one()
    _add_lines(work, found, lines_of(work.db, tournament_id, _leftovers(work.db, tournament_id)))
    ask(work, found.rules_key, found.players)


def ask(work: Work, rules_key: str, players: int) -> None:
    """Have a pool fitted anew."""
    _ask(work, pool.c.rules_key == rules_key, pool.c.players == players)


def ask_for_bot(work: Work, bot_id: str) -> None:
    """Have the pools fitted anew in which a bot played: it takes no place any more."""
    entered = tournament.join(entrant, entrant.c.tournament_id == tournament.c.id)
    mine = exists().select_from(entered).where(
        entrant.c.bot_id == bot_id,
        tournament.c.rules_key == pool.c.rules_key,
        tournament.c.players == pool.c.players,
    )  # fmt: skip
    _ask(work, mine)


def _ask(work: Work, *which: "ColumnElement[bool]") -> None:
    """At a time nobody asked at before, so that who did what was asked for then leaves what came later."""
    now, before = (work.now - EPOCH) // MICROSECOND, type_coerce(pool.c.asked_at, BigInteger)
    later = case((before >= now, before + 1), else_=now)
    work.db.execute(update(pool).where(*which).values(asked_at=later))


def open_pool(work: Work, rules_key: str, players: int) -> None:
    """The pool is there from the first tournament on."""
    row = {"rules_key": rules_key, "players": players}
    work.db.execute(_dialect(work).insert(pool).values(row).on_conflict_do_nothing())


def load(db: Connection, rules_key: str, players: int, *, over: bool = False) -> Counted:
    """All that counts in a pool; `over`: only of tournaments that are over."""
    of_it = (tournament.c.rules_key == rules_key, tournament.c.players == players)
    query = (
        select(tournament.c.id, tournament.c.status, tournament.c.started_at)
        .where(*of_it, tournament.c.started_at.is_not(None))
        .order_by(tournament.c.started_at, tournament.c.id)
    )
    if over:
        query = query.where(tournament.c.status.in_(OVER))
    held = {row.id: row for row in db.execute(query)}
    lines = [(key, _line(row)) for key, row in _stored(db, rules_key, players) if key in held]
    paused = [key for key, row in held.items() if row.status == "paused"]
    lines += [(key, line) for key in paused for line in lines_of(db, key, _leftovers(db, key))]
    played = {key for key, _ in lines}
    last = next((key for key in reversed(held) if key in played), None)
    return Counted(
        tally=_tally(db, lines),
        tournaments=sum(held[key].status in OVER for key in played),
        last_deal=last and f"{last}/{max(line.last_group for key, line in lines if key == last)}",
    )


def lines_of(db: Connection, tournament_id: str, found: Iterable[Game]) -> list[Line]:
    """The counts of a tournament's matches, a row a table."""
    games = list(found)
    versions = sorted({version for each in games for version in each.players}, key=str)
    numbers = db.execute(NUMBERS, {"this": tournament_id, "versions": versions})
    number: dict[Player, int] = {row.version_id: row.number for row in numbers}
    last: dict[tuple[Player, ...], int] = {}
    for each in games:
        key = tuple(ordered(each.players))
        last[key] = max(last.get(key, -1), each.group)
    tally = count(games)
    lines = []
    for table in tally.tables:
        for seats, sums in zip(table.seats.tolist(), np.ascontiguousarray(table.sums), strict=True):
            names = tuple(tally.players[seat] for seat in seats)
            packed = np.array([number[name] for name in names], dtype="<u2").tobytes()
            lines.append(Line(packed, int(sums[1]), last[names], sums.astype("<i8").tobytes()))
    return lines


def stored_lines(db: Connection, tournament_id: str) -> list[Line]:
    """The counts that are stored of a tournament."""
    return [_line(row) for row in db.execute(select(counted).where(counted.c.tournament_id == tournament_id))]


def rebuilt(db: Connection, tournament_id: str, found: Sequence[Game]) -> list[Line]:
    """What should be stored of a tournament of which these matches are done."""
    status = db.scalar(select(tournament.c.status).where(tournament.c.id == tournament_id))
    if status not in OVER:
        whole = set(db.scalars(_deals(tournament_id).having(func.count() == DONE)))
        found = [each for each in found if each.group in whole]
    return lines_of(db, tournament_id, found)


def replace(work: Work, tournament_id: str, lines: Sequence[Line]) -> None:
    """Store these counts of a tournament instead of what was."""
    row = work.db.execute(POOL, {"this": tournament_id}).one()
    work.db.execute(counted.delete().where(counted.c.tournament_id == tournament_id))
    if lines:
        work.db.execute(insert(counted), [_row(row, line) for line in lines])
    open_pool(work, row.rules_key, row.players)
    ask(work, row.rules_key, row.players)


def _add(work: Work, tournament_id: str, deals: Sequence[int]) -> None:
    row = work.db.execute(POOL, {"this": tournament_id}).one()
    played = results.games_of(work.db, tournament_id, deals, teams="teams" in row.rules)
    _add_lines(work, row, lines_of(work.db, tournament_id, played))


def _add_lines(work: Work, of: "Row[Any]", lines: Iterable[Line]) -> None:
    for line in sorted(lines, key=lambda line: line.seats):
        _add_line(work, of, line)


def _add_line(work: Work, of: "Row[Any]", line: Line) -> None:
    if work.db.execute(_new(work.db.dialect.name), _row(of, line)).first() is not None:
        return
    key = {"this": of.id, "table": line.seats}
    before = work.db.execute(BEFORE, key).one()
    sums = np.frombuffer(before.sums, "<i8") + np.frombuffer(line.sums, "<i8")
    added = {
        "matches": before.matches + line.matches,
        "last_group": max(before.last_group, line.last_group),
        "sums": sums.astype("<i8").tobytes(),
    }
    work.db.execute(ADDED, {**key, **added})


@cache
def _new(dialect: str) -> Any:
    """A table's first row; nothing comes back where it has one."""
    kind: Any = postgresql if dialect == "postgresql" else sqlite
    return kind.insert(counted).on_conflict_do_nothing().returning(counted.c.matches)


def _dialect(work: Work) -> Any:
    return postgresql if work.db.dialect.name == "postgresql" else sqlite


def _row(of: "Row[Any]", line: Line) -> dict[str, Any]:
    told = {"seats": line.seats, "matches": line.matches, "last_group": line.last_group, "sums": line.sums}
    return {"tournament_id": of.id, "rules_key": of.rules_key, "players": of.players, **told}


def _line(row: "Row[Any]") -> Line:
    return Line(bytes(row.seats), row.matches, row.last_group, bytes(row.sums))


def _leftovers(db: Connection, tournament_id: str) -> Iterator[Game]:
    """Matches that are done, of deals that are not whole."""
    query = _deals(tournament_id).having(DONE > 0, func.count() > DONE)
    return results.games(db, tournament_id, match.c.deal_group.in_(query.scalar_subquery()))


def _deals(tournament_id: str) -> Any:
    this = match.c.tournament_id == tournament_id
    return select(match.c.deal_group).where(this).group_by(match.c.deal_group)


def _stored(db: Connection, rules_key: str, players: int) -> "Iterator[tuple[str, Row[Any]]]":
    query = select(counted).where(counted.c.rules_key == rules_key, counted.c.players == players)
    return ((row.tournament_id, row) for row in db.execute(query))


def _versions(db: Connection, tournaments: Sequence[str]) -> dict[str, dict[int, str]]:
    """By tournament: which version an entrant's number stands for."""
    query = select(entrant.c.tournament_id, entrant.c.number, entrant.c.version_id).where(
        entrant.c.tournament_id.in_(tournaments), entrant.c.version_id.is_not(None)
    )
    found: dict[str, dict[int, str]] = {key: {} for key in tournaments}
    for row in db.execute(query):
        found[row.tournament_id][row.number] = row.version_id
    return found


def _tally(db: Connection, lines: Sequence[tuple[str, Line]]) -> Tally:
    """Rows of several tournaments as one tally, whatever their order."""
    groups: dict[tuple[str, int], list[Line]] = {}
    for key, line in lines:
        groups.setdefault((key, len(line.seats) // 2), []).append(line)
    seats = {key: _seats(key[1], some) for key, some in groups.items()}
    versions = _versions(db, sorted({tournament_id for tournament_id, _ in groups}))
    played = {versions[key[0]][n] for key, some in seats.items() for n in np.unique(some).tolist()}
    players = ordered(played)
    index = {version: i for i, version in enumerate(players)}
    parts: dict[int, list[Tables]] = {}
    for (tournament_id, k), some in groups.items():
        part = _part(k, seats[tournament_id, k], some, versions[tournament_id], index)
        parts.setdefault(k, []).append(part)
    return Tally(tuple(players), tuple(merged(len(players), parts[k]) for k in sorted(parts)))


def _seats(k: int, lines: Sequence[Line]) -> Ints:
    return np.frombuffer(b"".join(line.seats for line in lines), "<u2").astype(np.int64).reshape(-1, k)


def _part(
    k: int, seats: Ints, lines: Sequence[Line], versions: Mapping[int, str], index: Mapping[Any, int]
) -> Tables:
    number = np.zeros(int(seats.max()) + 1, dtype=np.int64)
    for n, version in versions.items():
        if n < len(number) and version in index:
            number[n] = index[version]
    sums = np.frombuffer(b"".join(line.sums for line in lines), "<i8").reshape(-1, width(k))
    return Tables(k, number[seats], sums.astype(np.int64))
