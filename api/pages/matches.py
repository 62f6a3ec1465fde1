"""A match to be watched: the table and its story, the score sheet, and the same deal at the other tables."""

from dataclasses import asdict
from itertools import accumulate
from typing import Any

from flask import Response, jsonify, render_template, url_for

from api.context import arena, caller
from api.pages import plots
from api.pages.site import blp
from service import matches, replays, tournaments
from service.replays import Table

MATCH = "/matches/<id:match_id>"


@blp.get(MATCH)
def match(match_id: str) -> str:
    """The match, to be watched step by step."""
    deal = matches.of_deal(arena(), match_id)
    (shown,) = (each for each in deal if each.number == int(match_id.rpartition("-")[2]))
    of = tournaments.tournament(arena(), shown.tournament_id, caller())
    facts: dict[str, Any] = {"match": shown, "tournament": of}
    if shown.status == "done":
        tables = replays.tables_of(arena(), deal)
        (own,) = (table for table in tables if table.match.number == shown.number)
        facts |= {"own": own, "tables": tables, "plot": _points(own), "hands": _hands(tables)}
    return render_template("match.html", **facts)


@blp.get(f"{MATCH}/story.json")
def story(match_id: str) -> Response:
    """What the page's script shows."""
    return jsonify(asdict(replays.told(arena(), match_id)))


def _points(own: Table) -> plots.Plot:
    """Everybody's points after each round."""
    seats = own.match.seats
    lines = []
    for seat in seats:
        sums = accumulate((hands[seat.seat].points for hands in own.rounds), initial=0)
        name = seat.name if seat.version is None else f"{seat.name} v{seat.version}"
        lines.append(plots.Line(name, list(enumerate(map(float, sums)))))
    return plots.plot(lines, x="round", y="points")


def _hands(tables: list[Table]) -> list[list[list[dict[str, Any]]]]:
    """By round and seat: what the holder of those cards made of them at each table, the best first."""
    if len(tables) < 2:
        return []
    links = [(table, url_for("pages.match", match_id=table.match.id)) for table in tables]
    rounds = range(len(tables[0].rounds))
    seats = range(len(tables[0].match.seats))
    return [[_holders(links, number, seat) for seat in seats] for number in rounds]


def _holders(links: list[tuple[Table, str]], number: int, seat: int) -> list[dict[str, Any]]:
    found = [
        {
            "match": table.match,
            "link": link,
            "who": table.match.seats[seat],
            "hand": table.rounds[number][seat],
        }
        for table, link in links
    ]
    return sorted(found, key=lambda each: -each["hand"].points)
