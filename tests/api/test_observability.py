"""Dashboard and alerts ask for figures that there are: each name and label, in what /metrics really says."""

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import promql_parser
import pytest
import yaml
from flask.testing import FlaskClient
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from prometheus_client.parser import text_string_to_metric_families

from service import presence, traces
from service.work import Arena

FOLDER = Path(__file__).parents[2] / "k8s" / "observability"
AUTOSCALER = FOLDER.parent / "components" / "hpa-age"
DASHBOARD = json.loads((FOLDER / "dashboard.json").read_text())
ALERTS = yaml.safe_load((FOLDER / "alerts.yaml").read_text())
RULES = [rule for group in ALERTS["groups"] for rule in group["rules"]]
PANELS = [(panel["title"], target["expr"]) for panel in DASHBOARD["panels"] for target in panel["targets"]]
ASKED = [*((rule["alert"], rule["expr"]) for rule in RULES), *PANELS]
BELOW = ("lhs", "rhs", "expr", "vector_selector", "args", "param")


def selected(node: Any) -> Iterator[promql_parser.VectorSelector]:
    """Every selector in a parsed expression."""
    if isinstance(node, promql_parser.VectorSelector):
        yield node
    for name in BELOW:
        found = getattr(node, name, None)
        for each in found if isinstance(found, list) else [found]:
            if type(each).__module__ == promql_parser.VectorSelector.__module__:
                yield from selected(each)


@pytest.fixture
def figures(http: FlaskClient, arena: Arena, cup: Mapping[str, Any]) -> dict[str, set[str]]:
    """Every sample's name with its labels, after a tournament with faults."""
    presence.here(arena, "here-1-2-3", "A", {})
    found: dict[str, set[str]] = defaultdict(set)
    for family in text_string_to_metric_families(http.get("/metrics").text):
        for sample in family.samples:
            found[sample.name] |= set(sample.labels)
    return found


def test_every_figure_that_is_asked_for_is_there(figures: dict[str, set[str]]) -> None:
    for title, expression in ASKED:
        asked = list(selected(promql_parser.parse(expression)))
        assert asked, f"{title} asks for nothing"
        for each in asked:
            assert each.name in figures, f"{title}: there is no {each.name}"
            labels = {matcher.name for matcher in each.matchers.matchers}
            assert labels <= figures[each.name], f"{title}: {each.name} has no {labels - figures[each.name]}"


def test_the_autoscaler_is_given_figures_that_there_are(figures: dict[str, set[str]]) -> None:
    """As prometheus-adapter fills its template in; `namespace` is the scraper's own label."""
    (patch,) = yaml.safe_load((AUTOSCALER / "kustomization.yaml").read_text())["patches"]
    wanted = [each["value"]["external"]["metric"]["name"] for each in yaml.safe_load(patch["patch"])]
    (rule,) = yaml.safe_load((AUTOSCALER / "adapter.yaml").read_text())["externalRules"]
    ((matcher,),) = (each.matchers.matchers for each in selected(promql_parser.parse(rule["seriesQuery"])))
    assert rule["resources"]["overrides"] == {"namespace": {"resource": "namespace"}}
    assert len(wanted) == 2
    for name in wanted:
        assert name in figures
        assert matcher.name == "__name__" and re.fullmatch(matcher.value, name)
        filled = rule["metricsQuery"].replace("<<.Series>>", name)
        filled = filled.replace("<<.LabelMatchers>>", 'namespace="rage"')
        assert [each.name for each in selected(promql_parser.parse(filled))] == [name]
        assert filled.startswith("clamp_max(") and filled.endswith(", 300)"), "as KEDA's query caps it"


@pytest.mark.parametrize("expression", ["max(rage_up", "rage_up{", "histogram_quantile(rage_up)"])
def test_a_broken_expression_would_be_found(expression: str) -> None:
    with pytest.raises(ValueError):
        promql_parser.parse(expression)


def test_every_alert_says_what_it_is_and_what_to_do() -> None:
    for rule in RULES:
        assert set(rule["annotations"]) == {"summary", "action"}, rule["alert"]
        assert rule["labels"]["severity"] in ("warning", "critical"), rule["alert"]
    assert len({rule["alert"] for rule in RULES}) == len(RULES)


def test_the_operators_rules_are_the_plain_ones() -> None:
    resources = yaml.safe_load_all((FOLDER / "monitor.yaml").read_text())
    (theirs,) = (each["spec"] for each in resources if each["kind"] == "PrometheusRule")
    assert theirs == ALERTS


def test_panels_have_places_of_their_own() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in DASHBOARD["panels"]:
        at = panel["gridPos"]
        cells = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        assert not taken & cells and at["x"] + at["w"] <= 24, panel["title"]
        taken |= cells
        assert panel["datasource"]["uid"] == "${datasource}", "whichever Prometheus there is"


def test_a_request_is_a_span_by_its_route_that_ends_with_it(http: FlaskClient) -> None:
    kept = InMemorySpanExporter()
    assert traces.setup("api", kept)
    http.get("/api/v1/bots/none", headers={"X-Request-ID": "r1"})
    assert traces.current() is None
    traces.stop()
    (span,) = kept.get_finished_spans()
    assert span.name == "GET /api/v1/bots/<id:bot_id>"
    assert span.attributes == {"rage.request": "r1", "http.response.status_code": 404}
