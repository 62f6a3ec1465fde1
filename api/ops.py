"""What an operator and a machine that watches over us ask: alive, able to serve, in figures."""

import hmac
import re
from collections.abc import Iterable

from flask import Blueprint, Response, current_app, jsonify, request
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from api.context import arena
from api.schemas.ops import ReadyAnswer
from service import health
from service.errors import Forbidden, ServiceError, Unauthorized
from service.work import Arena

blp = Blueprint("ops", __name__)
FORWARDED = ("Forwarded", "X-Forwarded-For", "X-Real-IP", "Via")
GAUGE = re.compile(r'(?P<name>\w+)(?:\{(?P<label>\w+)="(?P<value>[^"]*)"\})?')


@blp.get("/healthz")
def healthz() -> Response:
    """Alive: says nothing about anything else."""
    return jsonify(status="ok")


@blp.get("/readyz")
def readyz() -> tuple[Response, int]:
    """Able to serve; 503 with what is missing."""
    state = health.ready(arena())
    return jsonify(ReadyAnswer().dump(state)), 200 if state.ok else 503


@blp.get("/readyz/database")
def readyz_database() -> tuple[Response, int]:
    """Able to answer: what balances the load need not know of workers and broker."""
    trouble = health.refusing(arena())
    return jsonify(ok=trouble is None, trouble=trouble), 200 if trouble is None else 503


@blp.get("/metrics")
def metrics() -> Response:
    """Figures for Prometheus: with the token for them if there is one, else without a detour."""
    _meant_for_us(arena().settings.metrics_token)
    figures: Figures = current_app.extensions["figures"]
    return Response(generate_latest(figures.registry), content_type=CONTENT_TYPE_LATEST)


def _meant_for_us(token: str | None) -> None:
    """A proxy that was told to pass on everything must not open this to the world."""
    if token is not None:
        given = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if not hmac.compare_digest(given.encode(), token.encode()):
            raise Unauthorized("This needs the token of RAGE_METRICS_TOKEN: Authorization: Bearer TOKEN")
    elif any(name in request.headers for name in FORWARDED):
        raise Forbidden("Figures are not for those who ask through a proxy, unless RAGE_METRICS_TOKEN is set")


class Figures:
    """An application's own figures, and those of its arena at the moment they are asked for."""

    def __init__(self, arena: Arena) -> None:
        self.registry = CollectorRegistry()
        self.registry.register(_State(arena))
        labels = ("method", "endpoint", "status")
        self._requests = Counter("rage_http_requests", "Requests answered", labels, registry=self.registry)
        self._seconds = Histogram(
            "rage_http_request_seconds",
            "Time to an answer's first byte",
            ("endpoint",),
            registry=self.registry,
        )

    def note(self, method: str, endpoint: str, status: int, seconds: float) -> None:
        """A request was answered."""
        self._requests.labels(method, endpoint, status).inc()
        self._seconds.labels(endpoint).observe(seconds)


class _State(Collector):
    """Gauges of the database and the broker; `rage_up` is 0 when they cannot be had."""

    def __init__(self, arena: Arena) -> None:
        self._arena = arena

    def collect(self) -> Iterable[Metric]:
        try:
            gauges = health.metrics(self._arena)
        except ServiceError:
            gauges = {}
        yield GaugeMetricFamily("rage_up", "Whether the database answers", value=float(bool(gauges)))
        families: dict[str, GaugeMetricFamily] = {}
        for key, value in gauges.items():
            _add(families, key, value)
        yield from families.values()


def _add(families: dict[str, GaugeMetricFamily], key: str, value: float) -> None:
    found = GAUGE.fullmatch(key)
    if found is None:
        raise ValueError(f"{key} is no gauge's name")
    name, label = found["name"], found["label"]
    labels = [label] if label else []
    family = families.setdefault(name, GaugeMetricFamily(name, name.replace("_", " "), labels=labels))
    family.add_metric([found["value"]] if label else [], value)
