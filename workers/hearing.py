"""A worker that lives but hears nothing any more ends itself, so that whoever keeps it starts it again.

After a broker's restart a Celery worker may sit there for ever, connected, idle, while messages wait. So each
process that does tasks says in one shared byte whether it is at one, and a thread of the worker looks: when
somebody is idle though messages wait and none is heard, and that for long, something is broken here.
"""

import mmap
import os
import signal
import threading
import time
from collections.abc import Sequence

import structlog
from billiard.process import current_process
from celery.worker import state

from service.jobs import CeleryQueue
from service.settings import Settings

log = structlog.get_logger(__name__)
LOOK_SECONDS = 2.0
DEAF_SECONDS = 16.0
LAST_SECONDS = 10.0  # given to an orderly end
MOST_SLOTS = 1024
_at_work = mmap.mmap(-1, MOST_SLOTS)  # made before the fork


def at_work(yes: bool) -> None:
    """Called in the process that does a task, before and after."""
    _at_work[getattr(current_process(), "index", None) or 0] = yes


class Ear:
    """What the thread knows: how many messages were ever heard, and since when idly none."""

    def __init__(self, slots: int) -> None:
        self._slots = slots
        self._heard = -1
        self._since: float | None = None

    def deaf(self, now: float, heard: int, waiting: int) -> bool:
        """Whether it has been idle for too long beside messages that wait."""
        idle = 0 in _at_work[: self._slots]
        if not waiting or not idle or heard != self._heard:
            self._heard, self._since = heard, None
            return False
        self._since = self._since if self._since is not None else now
        return now - self._since > DEAF_SECONDS


def listen(settings: Settings, queues: Sequence[str], slots: int) -> None:
    """Look on from a thread, as long as this process lives."""
    threading.Thread(target=_listen, args=(settings, queues, slots), name="hearing", daemon=True).start()


def _listen(settings: Settings, queues: Sequence[str], slots: int) -> None:
    queue, ear = CeleryQueue.of(settings), Ear(slots)
    while True:
        time.sleep(LOOK_SECONDS)
        try:
            waiting = sum(map(queue.waiting, queues))
        except ConnectionError:
            waiting = 0  # then nobody hears anything
        if ear.deaf(time.monotonic(), sum(state.total_count.values()), waiting):
            log.error("worker_hears_nothing", queues=list(queues), waiting=waiting)
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(LAST_SECONDS)
            os._exit(1)
