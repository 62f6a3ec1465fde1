"""Traces, for who collects them: spans with the same ids as log lines, sent where the OTEL_* variables say.

They need the extra `otel` and an address, such as OTEL_EXPORTER_OTLP_ENDPOINT=http://collector:4318; all the
usual variables hold (sampler, headers, resource attributes). Without an address a span costs one call.
"""

import os
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import structlog

if TYPE_CHECKING:
    from opentelemetry.sdk.trace.export import SpanExporter
    from opentelemetry.trace import Span

log = structlog.get_logger(__name__)
ADDRESSES = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
NOTHING: AbstractContextManager[None] = nullcontext()
_on: dict[str, Any] = {}  # tracer and provider, while traces are taken


def setup(role: str, exporter: "SpanExporter | None" = None) -> bool:
    """Take traces from now on, if that is wanted; whether they are.

    `role` says what this process is ("api", "players" …): the service's name is then "rage-" and that, unless
    OTEL_SERVICE_NAME has another. To be called once a process, after any fork. `exporter`: not the usual one.
    """
    off = os.environ.get("OTEL_SDK_DISABLED", "").lower() == "true"
    if off or (exporter is None and not any(map(os.environ.get, ADDRESSES))):
        return False
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as missing:
        log.warning("no_traces", reason=str(missing), remedy="pip install 'rage-arena[otel]'")
        return False
    name = {} if "OTEL_SERVICE_NAME" in os.environ else {"service.name": f"rage-{role}"}
    provider = TracerProvider(resource=Resource.create(name))
    provider.add_span_processor(BatchSpanProcessor(exporter or OTLPSpanExporter()))
    _on.update(provider=provider, tracer=provider.get_tracer("rage", version("rage-arena")))
    return True


def span(
    name: str, headers: Iterable[tuple[str, str]] | None = None, /, **ids: str | int
) -> AbstractContextManager["Span | None"]:
    """What is done within is one span; gives it, or None where no traces are taken. An exception is noted.

    A request's `headers` make it a server's span, with a link to its sender's if they tell one (W3C trace
    context): a stranger must not choose our ids, nor what is sampled.
    """
    if not _on:
        return NOTHING
    told = {f"rage.{key}": value for key, value in ids.items()}
    of_request = {} if headers is None else _of_request(headers)
    entered: AbstractContextManager[Span] = _on["tracer"].start_as_current_span(
        name, attributes=told, **of_request
    )
    return entered


def _of_request(headers: Iterable[tuple[str, str]]) -> dict[str, Any]:
    from opentelemetry.context import Context
    from opentelemetry.trace import Link, SpanKind, get_current_span
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    carrier = {key.lower(): value for key, value in headers}
    sender = get_current_span(TraceContextTextMapPropagator().extract(carrier, Context())).get_span_context()
    links = [Link(sender)] if sender.is_valid else []
    return {"kind": SpanKind.SERVER, "context": Context(), "links": links}


def answered(span: "Span | None", status: int) -> None:
    """Note a request's answer: its status, and that one of 5xx is an error of ours."""
    if span is None:
        return
    from opentelemetry.trace import StatusCode

    span.set_attribute("http.response.status_code", status)
    if status >= 500:
        span.set_status(StatusCode.ERROR)


def current() -> str | None:
    """The id of the trace that is being taken here, as 32 hexadecimal digits; for log lines."""
    if not _on:
        return None
    from opentelemetry.trace import format_trace_id, get_current_span

    of = get_current_span().get_span_context()
    return format_trace_id(of.trace_id) if of.is_valid else None


def stop() -> None:
    """Send what is left, and take no more."""
    if _on:
        _on["provider"].shutdown()
        _on.clear()
