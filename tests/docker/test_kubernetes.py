"""The manifests of docker/kubernetes, and what docs/deploy.md shows."""

import re
from typing import Any

import kubernetes_validate
import pytest
import yaml

from alpha_codium.cli.eval import score
from alpha_codium.cli.main import cli
from alpha_codium.config import Settings
from alpha_codium.eval.shards import Shard
from tests.support import ROOT

VERSIONS = ("1.30", "1.34")
FOLDER = ROOT / "docker" / "kubernetes"
BASE = FOLDER / "base"
MANIFESTS = {each["kind"]: each for each in yaml.safe_load_all((BASE / "judge.yaml").read_text())}
PAGE = (ROOT / "docs" / "deploy.md").read_text()


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("kind", MANIFESTS)
def test_a_manifest_is_valid(kind: str, version: str) -> None:
    kubernetes_validate.validate(MANIFESTS[kind], version, strict=True)


@pytest.mark.parametrize(("kind", "field"), [("Deployment", "replica"), ("NetworkPolicy", "egres")])
def test_a_mistyped_field_would_be_found(kind: str, field: str) -> None:
    manifest = MANIFESTS[kind] | {"spec": MANIFESTS[kind]["spec"] | {field: []}}
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(manifest, VERSIONS[-1], strict=True)


def pod() -> dict[str, Any]:
    return MANIFESTS["Deployment"]["spec"]["template"]


def test_pods_have_no_rights_and_reach_nothing() -> None:
    spec, (container,) = pod()["spec"], pod()["spec"]["containers"]
    assert spec["securityContext"]["runAsNonRoot"]
    assert spec["automountServiceAccountToken"] is False
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert container["securityContext"]["readOnlyRootFilesystem"]
    policy = MANIFESTS["NetworkPolicy"]["spec"]
    assert (policy["egress"], "Egress" in policy["policyTypes"]) == ([], True)


def test_all_manifests_mean_the_same_pods_and_port() -> None:
    labels = pod()["metadata"]["labels"]
    selectors = [
        MANIFESTS["Deployment"]["spec"]["selector"]["matchLabels"],
        MANIFESTS["Service"]["spec"]["selector"],
        MANIFESTS["NetworkPolicy"]["spec"]["podSelector"]["matchLabels"],
    ]
    assert all(selector == labels for selector in selectors)
    assert MANIFESTS["HorizontalPodAutoscaler"]["spec"]["scaleTargetRef"]["name"] == "judge"
    (port,) = (each["containerPort"] for each in pod()["spec"]["containers"][0]["ports"])
    assert MANIFESTS["NetworkPolicy"]["spec"]["ingress"][0]["ports"] == [{"protocol": "TCP", "port": port}]


def test_the_arguments_are_those_of_the_command_and_hold_no_secret() -> None:
    (container,) = pod()["spec"]["containers"]
    command, *arguments = container["args"]
    context = cli.get_command(None, command).make_context(command, [*arguments[:-2]])
    assert (context.params["host"], context.params["port"]) == ("0.0.0.0", 8080)
    assert arguments[-2:] == ["--token_file", "/run/judge/token"]
    mounts = {mount["mountPath"]: mount["name"] for mount in container["volumeMounts"]}
    assert mounts["/run/judge"] == "token"


def test_the_autoscaler_reads_a_metric_that_the_server_has() -> None:
    from alpha_codium.serve.load import Load
    from alpha_codium.serve.measuring import ServiceMetrics

    (metric,) = MANIFESTS["HorizontalPodAutoscaler"]["spec"]["metrics"]
    name = metric["pods"]["metric"]["name"]
    assert f"\n{name} 0.0\n" in ServiceMetrics(Load(1, 10)).text().decode()
    assert f"seriesQuery: '{name}{{" in PAGE


def test_the_base_has_all_manifests_and_names_their_image() -> None:
    base = yaml.safe_load((BASE / "kustomization.yaml").read_text())
    assert base["resources"] == ["judge.yaml"]
    assert [each["name"] for each in base["images"]] == [pod()["spec"]["containers"][0]["image"]]


