"""What Celery may be asked to do, by name. A task holds no rules: it calls one verb."""

from service import desk, reap, refit
from service.jobs import CHECK, PLAY, REAP, SETTLE
from workers import playing, workshop
from workers.app import app


@app.task(name=CHECK)
def check_bot(version_id: str) -> None:
    """The trial match of a new version."""
    playing.check(workshop.here(), version_id)


@app.task(name=PLAY)
def play_matches(bell: int) -> None:
    """Matches that wait to be played, for about a second. `bell` tells one such message from another."""
    playing.play_for_a_while(workshop.here())


@app.task(name=SETTLE)
def settle(tournament_id: str) -> None:
    """The ratings after a tournament."""
    desk.aside(workshop.here().arena, lambda arena: refit.settle(arena, tournament_id))


@app.task(name=REAP)
def put_right() -> None:
    """Whatever was lost on the way."""
    reap.reap(workshop.here().arena, desk.aside)
