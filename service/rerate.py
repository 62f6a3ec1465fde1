"""All ratings once more from the records of the matches, held against what is stored.

Three steps, each on what the one before has found right: records against stored results, stored results
against what is counted, what is counted against the newest snapshots.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from operator import attrgetter
from typing import Any

from sqlalchemy import Connection, Row, func, select

from engine.errors import EngineError
from engine.record import Record
from engine.scoring import counted as counted_points
from service import counts, progress, refit, results, retention
from service.errors import Gone
from service.rating_models import MODELS
from service.shelf import Damaged
from service.stages import LIVE
from service.tables import match, pool, seat, tournament
from service.work import Arena

PORTION = 500  # records read at once
Tell = Callable[[int, int], None]


@dataclass(slots=True)
class Findings:
    """What was looked at, and a sentence for everything that differs."""

    matches: int = 0
    tournaments: int = 0
    snapshots: int = 0
    wrong: list[str] = field(default_factory=list)
    away: list[str] = field(default_factory=list)  # where records are that could not be played again
    uncounted: list[str] = field(default_factory=list)  # tournaments whose counts differ
    astray: list[str] = field(default_factory=list)  # whose progress does


def rerate(arena: Arena, *, replay: bool = True, at: Tell = lambda done, total: None) -> Findings:
    """Look at every tournament and pool; `at` is told how many matches are done, of how many.

    Without `replay` the stored results are taken at their word, which is some fifty times faster.
    """
    found = Findings()
    with arena.read(steady=True) as db:
        started = select(tournament).where(tournament.c.started_at.is_not(None)).order_by(tournament.c.id)
        total = progress.in_all(db).done
        for row in db.execute(started).all():
            wrong = len(found.wrong)
            if replay:
                _replay(arena, db, row.id, lambda: at(found.matches, total), found)
            if wrong == len(found.wrong):
                _recount(db, row, found)
            if progress.of_tournaments(db, [row.id])[row.id] != progress.recounted(db, row.id):
                found.wrong.append(f"tournament {row.id}: its progress is kept wrongly")
                found.astray.append(row.id)
            found.tournaments += 1
            at(found.matches, total)
        if progress.faults_by_kind(db) != progress.recounted_faults(db):
            found.wrong.append("the faults kept by kind are not those there are")
        for row in db.execute(select(pool).order_by(pool.c.rules_key, pool.c.players)).all():
            found.wrong += _differing(db, row, found)
    return found


def repair(arena: Arena, found: Findings) -> int:
    """Count again where counts differ, and fit every pool anew; how many snapshots' pools that made.

    Nobody may be playing meanwhile.
    """
    for tournament_id in found.uncounted:
        with arena.work() as work:
            lines = counts.rebuilt(work.db, tournament_id, list(results.games(work.db, tournament_id)))
            counts.replace(work, tournament_id, lines)
    with arena.work() as work:
        for tournament_id in found.astray:
            progress.put(work.db, tournament_id, progress.recounted(work.db, tournament_id))
        progress.put_faults(work.db)
    with arena.read() as db:
        pools = db.execute(select(pool)).all()
    return sum(refit.refit(arena, row.rules_key, row.players) for row in pools)


def _replay(
    arena: Arena, db: Connection, tournament_id: str, step: Callable[[], None], found: Findings
) -> None:
    """Play all records of a tournament again, in the database or not; stored results stand for those away."""
    try:
        moved = retention.all_of(arena, tournament_id)
        found.wrong += _untrue(db, tournament_id, moved or iter(()), step, found)
    except Gone as away:
        found.away.append(str(away))
    except (Damaged, OSError) as damage:
        found.wrong.append(f"tournament {tournament_id}: {damage}")


def _untrue(
    db: Connection,
    tournament_id: str,
    moved: Iterator[tuple[int, bytes]],
    step: Callable[[], None],
    found: Findings,
) -> Iterator[str]:
    """Matches whose stored result is not what comes of playing their record again."""
    stored, held = groupby(db.execute(_seats(tournament_id)), key=attrgetter("number")), next(moved, None)
    for row, (_, seats) in zip(_records(db, tournament_id), stored, strict=False):
        said = [(each.score, each.counted, each.place, each.exact_bids, each.out) for each in seats]
        while held and held[0] < row.number:
            held = next(moved, None)
        record = row.record or (held[1] if held and held[0] == row.number else None)
        if _played(record) != said:
            yield f"match {tournament_id}-{row.number}: its record does not give the stored result"
        found.matches += 1
        if found.matches % PORTION == 0:
            step()


def _played(record: bytes | None) -> list[tuple[Any, ...]] | None:
    """What came of a match: for each seat its score, what counts, place, exact bids, out; None if unclear."""
    try:
        read = Record.unpack(record or b"")
        game = read.replay()
    except EngineError:
        return None
    scores, out = game.scores(), read.out
    columns = (scores, counted_points(scores, out), game.places(out), game.exact)
    return [(*each, number in out) for number, each in enumerate(zip(*columns, strict=True))]


def _records(db: Connection, tournament_id: str) -> Iterator[Any]:
    last = -1
    done = (match.c.tournament_id == tournament_id, match.c.status == "done")
    query = select(match.c.number, match.c.record).where(*done).order_by(match.c.number).limit(PORTION)
    while rows := db.execute(query.where(match.c.number > last)).all():
        yield from rows
        last = rows[-1].number


def _seats(tournament_id: str) -> Any:
    columns = (seat.c.number, seat.c.score, seat.c.counted, seat.c.place, seat.c.exact_bids, seat.c.out)
    of_it = seat.c.tournament_id == tournament_id
    return select(*columns).where(of_it).order_by(seat.c.number, seat.c.seat)


def _recount(db: Connection, row: "Row[Any]", found: Findings) -> None:
    """Compare what is counted of a tournament with its results."""
    right = {line.seats: line for line in counts.rebuilt(db, row.id, list(results.games(db, row.id)))}
    stored = {line.seats: line for line in counts.stored_lines(db, row.id)}
    off = [seats for seats in right.keys() | stored.keys() if right.get(seats) != stored.get(seats)]
    known = db.scalar(
        select(func.count()).where(pool.c.rules_key == row.rules_key, pool.c.players == row.players)
    )
    if off or (right and not known):
        played, held = (sum(line.matches for line in lines.values()) for lines in (right, stored))
        found.wrong.append(
            f"tournament {row.id}: {len(off)} of {len(right)} tables are counted wrongly"
            f" ({held} matches are counted, {played} should be)"
        )
        found.uncounted.append(row.id)


def _differing(db: Connection, row: "Row[Any]", found: Findings) -> Iterator[str]:
    """Models whose newest snapshot is not what is counted gives."""
    of_it = (tournament.c.rules_key == row.rules_key, tournament.c.players == row.players)
    live = db.scalar(select(func.count()).where(*of_it, tournament.c.status.in_(LIVE)))
    for model in MODELS.values():
        last = db.execute(refit.newest(row.rules_key, row.players, model.name)).first()
        made = refit.fitted(db, model, row.rules_key, row.players)
        where = f"{row.rules_key}, {row.players} at a table, {model.name}"
        found.snapshots += last is not None
        if last is None or last.digest != made.digest:
            if made.lines and not live and row.asked_at is None:
                yield f"{where}: the newest snapshot does not rest on what is counted"
        elif json.loads(json.dumps(made.lines)) != last.body:
            names = [
                now["version_id"] for now, then in zip(made.lines, last.body, strict=False) if now != then
            ]
            yield f"{where}: snapshot {last.id} says something else of {', '.join(names[:5]) or 'somebody'}"
