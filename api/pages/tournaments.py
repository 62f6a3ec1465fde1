"""Tournaments to be watched: the list, one as it goes on, its schedule."""

from typing import Any

from flask import Response, render_template, request, url_for

from api import events, legend
from api.context import arena, caller
from api.pages import allowance, forms, heat
from api.pages.highlights import highlights
from api.pages.site import blp
from api.tournaments import added_up, fairness
from service import bots, folds, matches, tournaments
from service.bots import Bot
from service.contest import COMPARISON
from service.stages import LIVE, OVER, WAITING
from service.tournaments import STATUSES, Tournament

ONE = "/tournaments/<id:tournament_id>"
LISTED = 30
LINES = 100  # of standings, unless all are asked for
CROSSED = 24  # entrants a crosstable on a page may have
LATEST = 8
RECENT = 24  # matches among which those to be watched are looked for
OFFERED = 200  # bots of one's own to choose from
POSSIBLE = {
    "draft": ("start", "cancel"),
    "scheduled": ("start", "cancel"),
    "running": ("pause", "cancel"),
    "paused": ("resume", "cancel"),
}


@blp.get("/tournaments")
def tournament_list() -> str:
    """Tournaments, newest first."""
    status = request.args.get("status") if request.args.get("status") in STATUSES else None
    cursor = request.args.get("cursor")
    page = tournaments.tournaments(arena(), status=status, limit=LISTED, cursor=cursor, viewer=caller())
    return render_template("tournaments.html", page=page, status=status, statuses=STATUSES)


@blp.get(ONE)
def tournament(tournament_id: str) -> str | Response:
    """One tournament; with `part=live` only what moves. A comparison has a page of its own."""
    shown = tournaments.tournament(arena(), tournament_id, caller())
    if shown.format == COMPARISON:
        return forms.go(url_for("pages.comparison", comparison_id=tournament_id))
    live = request.args.get("part") == "live"
    facts = {**moving(shown, whole="all" in request.args), "acts": acts(shown), "enterable": enterable(shown)}
    facts["allowance"] = allowance.words(shown.limits)
    return render_template("tournament-live.html" if live else "tournament.html", **facts)


@blp.get(f"{ONE}/events")
def tournament_events(tournament_id: str) -> Response:
    """The same events as the API's, for a page's reader."""
    return events.stream(arena(), tournament_id, caller())


@blp.get(f"{ONE}/matches")
def schedule(tournament_id: str) -> str:
    """Its matches in the order of the schedule."""
    shown = tournaments.tournament(arena(), tournament_id, caller())
    status = request.args.get("status") if request.args.get("status") in matches.STATUSES else None
    page = matches.matches(
        arena(),
        tournament_id,
        status=status,
        limit=LISTED * 2,
        cursor=request.args.get("cursor"),
        viewer=caller(),
    )
    states = list(matches.STATUSES)
    return render_template("schedule.html", tournament=shown, page=page, status=status, statuses=states)


def acts(shown: Tournament) -> tuple[str, ...]:
    """What its organiser may do with it now."""
    who = caller()
    if who is None or not who.may_change(shown.owner_id):
        return ()
    stop = ("stop",) if shown.format == "ladder" and shown.status in LIVE else ()
    return (*stop, *POSSIBLE.get(shown.status, ()))


def enterable(shown: Tournament) -> list[Bot]:
    """Bots of the reader's that may enter now."""
    who, opening = caller(), shown.entry
    late = opening.deadline is not None and opening.deadline <= arena().clock()
    if who is None or not opening.open or late or shown.status not in WAITING:
        return []
    there = {each.bot_id for each in shown.entrants}
    own = bots.playable(arena(), owner=who.name, limit=OFFERED)
    return [each for each in own if each.id not in there]


@blp.get(f"{ONE}/fairness")
def fairness_report(tournament_id: str) -> str:
    """Whether it was fair."""
    shown = tournaments.tournament(arena(), tournament_id, caller())
    return render_template("fairness.html", tournament=shown, report=fairness(tournament_id))


def moving(shown: Tournament, *, whole: bool = False) -> dict[str, Any]:
    """What of a tournament moves while it goes on."""
    standings = added_up(folds.standings_of, shown) if shown.started_at else []
    gone = any(each.status != "in" and not each.filler for each in shown.entrants)
    recent = matches.latest(arena(), shown.id, limit=RECENT) if shown.progress.played else []
    facts: dict[str, Any] = {
        "tournament": shown,
        "over": shown.status in OVER,
        "gone": gone,
        "places": legend.of_places(shown.format, gone=gone),
        "standings": standings if whole else standings[:LINES],
        "hidden": 0 if whole else max(0, len(standings) - LINES),
        "latest": recent[:LATEST],
        "highlights": highlights(recent),
        "table": None,
    }
    if standings and standings[0].matches:
        pairs = added_up(folds.crosstable_of, shown)
        facts["table"] = heat.table([line.entrant for line in standings[:CROSSED]], pairs)
        facts["uncrossed"] = max(0, len(standings) - CROSSED)
    return facts
