"""The manifests against Kubernetes' schemas, against the rules for pods, and against the code they start."""

import re
import tomllib
from collections import Counter
from dataclasses import fields
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml
from opentelemetry.sdk import environment_variables

from api.app import create_app
from service.admin import main
from service.jobs import QUEUES
from service.programs import NAMES, commands
from service.settings import Settings, variable

from .conftest import K8S, ROOT, Manifest, Pod, dockerfile_environment, of_kind, pods

VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
KNOWN = {variable(each) for each in fields(Settings)}
STANDARD = {name for name in vars(environment_variables) if name.startswith("OTEL_")}
FOREIGN = {  # kinds of operators, which no schema is at hand for: what their specs may say
    "ScaledObject": {"scaleTargetRef", "minReplicaCount", "maxReplicaCount", "pollingInterval",
                     "advanced", "triggers"},
    "TriggerAuthentication": {"secretTargetRef"},
    "ServiceMonitor": {"selector", "endpoints"},
    "PrometheusRule": {"groups"},
}  # fmt: skip
AGE = "15"  # seconds that the oldest work has waited, for each pod
HARMLESS_VOLUMES = {"emptyDir", "persistentVolumeClaim", "configMap", "secret", "projected", "downwardAPI"}
WITHOUT_PROBES = {  # and why
    "desk": "alert RageNobodyWatches",
    "beat": "alert RageNobodyWatches",
    "migrate": "ends",
    "backup": "ends",
}


# Kubernetes' own rules.


def test_every_manifest_fits_its_schema(manifests: list[Manifest]) -> None:
    for each in manifests:
        if each["kind"] in FOREIGN:
            assert set(each["spec"]) <= FOREIGN[each["kind"]], each["kind"]
        else:
            kubernetes_validate.validate(each, "1.37", strict=True)


def test_a_misspelt_field_would_be_found(manifests: list[Manifest]) -> None:
    spoilt = {**of_kind(manifests, "Deployment")["api"], "sepc": {}}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(spoilt, "1.37", strict=True)


def test_everything_is_in_the_namespace_that_restricts_pods(manifests: list[Manifest]) -> None:
    (namespace,) = of_kind(manifests, "Namespace").values()
    assert namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"
    elsewhere = {
        each["kind"]
        for each in manifests
        if each["metadata"].get("namespace") != namespace["metadata"]["name"]
    }
    assert elsewhere <= {"Namespace", "RuntimeClass"}


def test_no_container_has_a_right_it_can_do_without(manifests: list[Manifest]) -> None:
    for pod in pods(manifests):
        assert pod.spec["automountServiceAccountToken"] is False, pod.name
        assert pod.spec["enableServiceLinks"] is False, "a Service's variables would be read as settings"
        assert not {"hostNetwork", "hostPID", "hostIPC"} & set(pod.spec), pod.name
        of_pod = pod.spec["securityContext"]
        assert of_pod["runAsNonRoot"] is True and of_pod["runAsUser"] > 0, pod.name
        assert of_pod["seccompProfile"] == {"type": "RuntimeDefault"}, pod.name
        for volume in pod.spec["volumes"]:
            assert set(volume) - {"name"} <= HARMLESS_VOLUMES, pod.name
            assert "sizeLimit" in volume.get("emptyDir", {"sizeLimit": 0}), (
                f"{pod.name} may fill the node's disk"
            )
        for container in pod.containers():
            _has_no_rights(pod, container)


def _has_no_rights(pod: Pod, container: dict[str, Any]) -> None:
    where, own = f"{pod.name}/{container['name']}", dict(container["securityContext"])
    assert own.pop("allowPrivilegeEscalation") is False, where
    assert own.pop("readOnlyRootFilesystem") is True, where
    assert own.pop("capabilities") == {"drop": ["ALL"]}, where
    profile = own.pop("seccompProfile", None)  # only what plays, and only one of ours
    assert profile is None or (pod.name, profile["type"]) == ("players", "Localhost"), where
    assert own == {}, where
    limits, requests = container["resources"]["limits"], container["resources"]["requests"]
    assert {"cpu", "memory"} <= set(limits) and {"cpu", "memory"} <= set(requests), where
    assert container.get("imagePullPolicy", "IfNotPresent") == "IfNotPresent", where
    assert "command" not in container, f"{where}: only the image's entry point is run"


