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
MANIFESTS = {
    each["kind"]: each for each in yaml.safe_load_all((ROOT / "docker" / "kubernetes" / "judge.yaml").read_text())
}
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


def test_what_the_page_shows_for_gvisor_fits_the_manifest() -> None:
    (shown,) = (block for block in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL) if "runtimeClassName" in block)
    change = yaml.safe_load(shown)["spec"]
    spec = pod()["spec"]
    container = spec["containers"][0] | {
        name: value for name, value in change["containers"][0].items() if name != "securityContext"
    }
    container["securityContext"] = container["securityContext"] | change["containers"][0]["securityContext"]
    context = spec["securityContext"] | change["securityContext"]
    changed = spec | {"containers": [container], "securityContext": context, "runtimeClassName": "gvisor"}
    manifest = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "judge"}, "spec": changed}
    kubernetes_validate.validate(manifest, VERSIONS[-1], strict=True)


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
