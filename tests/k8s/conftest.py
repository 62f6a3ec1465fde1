"""The manifests as kustomize renders them, and the values in them that several tests want."""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
K8S = ROOT / "k8s"
OVERLAYS = ("local", "prod")
COMPONENTS = (
    *(f"components/{name}" for name in ("keda", "gvisor", "pgbouncer", "tracing", "user-namespaces")),
    "observability",
)
COMBINED = {  # what an overlay might take, all at once
    "every component": COMPONENTS,
    "without KEDA": ("components/hpa-age", "observability"),
}
Manifest = Mapping[str, Any]


@cache
def rendered(folder: Path) -> list[Manifest]:
    """What `kubectl apply -k` would apply; kubectl's own errors fail the test."""
    kubectl = Path(sys.executable).with_name("kubectl")
    argv = [kubectl if kubectl.exists() else "kubectl", "kustomize", folder]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return list(yaml.safe_load_all(done.stdout))


@pytest.fixture(scope="session", params=[*OVERLAYS, *COMBINED])
def manifests(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[Manifest]:
    """Each overlay, and the base with components."""
    if request.param in OVERLAYS:
        return rendered(K8S / "overlays" / request.param)
    folder = tmp_path_factory.mktemp("everything")
    base, *parts = (os.path.relpath(K8S / name, folder) for name in ("base", *COMBINED[request.param]))
    told = {"namespace": "rage", "resources": [base], "components": parts}
    (folder / "kustomization.yaml").write_text(yaml.safe_dump(told))
    return rendered(folder)


@dataclass(frozen=True, slots=True)
class Pod:
    """What a Deployment, Job or CronJob makes."""

    kind: str
    name: str
    labels: Mapping[str, str]
    spec: Mapping[str, Any]

    @property
    def component(self) -> str:
        return self.labels["app.kubernetes.io/component"]

    @property
    def ours(self) -> bool:
        return self.labels.get("app.kubernetes.io/name") == "rage-arena"

    def containers(self) -> Iterator[Mapping[str, Any]]:
        yield from self.spec.get("initContainers", [])
        yield from self.spec["containers"]


def pods(manifests: list[Manifest]) -> list[Pod]:
    found = []
    for each in manifests:
        if each["kind"] not in ("Deployment", "StatefulSet", "Job", "CronJob"):
            continue
        holder = each["spec"]["jobTemplate"]["spec"] if each["kind"] == "CronJob" else each["spec"]
        template = holder["template"]
        found.append(
            Pod(each["kind"], each["metadata"]["name"], template["metadata"]["labels"], template["spec"])
        )
    return found


def of_kind(manifests: list[Manifest], kind: str) -> dict[str, Manifest]:
    return {each["metadata"]["name"]: each for each in manifests if each["kind"] == kind}


def dockerfile_environment() -> dict[str, str]:
    """What the images set."""
    words = (K8S / "Dockerfile").read_text().split()
    return dict(word.split("=", 1) for word in words if word.startswith("RAGE_"))