def test_what_lasts_is_probed(manifests: list[Manifest]) -> None:
    for pod in pods(manifests):
        if pod.component not in WITHOUT_PROBES:
            (container,) = pod.spec["containers"]
            assert "livenessProbe" in container, pod.name


def test_selectors_find_what_they_are_for(manifests: list[Manifest]) -> None:
    there = [pod.labels for pod in pods(manifests)]
    for each in manifests:
        if (
            each["kind"] not in ("Service", "PodDisruptionBudget", "Deployment")
            or "selector" not in each["spec"]
        ):
            continue
        wanted = each["spec"]["selector"]
        wanted = wanted.get("matchLabels", wanted)
        found = [labels for labels in there if wanted.items() <= labels.items()]
        assert len(found) == 1, f"{each['kind']} {each['metadata']['name']} finds {len(found)} kinds of pods"


def test_nothing_is_scaled_by_two(manifests: list[Manifest]) -> None:
    targets = [
        each["spec"]["scaleTargetRef"]["name"]
        for each in manifests
        if each["kind"] in ("HorizontalPodAutoscaler", "ScaledObject")
    ]
    assert max(Counter(targets).values(), default=0) <= 1
    for name in targets:
        assert "replicas" not in of_kind(manifests, "Deployment")[name]["spec"], f"{name} would be set back"


def test_who_goes_by_age_goes_by_what_is_busy_too_and_lets_no_player_go_in_haste(
    manifests: list[Manifest],
) -> None:
    """Nothing waits as soon as all is taken, and the players that took it must stay."""
    scaled = of_kind(manifests, "ScaledObject").get("players")
    plain = of_kind(manifests, "HorizontalPodAutoscaler").get("players")
    behavior = None
    if scaled is not None:
        age = {each["name"]: each["metadata"]["targetQueryValue"] for each in scaled["spec"]["triggers"]}
        assert age == {"backlog": "100", "age": AGE}
        behavior = scaled["spec"]["advanced"]["horizontalPodAutoscalerConfig"]["behavior"]
    elif plain is not None:
        processor, *older = plain["spec"]["metrics"]
        assert processor["type"] == "Resource"
        assert [each["external"]["target"] for each in older] in (
            [],
            [{"type": "AverageValue", "averageValue": AGE}] * 2,
        )
        behavior = plain["spec"]["behavior"]
    assert behavior is None or behavior["scaleDown"]["stabilizationWindowSeconds"] == 300


@pytest.mark.parametrize("name", ["api", "players"])
def test_what_there_are_several_of_does_not_go_with_one_machine(manifests: list[Manifest], name: str) -> None:
    (pod,) = (pod for pod in pods(manifests) if pod.name == name)
    (spread,) = pod.spec["topologySpreadConstraints"]
    assert spread["topologyKey"] == "kubernetes.io/hostname"
    assert spread["labelSelector"]["matchLabels"].items() <= pod.labels.items()
    assert of_kind(manifests, "PodDisruptionBudget")[name]["spec"]["maxUnavailable"]


@pytest.mark.parametrize("name", ["desk", "beat"])
def test_there_is_exactly_one(manifests: list[Manifest], name: str) -> None:
    spec = of_kind(manifests, "Deployment")[name]["spec"]
    assert (spec["replicas"], spec["strategy"]) == (1, {"type": "Recreate"})


# The code they start.


def test_every_variable_is_a_setting_and_every_value_can_be_read(manifests: list[Manifest]) -> None:
    for pod in pods(manifests):
        for container in pod.containers():
            names = {each["name"] for each in container.get("env", [])}
            assert not pod.ours or {name for name in names if name.startswith("RAGE_")} <= KNOWN
    (configured,) = (
        each["data"]
        for name, each in of_kind(manifests, "ConfigMap").items()
        if not name.endswith("dashboard")
    )
    assert set(configured) <= KNOWN | STANDARD
    assert Settings.from_environment(dockerfile_environment() | configured).workers == 2


def test_every_command_line_is_one(manifests: list[Manifest]) -> None:
    begun = set()
    for pod in filter(lambda each: each.ours, pods(manifests)):
        for container in pod.containers():
            verb, *words = container["args"]
            main.commands[verb].make_context(verb, [*words])
            begun.add(words[0] if verb == "run" else verb)
    assert begun == {*NAMES, "migrate", "house", "backup"}