def test_the_overlay_for_gvisor_makes_a_valid_deployment_with_the_arguments_of_the_command() -> None:
    overlay = yaml.safe_load((FOLDER / "gvisor" / "kustomization.yaml").read_text())
    assert overlay["resources"] == ["../base"]
    (patch,) = (yaml.safe_load((FOLDER / "gvisor" / each["path"]).read_text()) for each in overlay["patches"])
    assert patch["metadata"]["name"] == MANIFESTS["Deployment"]["metadata"]["name"]
    merged = _merged(MANIFESTS["Deployment"], patch)
    kubernetes_validate.validate(merged, VERSIONS[-1], strict=True)
    (container,) = merged["spec"]["template"]["spec"]["containers"]
    (before,) = pod()["spec"]["containers"]
    assert container["args"] == [*before["args"], "-o", "code_tester.tester_type=gvisor"]
    assert container["image"] == before["image"] and container["securityContext"]["readOnlyRootFilesystem"]


def _merged(value: Any, patch: Any) -> Any:
    """What a strategic merge makes of the fields that the patch has; its lists of objects have one, the same."""
    if isinstance(value, dict) and isinstance(patch, dict):
        return value | {name: _merged(value.get(name), each) for name, each in patch.items()}
    if isinstance(patch, list) and isinstance(patch[0], dict):
        return [_merged(*pair) for pair in zip(value, patch, strict=True)]
    return patch


def test_the_compose_file_has_the_options_of_the_page_and_the_arguments_of_the_command() -> None:
    (judge,) = yaml.safe_load((ROOT / "docker" / "compose.yaml").read_text())["services"].values()
    command, *arguments = [each.replace("${WORKERS:-4}", "4") for each in judge["command"]]
    context = cli.get_command(None, command).make_context(command, arguments)
    assert (context.params["host"], context.params["workers"]) == ("0.0.0.0", 4)
    assert all(f"--tmpfs {each}" in PAGE for each in judge["tmpfs"])
    assert judge["read_only"] and judge["cap_drop"] == ["ALL"] and judge["ports"] == ["127.0.0.1:8080:8080"]
    assert (ROOT / "docker" / judge["build"]["context"] / judge["build"]["dockerfile"]).exists()


def test_the_settings_that_the_page_shows_are_valid() -> None:
    import tomllib

    (shown,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    settings = tomllib.loads(shown)
    assert Settings.model_validate(settings).sandbox.remote.urls[2] == "http://judge-3:8080"


@pytest.mark.parametrize("version", VERSIONS)
def test_the_indexed_job_is_valid_and_each_of_its_pods_judges_a_part(version: str) -> None:
    job = yaml.safe_load((ROOT / "examples" / "arrays" / "score-job.yaml").read_text())
    kubernetes_validate.validate(job, version, strict=True)
    spec, (container,) = job["spec"], job["spec"]["template"]["spec"]["containers"]
    given = score.make_context("score", container["args"][2:]).params
    assert (container["args"][:2], spec["completionMode"]) == (["eval", "score"], "Indexed")
    for index in range(spec["completions"]):
        assert Shard.of(given["shard"], {"JOB_COMPLETION_INDEX": str(index)}).number == index + 1
    assert Shard.of(given["shard"], {"JOB_COMPLETION_INDEX": "0"}).count == spec["completions"]


@pytest.mark.parametrize("version", VERSIONS)
def test_the_ray_job_judges_on_ray_in_pods_that_are_valid(version: str) -> None:
    job = yaml.safe_load((ROOT / "examples" / "arrays" / "score-rayjob.yaml").read_text())
    program, *command = job["spec"]["entrypoint"].split()
    given = score.make_context("score", command[2:]).params
    assert (program, command[:2], given["executor"]) == ("gencode", ["eval", "score"], "ray")
    cluster = job["spec"]["rayClusterSpec"]
    for group in (cluster["headGroupSpec"], *cluster["workerGroupSpecs"]):
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "judge"}, "spec": group["template"]["spec"]}
        kubernetes_validate.validate(pod, version, strict=True)
