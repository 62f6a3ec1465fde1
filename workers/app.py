"""The Celery application of `celery -A workers.app worker`: a child plays one match at a time on one core."""

import os
from typing import Any

import celery.apps.worker as celery_worker
from billiard.process import current_process
from billiard.util import get_logger
from celery.signals import (
    setup_logging,
    task_postrun,
    task_prerun,
    worker_process_init,
    worker_process_shutdown,
    worker_ready,
    worker_shutdown,
    worker_shutting_down,
)

from service import log
from service.jobs import celery_app
from service.settings import Settings
from workers import cores, hearing, stopping, workshop

settings = Settings.from_environment(os.environ)
app = celery_app(settings)
app.conf.include = ["workers.tasks"]


@setup_logging.connect
def _log(**_: Any) -> None:
    log.setup(settings.log_level)
    get_logger().propagate = True  # that a child died is a line like all others
    celery_worker.safe_say = log.at_once  # that it shuts down is one, too


@worker_process_init.connect
def _open(**_: Any) -> None:
    """In a child that plays, after the fork: a core of its own, then a workshop of its own."""
    number = getattr(current_process(), "index", None)
    if number is None:  # the desk works in the one process it has, and plays nothing
        return
    hearing.at_work(False)  # whatever its predecessor was at when it died
    if core := cores.own(number):
        os.sched_setaffinity(0, core)
    workshop.open_for_matches(settings, number)


@worker_ready.connect
def _listen(sender: Any, **_: Any) -> None:
    """In the worker's own process, once it takes messages."""
    slots = getattr(sender.pool, "num_processes", 1) or 1
    hearing.listen(settings, list(sender.app.amqp.queues.consume_from), slots)


@task_prerun.connect
def _begin(**_: Any) -> None:
    hearing.at_work(True)


@task_postrun.connect
def _end(**_: Any) -> None:
    hearing.at_work(False)


@worker_shutting_down.connect
def _stop(**_: Any) -> None:
    """In the worker's own process: its children claim no more."""
    stopping.tell_everybody()


@worker_shutdown.connect
def _leave(**_: Any) -> None:
    """In the worker's own process: the desk's ends."""
    workshop.leave_desk()


@worker_process_shutdown.connect
def _close(**_: Any) -> None:
    workshop.close()