def test_somebody_takes_from_every_queue() -> None:
    lines = commands(Settings.from_environment({})).values()
    taken = [queue for line in lines if "-Q" in line for queue in line[line.index("-Q") + 1].split(",")]
    assert sorted(taken) == sorted(set(QUEUES.values()))


def test_ports_and_probes_are_those_of_the_api(manifests: list[Manifest], tmp_path: Path) -> None:
    settings = Settings.from_environment(dockerfile_environment() | {"RAGE_DATA_DIR": str(tmp_path)})
    paths = {rule.rule for rule in create_app(settings).url_map.iter_rules()}
    (api,) = (pod.spec["containers"][0] for pod in pods(manifests) if pod.name == "api")
    assert api["ports"] == [{"name": "http", "containerPort": settings.port}]
    probes = [api[f"{kind}Probe"]["httpGet"] for kind in ("startup", "liveness", "readiness")]
    assert {probe["path"] for probe in probes} <= paths
    assert {probe["port"] for probe in probes} == {"http"}
    for monitor in of_kind(manifests, "ServiceMonitor").values():
        assert {each["path"] for each in monitor["spec"]["endpoints"]} <= paths


def test_players_are_asked_for_the_signs_of_life_they_give(manifests: list[Manifest]) -> None:
    (container,) = (pod.spec["containers"][0] for pod in pods(manifests) if pod.name == "players")
    home = dockerfile_environment()["RAGE_DATA_DIR"]
    for kind in ("startup", "liveness"):
        program, *options, module, directory = container[f"{kind}Probe"]["exec"]["command"]
        assert (program, options) == ("python", ["-P", "-m"])
        assert find_spec(module) is not None
        assert directory == f"{home}/run/alive"
    assert {"name": "data", "mountPath": home} in container["volumeMounts"]


def test_a_player_has_time_to_finish_or_hand_back_what_it_plays(manifests: list[Manifest]) -> None:
    (configured,) = (
        each["data"] for name, each in of_kind(manifests, "ConfigMap").items() if "dash" not in name
    )
    settings = Settings.from_environment(configured)
    (pod,) = (pod for pod in pods(manifests) if pod.name == "players")
    grace = pod.spec["terminationGracePeriodSeconds"]
    assert settings.stop_seconds > settings.chunk_ms / 1000
    assert grace >= settings.stop_seconds + 15
    assert str(settings.workers) == pod.spec["containers"][0]["resources"]["limits"]["cpu"]


def test_every_secret_is_in_the_example(manifests: list[Manifest]) -> None:
    example = yaml.safe_load((K8S / "secret.example.yaml").read_text())
    keys = set(example["stringData"])
    wanted = set()
    for pod in filter(lambda each: each.ours, pods(manifests)):
        for container in pod.containers():
            for each in container.get("env", []):
                if reference := each.get("valueFrom", {}).get("secretKeyRef"):
                    assert reference["name"] == example["metadata"]["name"]
                    wanted.add(reference["key"])
    assert wanted == keys
    for made in of_kind(manifests, "Secret").values():
        assert set(made["data"]) == keys


def test_images_are_this_version_and_none_is_whatever_is_latest(manifests: list[Manifest]) -> None:
    for pod in pods(manifests):
        for container in pod.containers():
            name, _, tag = container["image"].rpartition(":")
            assert name and re.fullmatch(r"\d+\.\d+[\w.-]*", tag), container["image"]
            assert not pod.ours or tag == VERSION, container["image"]
    assert f"migrate-{VERSION.replace('.', '-')}" in of_kind(manifests, "Job"), (
        "a Job is made anew by its name"
    )


def test_whoever_reaches_the_database_knows_whether_it_is_pooled(manifests: list[Manifest]) -> None:
    (configured,) = (
        each["data"] for name, each in of_kind(manifests, "ConfigMap").items() if "dash" not in name
    )
    pooled = configured.get("RAGE_DATABASE_POOLED")
    for pod in filter(lambda each: each.ours, pods(manifests)):
        for container in pod.containers():
            own = {each["name"]: each.get("value") for each in container.get("env", [])}
            if "RAGE_DATABASE_URL" in own and not container.get("envFrom"):
                assert own.get("RAGE_DATABASE_POOLED") == pooled, f"{pod.name}/{container['name']}"
