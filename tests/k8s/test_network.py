"""Who may talk to whom, worked out from the policies as a cluster's network would."""

from collections.abc import Mapping
from typing import Any

import pytest

from .conftest import K8S, Manifest, of_kind, pods, rendered

NAME = "kubernetes.io/metadata.name"
COMPONENT = "app.kubernetes.io/component"
OURS = {"api", "players", "desk", "beat", "migrate", "backup"}
FLOWS = {  # every one that there may be, between pods of the local overlay
    *((who, "database", 5432) for who in ("api", "players", "desk", "migrate", "backup")),
    *((who, "redis", 6379) for who in ("api", "players", "desk", "beat")),
}
PORTS = {"api": 8000, "database": 5432, "redis": 6379}


@pytest.fixture(scope="module")
def local() -> list[Manifest]:
    return rendered(K8S / "overlays" / "local")


def picks(selector: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    """Whether a label selector takes these labels."""
    for each in selector.get("matchExpressions", []):
        assert each["operator"] == "In"
        if labels.get(each["key"]) not in each["values"]:
            return False
    return selector.get("matchLabels", {}).items() <= labels.items()


def is_peer(peer: Mapping[str, Any], labels: Mapping[str, str], namespace: str) -> bool:
    """Whether a pod of these labels is meant by a `from` or `to` entry of the namespace `rage`."""
    if "ipBlock" in peer:
        return False
    where = peer.get("namespaceSelector")
    near = namespace == "rage" if where is None else picks(where, {NAME: namespace})
    return near and picks(peer.get("podSelector", {}), labels)


def allows(
    policies: list[Manifest],
    way: str,
    ours: Mapping[str, str],
    other: tuple[Mapping[str, str], str],
    port: int,
) -> bool:
    """One direction: `way` is Ingress or Egress at the pod `ours`, `other` the labels and namespace there."""
    peers = "from" if way == "Ingress" else "to"
    concerned = [
        each["spec"]
        for each in policies
        if way in each["spec"]["policyTypes"] and picks(each["spec"]["podSelector"], ours)
    ]
    rules = [rule for spec in concerned for rule in spec.get(way.lower(), [])]
    return not concerned or any(
        any(is_peer(peer, *other) for peer in rule[peers])
        and port in [PORTS["api"] if each["port"] == "http" else each["port"] for each in rule["ports"]]
        for rule in rules
    )


def test_pods_reach_what_they_need_and_nothing_else(local: list[Manifest]) -> None:
    policies = list(of_kind(local, "NetworkPolicy").values())
    there = {pod.component: pod.labels for pod in pods(local)}
    found = {
        (source, target, port)
        for source in there
        for target, port in PORTS.items()
        if allows(policies, "Egress", there[source], (there[target], "rage"), port)
        and allows(policies, "Ingress", there[target], (there[source], "rage"), port)
    }
    assert found == FLOWS


@pytest.mark.parametrize("component", sorted(OURS))
def test_every_pod_may_look_up_names_and_go_nowhere_outside(
    manifests: list[Manifest], component: str
) -> None:
    policies = list(of_kind(manifests, "NetworkPolicy").values())
    (labels,) = (pod.labels for pod in pods(manifests) if pod.component == component)
    assert allows(policies, "Egress", labels, ({"k8s-app": "kube-dns"}, "kube-system"), 53)
    assert not allows(policies, "Egress", labels, ({}, "somewhere"), 443)
    assert not allows(policies, "Egress", labels, ({"k8s-app": "kube-dns"}, "kube-system"), 443)


@pytest.mark.parametrize(
    ("namespace", "open_to"), [("ingress-nginx", {"api"}), ("monitoring", {"api"}), ("x", set())]
)
def test_only_the_api_answers_other_namespaces(
    manifests: list[Manifest], namespace: str, open_to: set[str]
) -> None:
    policies = list(of_kind(manifests, "NetworkPolicy").values())
    found = {
        pod.component
        for pod in pods(manifests)
        for port in PORTS.values()
        if allows(policies, "Ingress", pod.labels, ({}, namespace), port)
    }
    assert found == open_to


def test_production_reaches_databases_at_addresses_alone() -> None:
    policies = of_kind(rendered(K8S / "overlays" / "prod"), "NetworkPolicy")
    for name, port in (("to-database", 5432), ("to-redis", 6379)):
        (rule,) = policies[name]["spec"]["egress"]
        assert [set(peer) for peer in rule["to"]] == [{"ipBlock"}]
        assert [each["port"] for each in rule["ports"]] == [port]
        assert rule["to"][0]["ipBlock"]["cidr"].endswith("/32")


def test_figures_do_not_leave_the_cluster() -> None:
    there = rendered(K8S / "overlays" / "prod")
    (rule,) = of_kind(there, "Ingress")["api"]["spec"]["rules"]
    served = {each["path"]: each["backend"]["service"]["name"] for each in rule["http"]["paths"]}
    assert served == {"/": "api", "/metrics": "nowhere", "/readyz": "nowhere"}
    assert "selector" not in of_kind(there, "Service")["nowhere"]["spec"]
