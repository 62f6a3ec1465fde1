"""Traces: nothing without an address, the log's ids with one, sent as a collector takes them."""

import io
import json
import logging
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
import structlog
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from service import log, traces

SENDER = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.fixture(autouse=True)
def ended() -> Iterator[None]:
    kept = logging.getLogger().handlers[:], logging.getLogger().level
    yield
    traces.stop()
    logging.getLogger().handlers[:], logging.getLogger().level = kept
    structlog.reset_defaults()


class Collector(BaseHTTPRequestHandler):
    """Takes what is posted to it."""

    taken: list[tuple[str, ExportTraceServiceRequest]]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.taken.append((self.path, ExportTraceServiceRequest.FromString(body)))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Says nothing."""


@pytest.fixture
def collector(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[str, ExportTraceServiceRequest]]]:
    Collector.taken = []
    with HTTPServer(("127.0.0.1", 0), Collector) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{server.server_port}")
        yield Collector.taken
        server.shutdown()


def test_without_an_address_nothing_is_taken() -> None:
    assert not traces.setup("api")
    with traces.span("claim") as span:
        assert span is None
        assert traces.current() is None


def test_the_usual_switch_turns_them_off(collector: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
    assert not traces.setup("api")


def test_a_collector_gets_the_spans_of_a_service_by_its_role(
    collector: list[tuple[str, ExportTraceServiceRequest]],
) -> None:
    assert traces.setup("players")
    with traces.span("play", worker="here-1"), traces.span("match", match="t_1-0", attempt=1):
        pass
    traces.stop()
    ((path, told),) = collector
    assert path == "/v1/traces"
    (of,) = told.resource_spans
    assert {each.key: each.value.string_value for each in of.resource.attributes}[
        "service.name"
    ] == "rage-players"
    match, play = of.scope_spans[0].spans
    assert (match.name, play.name) == ("match", "play")
    assert match.parent_span_id == play.span_id
    told_ids = {each.key: each.value for each in match.attributes}
    assert told_ids["rage.match"].string_value == "t_1-0"
    assert told_ids["rage.attempt"].int_value == 1


def test_a_request_is_linked_to_its_senders_trace_but_has_its_own() -> None:
    kept = InMemorySpanExporter()
    assert traces.setup("api", kept)
    with traces.span("GET /x", [("Traceparent", SENDER)], request="r1") as span:
        assert traces.current() not in (None, SENDER.split("-")[1])
        traces.answered(span, 200)
    traces.stop()
    (found,) = kept.get_finished_spans()
    assert found.attributes == {"rage.request": "r1", "http.response.status_code": 200}
    assert found.parent is None
    assert [f"{link.context.trace_id:032x}" for link in found.links] == [SENDER.split("-")[1]]


def test_an_exception_and_an_answer_of_5xx_are_errors() -> None:
    kept = InMemorySpanExporter()
    assert traces.setup("api", kept)
    with pytest.raises(ZeroDivisionError), traces.span("match"):
        raise ZeroDivisionError
    with traces.span("GET /x", ()) as span:
        traces.answered(span, 503)
    traces.stop()
    match, request = kept.get_finished_spans()
    assert [event.name for event in match.events] == ["exception"]
    assert (match.status.is_ok, request.status.is_ok) == (False, False)


def test_log_lines_name_the_trace_they_belong_to() -> None:
    screen = io.StringIO()
    log.setup("info", stream=screen)
    assert traces.setup("api", InMemorySpanExporter())
    with traces.span("GET /x", ()):
        there = traces.current()
        structlog.get_logger("x").info("within")
    structlog.get_logger("x").info("outside")
    within, outside = map(json.loads, screen.getvalue().splitlines())
    assert within["trace"] == there
    assert "trace" not in outside
