"""Runs in a Kubernetes cluster: manifests are validated offline, and sent to a server that behaves as the API does."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from alpha_codium.errors import SettingsError, UserError
from alpha_codium.repository import kubernetes_jobs
from alpha_codium.repository.kubernetes import (
    ClusterConfig,
    carried,
    job_name,
    load_cluster_config,
    manifests,
    require_remote,
)
from alpha_codium.repository.kubernetes_jobs import JobFailed, KubernetesCluster
from alpha_codium.repository.running.config import RESOURCES, RunConfig, load_config
from tests.gen.running import run_cli
from tests.repository.cluster_api import VERSION, ClusterApi, cluster_api, kubeconfig

S3 = ("paths.data=s3://ours/data", "paths.outputs=s3://ours/outputs", "paths.checkpoints=s3://ours/loras")
CLUSTER = {"environment": {"SANDBOX_URL": "http://sandbox:8000", "DEBUG": False, "N": 1}}


def cluster_config(tmp_path: Path, **values: Any) -> ClusterConfig:
    (tmp_path / "k8s.yaml").write_text(yaml.safe_dump(CLUSTER | values))
    return load_cluster_config(tmp_path / "k8s.yaml")


@pytest.fixture
def config(tmp_path: Path) -> RunConfig:
    (tmp_path / "config.yaml").write_text("inference: {model: small, provider: vllm}\n")
    return load_config(tmp_path / "config.yaml", S3)


@pytest.fixture
def api(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ClusterApi]:
    monkeypatch.setattr(kubernetes_jobs, "POLL_SECONDS", 0.01)
    with cluster_api() as served:
        (tmp_path / "kubeconfig").write_text(kubeconfig(served))
        # The client reads the variable when it is imported.
        monkeypatch.setattr("kubernetes.config.kube_config.KUBE_CONFIG_DEFAULT_LOCATION", str(tmp_path / "kubeconfig"))
        yield served


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"gpu_requests": 0, "gpu_limits": 0},
        {
            "gpu_requests": 2, "gpu_limits": 2, "cpu_limits": "500m", "image_pull_secrets": ["registry"],
            "service_account": "runner", "secrets": ["aws"], "secret_environment": {"LITELLM_KEY": "keys/litellm"},
            "node_selector": {"gpu": "a100"}, "labels": {"team": "x"}, "annotations": {"note": "y"},
            "tolerations": [{"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}],
            "active_deadline_seconds": 60, "ttl_seconds_after_finished": None, "backoff_limit": 2,
        },
    ],
)  # fmt: skip
def test_the_manifests_are_valid(config: RunConfig, tmp_path: Path, values: dict[str, Any]) -> None:
    for manifest in manifests(config, cluster_config(tmp_path, **values), "run-1"):
        kubernetes_validate.validate(manifest, VERSION, strict=True)


def test_the_job_has_the_resources_the_environment_and_the_files_of_the_configuration(
    config: RunConfig, tmp_path: Path
) -> None:
    cluster = cluster_config(
        tmp_path, gpu_requests=2, gpu_limits=2, secrets=["aws"], secret_environment={"LITELLM_KEY": "keys/litellm"}
    )
    config_map, job = manifests(config, cluster, "run-1")
    pod = job["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert container["command"] == ["run-multiturn", "--config=/etc/gencode/config.yaml", "--autorun", "--gpu_ids=0,1"]
    assert container["resources"]["limits"] == {"cpu": "16", "memory": "50Gi", "nvidia.com/gpu": "2"}
    assert container["resources"]["requests"] == container["resources"]["limits"]
    assert {"name": "tmp", "emptyDir": {"sizeLimit": "50Gi"}} in pod["volumes"]
    environment = {each["name"]: each.get("value", each.get("valueFrom")) for each in container["env"]}
    assert environment["SANDBOX_URL"] == "http://sandbox:8000"
    assert (environment["DEBUG"], environment["N"]) == ("false", "1")
    assert environment["LITELLM_KEY"] == {"secretKeyRef": {"name": "keys", "key": "litellm"}}
    assert container["envFrom"] == [{"secretRef": {"name": "aws"}}]
    items = {item["path"]: item["key"] for item in pod["volumes"][0]["configMap"]["items"]}
    assert set(items.values()) == set(config_map["data"])
    assert "prompts/completion.yaml" in items


def test_the_pod_reads_the_configuration_that_was_sent_along(config: RunConfig, tmp_path: Path) -> None:
    for path, text in carried(config, cluster_config(tmp_path), "run-1").items():
        (tmp_path / "pod" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "pod" / path).write_text(text)
    there = load_config(tmp_path / "pod" / "config.yaml")
    assert there.paths.prompts == str(tmp_path / "pod" / "prompts")
    assert there.paths.outputs == "s3://ours/outputs/run-1"
    assert (there.inference.sandbox_provider, there.inference.model) == ("restapi", "small")
    assert (tmp_path / "pod/prompts/program_repair.yaml").exists()
    unchanged = {"paths": {"outputs", "prompts"}, "inference": {"sandbox_provider"}}
    assert there.model_dump(exclude=unchanged) == config.model_dump(exclude=unchanged)


def test_prompts_of_ones_own_are_sent_along(tmp_path: Path, config: RunConfig) -> None:
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "completion.yaml").write_text("mine")
    own = config.model_copy(update={"paths": config.paths.model_copy(update={"prompts": str(tmp_path / "prompts")})})
    files = carried(own, cluster_config(tmp_path), "run-1")
    assert files["prompts/completion.yaml"] == "mine" and len(files) == 2
    (tmp_path / "prompts" / "completion.yaml").write_text("x" * (1 << 20))
    with pytest.raises(SettingsError, match="larger than 1048576 bytes"):
        manifests(own, cluster_config(tmp_path), "run-1")


@pytest.mark.parametrize(
    ("override", "reason"),
    [
        ("paths.outputs=outputs", r"paths\.outputs must be in S3 for a run in a cluster, such as s3://BUCKET/FOLDER"),
        ("paths.outputs=", r"paths\.outputs must be in S3"),
        ("paths.checkpoints=loras", r"paths\.checkpoints must be in S3"),
        ("paths.data=django", r"paths\.data must be in S3, such as s3://BUCKET/FOLDER, or on the hub"),
        ("paths.data=./data", r"paths\.data must be in S3"),
        ("paths.checkout=/django", r"paths\.checkout can't be used in a cluster"),
    ],
)
def test_what_a_pod_cannot_reach_is_refused(tmp_path: Path, override: str, reason: str) -> None:
    with pytest.raises(SettingsError, match=reason):
        require_remote(load_config(None, [*S3, override]), cluster_config(tmp_path))
    require_remote(load_config(None, [*S3, "paths.data=anonauthor/django_multi_task"]), cluster_config(tmp_path))


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"environment": {}}, "sandbox_provider = restapi needs SANDBOX_URL in environment"),
        ({"secret_environment": {"A": "keys"}}, r"secret_environment\.A must be SECRET/ENTRY, not 'keys'"),
        ({"gpu_requests": 2}, "gpu_requests and gpu_limits must be the same"),
    ],
)
def test_a_cluster_configuration_that_cannot_work_is_refused(
    config: RunConfig, tmp_path: Path, values: dict[str, Any], reason: str
) -> None:
    with pytest.raises(SettingsError, match=reason):
        require_remote(config, cluster_config(tmp_path, **values))


def test_unknown_keys_and_wrong_values_are_refused_with_their_file(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"k8s\.yaml: unknown setting gpu_limit \(did you mean 'gpu_limits'\?\)"):
        cluster_config(tmp_path, gpu_limit=1)
    with pytest.raises(SettingsError, match=r"k8s\.yaml: setting name: .*, not 'Run_1'"):
        cluster_config(tmp_path, name="Run_1")
    (tmp_path / "k8s.yaml").write_text("a: [")
    with pytest.raises(SettingsError, match=r"k8s\.yaml is not valid YAML"):
        load_cluster_config(tmp_path / "k8s.yaml")
    with pytest.raises(SettingsError, match=r"none\.yaml can't be read: No such file"):
        load_cluster_config(tmp_path / "none.yaml")


def test_every_key_has_a_default_and_a_comment_above_it() -> None:
    lines = RESOURCES.joinpath("config_k8s.yaml").read_text().splitlines()
    keys = [line.partition(":")[0] for line in lines if line and not line.startswith("#")]
    assert set(keys) == set(ClusterConfig.model_fields)
    uncommented = [
        key
        for key, above in zip([line.partition(":")[0] for line in lines[1:]], lines, strict=False)
        if key in keys and not above.startswith("#")
    ]
    assert uncommented == []
    assert len(job_name(load_cluster_config())) <= 63


@pytest.mark.thorough
def test_a_job_is_submitted_followed_and_awaited(api: ClusterApi, config: RunConfig, tmp_path: Path) -> None:
    config_map, job = manifests(config, cluster_config(tmp_path), "run-1")
    cluster, lines = KubernetesCluster(), list[str]()
    cluster.submit(config_map, job)
    cluster.follow("run-1", lines.append)
    assert lines == ["started", "item 1 passed", "the end, without a line break"]
    owner = api.objects["/api/v1/namespaces/ours/configmaps/run-1"]["metadata"]["ownerReferences"]
    assert owner == [{"apiVersion": "batch/v1", "kind": "Job", "name": "run-1", "uid": "uid-of-Job"}]
    with pytest.raises(UserError, match=r"the Job run-1 can't be created: ConfigMap exists already \(status 409\)"):
        cluster.submit(config_map, job)
    assert KubernetesCluster("two").namespace == "b" and KubernetesCluster("", "other").namespace == "other"


def test_a_job_that_is_refused_leaves_no_config_map(api: ClusterApi, config: RunConfig, tmp_path: Path) -> None:
    api.refused = "Job"
    with pytest.raises(UserError, match=r"jobs is forbidden: exceeded quota \(status 403\)"):
        KubernetesCluster().submit(*manifests(config, cluster_config(tmp_path), "run-1"))
    assert api.objects == {}


def test_a_job_that_fails_or_cannot_start_is_an_error(api: ClusterApi, config: RunConfig, tmp_path: Path) -> None:
    api.end = "Failed"
    cluster, lines = KubernetesCluster(), list[str]()
    cluster.submit(*manifests(config, cluster_config(tmp_path), "run-1"))
    with pytest.raises(JobFailed, match="the Job run-1 failed: Because it ended"):
        cluster.follow("run-1", lines.append)
    assert lines, "its log was shown"
    api.ended, api.polls, api.waiting = False, ["Pending"], "ImagePullBackOff"
    with pytest.raises(JobFailed, match="the Job run-1 can't start: ImagePullBackOff no such image"):
        cluster.follow("run-1", lines.append)


def test_a_cluster_that_is_not_there_is_one_line(
    api: ClusterApi, config: RunConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = manifests(config, cluster_config(tmp_path), "run-1")
    (tmp_path / "kubeconfig").write_text(kubeconfig(api, "wrong"))
    with pytest.raises(UserError, match=r"can't be created: Unauthorized \(status 401\)"):
        KubernetesCluster().submit(*job)
    with pytest.raises(UserError, match=r"no cluster is configured .*: set up kubectl, or name its file in KUBECONFIG"):
        KubernetesCluster("three")
    (tmp_path / "kubeconfig").unlink()
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    with pytest.raises(UserError, match="no cluster is configured"):
        KubernetesCluster()


@pytest.mark.thorough
def test_the_command_shows_submits_and_fetches(
    api: ClusterApi, bucket: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("alpha_codium.app.repository_runs.job_name", lambda _: "run-1")
    (tmp_path / "k8s.yaml").write_text(yaml.safe_dump(CLUSTER))
    (tmp_path / "config.yaml").write_text("repository: django\n")
    overrides = [word for text in S3 for word in ("-o", text)]
    job = ["repo", "run-k8s", "--config", tmp_path / "config.yaml", "--k8s_config_file", tmp_path / "k8s.yaml"]
    shown = run_cli(*job, *overrides, "--dry_run", "--max_items", 3)
    assert shown.returncode == 0, shown.stderr
    config_map, manifest = yaml.safe_load_all(shown.stdout)
    assert manifest["metadata"]["name"] == "run-1" and api.requests == []
    assert yaml.safe_load(config_map["data"]["config.yaml"])["inference"]["max_items"] == 3
    bucket.put_object(Key="outputs/run-1/small/results_summary.json", Body=b"{}")
    done = run_cli(*job, *overrides)
    assert done.returncode == 0, done.stderr
    assert "Job run-1 in namespace ours; its results: s3://ours/outputs/run-1" in done.stderr
    assert done.stdout.startswith("started\nitem 1 passed\n")
    folder = Path(done.stdout.splitlines()[-1].removeprefix("results: "))
    assert (folder / "small" / "results_summary.json").read_text() == "{}"
    refused = run_cli(*job, "-o", "paths.outputs=outputs")
    assert refused.returncode == 2 and "paths.outputs must be in S3" in refused.stderr
