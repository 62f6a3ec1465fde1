"""Work that leaves the caller: job names, and the queue that carries them.

A job is a hint. What is to be done stands in the database; a job that is lost is sent again by `reap`, and
one that comes twice finds nothing left to do.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import redis
import structlog
from celery import Celery
from kombu.exceptions import KombuError
from redis.backoff import NoBackoff
from redis.retry import Retry

from service.settings import Settings
from service.ticks import Every

log = structlog.get_logger(__name__)
CHECK, PLAY, SETTLE, REAP = "rage.check_bot", "rage.play_matches", "rage.settle", "rage.reap"
QUEUES = {CHECK: "checks", PLAY: "matches", SETTLE: "desk", REAP: "desk"}
PREFIX = "rage:"
BREATH = 1.0  # seconds in which nothing is sent after a failure


@dataclass(frozen=True, slots=True)
class Job:
    """One job by name, with the few ids it needs."""

    name: str
    arguments: tuple[str | int, ...] = ()


class Queue(Protocol):
    """Carries jobs to whoever does them."""

    def send(self, job: Job) -> None:
        """Send, or log why not: the caller's work is committed and must not fail for it."""

    def depth(self, name: str) -> int:
        """Jobs of this kind that wait; raises `ConnectionError` when the broker is away."""

    def close(self) -> None:
        """Give back connections."""


class CeleryQueue:
    """Jobs over Redis, for Celery workers."""

    def __init__(self, app: Celery, client: "redis.Redis") -> None:
        self._app = app
        self._client = client
        self._away_until = 0.0

    @classmethod
    def of(cls, settings: Settings) -> "CeleryQueue":
        """A queue on the settings' broker; nothing is connected yet."""
        client = redis.Redis.from_url(
            settings.client_url, socket_timeout=1, socket_connect_timeout=1, retry=Retry(NoBackoff(), 0)
        )
        return cls(celery_app(settings), client)

    def send(self, job: Job) -> None:
        if time.monotonic() < self._away_until:
            return  # said already, a moment ago: many jobs must not each wait for a broker that is away
        try:
            self._app.send_task(job.name, args=job.arguments, queue=QUEUES[job.name], retry=False)
        except (KombuError, redis.RedisError, OSError) as error:
            self._away_until = time.monotonic() + BREATH
            log.warning("job_not_sent", job=job.name, arguments=job.arguments, error=str(error))

    def depth(self, name: str) -> int:
        return self.waiting(QUEUES[name])

    def waiting(self, queue: str) -> int:
        """Messages in a queue by its own name; raises `ConnectionError` when the broker is away."""
        try:
            return int(self._client.llen(PREFIX + queue))
        except (redis.RedisError, OSError) as error:
            raise ConnectionError(f"the broker cannot be reached: {error}") from error

    def close(self) -> None:
        self._app.close()
        self._client.close()


@dataclass(slots=True)
class InlineQueue:
    """A queue in one process, for tests and tools: jobs wait until `run` does them here."""

    does: Mapping[str, Callable[..., object]] = field(default_factory=dict)
    waiting: list[Job] = field(default_factory=list)

    def send(self, job: Job) -> None:
        self.waiting.append(job)

    def depth(self, name: str) -> int:
        return sum(job.name == name for job in self.waiting)

    def close(self) -> None:
        self.waiting.clear()

    def run(self) -> None:
        """Do all that waits, and what that sends, in order."""
        while self.waiting:
            job = self.waiting.pop(0)
            if job.name in self.does:
                self.does[job.name](*job.arguments)


def celery_app(settings: Settings) -> Celery:
    """The Celery application every sender and worker shares: acknowledge at once, keep no results, JSON only.

    A worker that dies leaves its job to `reap`, which reads the database, so messages need no redelivery.
    """
    app = Celery("rage", broker=settings.broker_url, set_as_current=False)
    app.conf.update(celery_settings(settings))
    return app


def celery_settings(settings: Settings) -> dict[str, Any]:
    """Celery's configuration; the reason beside what is not its default."""
    return {
        "broker_transport_options": {
            "global_keyprefix": PREFIX,
            "visibility_timeout": 3600,  # nobody waits for it: see `reap`
            "socket_timeout": 10,
            "socket_connect_timeout": 2,
            "socket_keepalive": True,
            "queue_order_strategy": "sorted",  # "checks" before "matches": a bot never waits for a tournament
            "health_check_interval": 10,
        },
        "broker_connection_retry_on_startup": True,
        "broker_connection_max_retries": None,
        "broker_connection_timeout": 2,
        "task_acks_late": False,  # a message is a hint: what is lost with a worker, `reap` sends again
        "task_ignore_result": True,
        "result_backend": None,
        "worker_prefetch_multiplier": 1,
        "worker_disable_prefetch": True,
        "worker_soft_shutdown_timeout": settings.stop_seconds,
        "worker_max_tasks_per_child": 2000,
        "worker_max_memory_per_child": 400_000,  # kB
        "worker_send_task_events": False,
        "worker_enable_remote_control": False,  # its listener may wait for ever after a broker's restart
        "worker_hijack_root_logger": False,
        "task_serializer": "json",
        "accept_content": ["json"],
        "timezone": "UTC",
        "beat_scheduler": "celery.beat:Scheduler",  # keeps nothing on the disk, which may be full
        "beat_schedule": {
            "reap": {
                "task": REAP,
                "schedule": Every(settings.reap_seconds),
                "options": {"queue": QUEUES[REAP], "expires": 5 * settings.reap_seconds},
            }
        },
    }
