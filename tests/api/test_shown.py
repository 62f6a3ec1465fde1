"""What a person sees move on a terminal."""

from io import StringIO

from rich.console import Console
from rich.progress import Progress

from api.shown import _Moving


def test_what_was_done_before_somebody_looked_is_no_measure_of_the_time_left() -> None:
    progress = Progress(console=Console(file=StringIO()), auto_refresh=False)
    bar = _Moving(progress, progress.add_task("Cup", total=None))
    bar.at(900, 1000)
    (task,) = progress.tasks
    assert (task.completed, task.total, task.time_remaining) == (900, 1000, None)
    bar.at(910, 1000)
    bar.at(920, 1000)
    assert task.completed == 920 and task.speed is not None
