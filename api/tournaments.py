"""Tournaments over HTTP."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from flask import Response, current_app, jsonify, url_for
from marshmallow import Schema

from api import events
from api.blueprint import Blueprint
from api.context import account, arena, caller, employer
from api.kept import Kept
from api.rows import table, whole_list
from api.schemas.fields import page_of
from api.schemas.organising import (
    ChangedTournament,
    Disqualification,
    DryRunQuery,
    NewTournament,
    TournamentQuery,
)
from api.schemas.standings import FairnessAnswer, FormatQuery, PairAnswer, StandingAnswer
from api.schemas.tournaments import PlanAnswer, TournamentAnswer
from service import folds, inquiry, leaving, plans
from service import tournaments as verbs
from service.accounts import Scope
from service.paging import Page
from service.tournaments import Tournament
from service.work import Arena

blp = Blueprint("tournaments", "Tournaments, their standings and events", scope=Scope.ORGANISER)
ONE = "/tournaments/<id:tournament_id>"
ROW = 1000  # bytes of a row in memory, nearly


@blp.get("/tournaments", page_of(TournamentAnswer), query=TournamentQuery, cached=True)
def list_tournaments(query: dict[str, Any]) -> Page[Tournament]:
    """Tournaments, newest first"""
    return verbs.tournaments(arena(), **query, viewer=caller())


@blp.post(
    "/tournaments", TournamentAnswer, status=201, body=NewTournament, query=DryRunQuery, tried=PlanAnswer
)
def create_tournament(
    body: dict[str, Any], query: dict[str, Any]
) -> tuple[Tournament, dict[str, str]] | Response:
    """Make a tournament

    Everything is checked now. It starts at once unless `start_at` says otherwise. With `dry_run=true` nothing
    is made: the answer (200) is a plan: matches, costs, when it would be over, how sure ratings would be.
    """
    if query["dry_run"]:
        return jsonify(PlanAnswer().dump(plans.plan(arena(), account(), body)))
    made = verbs.create(arena(), account() if body.get("start_at") else employer(), body)
    return made, {"Location": url_for("tournaments.show_tournament", tournament_id=made.id)}


@blp.get(ONE, TournamentAnswer, cached=True)
def show_tournament(tournament_id: str) -> Tournament:
    """A tournament with its entrants and how far it is"""
    return verbs.tournament(arena(), tournament_id, caller())


@blp.patch(ONE, TournamentAnswer, body=ChangedTournament)
def edit_tournament(body: dict[str, Any], tournament_id: str) -> Tournament:
    """Change a tournament before its start

    Only what is sent changes; everything is checked again.
    """
    return verbs.edit(arena(), account(), tournament_id, body)


@blp.post(f"{ONE}/entrants/<id:bot_id>/disqualify", TournamentAnswer, body=Disqualification)
def disqualify_bot(body: dict[str, Any], tournament_id: str, bot_id: str) -> Tournament:
    """Disqualify a bot

    The organiser's; everybody is told the reason. What it played stays as after a withdrawal.
    """
    leaving.disqualify(arena(), account(), tournament_id, bot_id, body["reason"])
    return verbs.tournament(arena(), tournament_id, caller())


@blp.get(f"{ONE}/standings", page_of(StandingAnswer), query=FormatQuery, also="text/csv", cached=True)
def standings(query: dict[str, Any], tournament_id: str) -> Response:
    """Who stands where, while it is running too

    Only whole groups of matches on one deal count, so that nobody is ahead by the seats it had. Who is
    level in what decides places is parted by bids made exactly; in a round robin then by points between those
    who are level, if that is a clear order. Who is still level shares a place.
    """
    return _written(folds.standings_of, tournament_id, "standings", StandingAnswer, query["format"])


@blp.get(f"{ONE}/crosstable", page_of(PairAnswer), query=FormatQuery, also="text/csv", cached=True)
def crosstable(query: dict[str, Any], tournament_id: str) -> Response:
    """Every pair of entrants that met"""
    return _written(folds.crosstable_of, tournament_id, "crosstable", PairAnswer, query["format"])


@blp.get(f"{ONE}/fairness", FairnessAnswer, cached=True)
def fairness(tournament_id: str) -> inquiry.Fairness:
    """Whether it was fair, once it is over: seats, dealers, workers, pairs that help each other

    Tests by shuffling, with the rate of false alarms that `level` says. Workers go by numbers, except to an
    administrator.
    """
    asking = caller()
    named = asking is not None and asking.admin
    now = verbs.tournament(arena(), tournament_id, caller())
    kept: Kept = current_app.extensions["kept"]
    key = ("fairness", tournament_id, named)
    return kept.get(
        key,
        now.status,
        now.progress.played,
        lambda: inquiry.fairness_of(arena(), tournament_id, named=named),
    )


@blp.get(f"{ONE}/events", None, stream=True)
def tournament_events(tournament_id: str) -> Response:
    """Server-Sent Events: results, who left, the stage, progress, status

    Each result once, in one order for all who listen. Resumes after `Last-Event-ID` (after one that means
    nothing here: from the first result on), ends with the tournament; 204 when nothing is left to be told.
    """
    return events.stream(arena(), tournament_id, caller())


@blp.post(f"{ONE}/start", TournamentAnswer)
def start_tournament(tournament_id: str) -> Tournament:
    """Start now"""
    return verbs.start(arena(), employer(), tournament_id)


@blp.post(f"{ONE}/pause", TournamentAnswer)
def pause_tournament(tournament_id: str) -> Tournament:
    """Begin no more matches for now; those being played are finished"""
    return verbs.pause(arena(), account(), tournament_id)


@blp.post(f"{ONE}/resume", TournamentAnswer)
def resume_tournament(tournament_id: str) -> Tournament:
    """Go on after a pause"""
    return verbs.resume(arena(), employer(), tournament_id)


@blp.post(f"{ONE}/stop", TournamentAnswer)
def stop_tournament(tournament_id: str) -> Tournament:
    """Let a ladder end

    Deals that were begun are played to their end, then it is finished.
    """
    return verbs.stop(arena(), account(), tournament_id)


@blp.post(f"{ONE}/cancel", TournamentAnswer)
def cancel_tournament(tournament_id: str) -> Tournament:
    """Stop for good; what was played stays"""
    return verbs.cancel(arena(), account(), tournament_id)


def added_up(fold: Callable[[Arena, str], list[Any]], now: Tournament) -> list[Any]:
    """A fold over the matches of a tournament that is now like this, anew when it has further ones."""
    return _summed(fold, now).rows


@dataclass(frozen=True, slots=True)
class _Summed:
    """A fold's rows, and what was written of them by format: it is the same until there are others."""

    rows: list[Any]
    written: dict[str, Response] = field(default_factory=dict)

    @property
    def weight(self) -> int:
        """Bytes, nearly."""
        return ROW * len(self.rows) + sum(len(each.get_data()) for each in list(self.written.values()))


def _summed(fold: Callable[[Arena, str], list[Any]], now: Tournament) -> _Summed:
    kept: Kept = current_app.extensions["kept"]
    key = (fold.__name__, now.id)
    return kept.get(key, now.status, now.progress.played, lambda: _Summed(fold(arena(), now.id)))


def _written(
    fold: Callable[[Arena, str], list[Any]], tournament_id: str, name: str, shape: type[Schema], form: str
) -> Response:
    """The rows as JSON or CSV."""
    summed = _summed(fold, verbs.tournament(arena(), tournament_id, caller()))
    made = summed.written.get(form)
    if made is None and form == "csv":
        made = table(f"{name}-{tournament_id}", shape, summed.rows)
    elif made is None:
        made = jsonify(whole_list(shape().dump(summed.rows, many=True)))
    summed.written[form] = made
    return Response(made.get_data(), headers=list(made.headers))
