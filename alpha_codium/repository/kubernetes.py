"""A run of the benchmark in a Kubernetes cluster: the Job, and a ConfigMap with the run's configuration and prompts.

`config_k8s.yaml` explains the keys of `ClusterConfig`. All that the pod reads and writes besides must be in S3.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from alpha_codium.config.base import Section
from alpha_codium.config.layers import Schema, read, yaml
from alpha_codium.errors import SettingsError
from alpha_codium.repository.running.config import RESOURCES, RunConfig
from alpha_codium.repository.storage import is_remote

DEFAULTS = "config_k8s.yaml"
FOLDER = "/etc/gencode"
# The most that a ConfigMap can hold.
MOST_BYTES = 1 << 20
NAME = r"^[a-z]([a-z0-9-]{0,38}[a-z0-9])?$"


class ClusterConfig(Section):
    """The keys of `config_k8s.yaml`."""

    image: str = Field(min_length=1)
    image_pull_policy: Literal["Always", "IfNotPresent", "Never"]
    image_pull_secrets: tuple[str, ...]
    namespace: str
    context: str
    name: str = Field(pattern=NAME)
    service_account: str
    gpu_requests: int = Field(ge=0)
    gpu_limits: int = Field(ge=0)
    gpu_resource: str = Field(min_length=1)
    cpu_requests: int | float | str
    cpu_limits: int | float | str
    memory_requests: str
    memory_limits: str
    tmp_disk_size: str
    shm_size: str
    sandbox_provider: Literal["restapi", "local"]
    environment: dict[str, str | int | float | bool]
    secrets: tuple[str, ...]
    secret_environment: dict[str, str]
    node_selector: dict[str, str]
    tolerations: tuple[dict[str, Any], ...]
    labels: dict[str, str]
    annotations: dict[str, str]
    backoff_limit: int = Field(ge=0)
    active_deadline_seconds: int | None = Field(ge=1)
    ttl_seconds_after_finished: int | None = Field(ge=0)
    termination_grace_seconds: int = Field(ge=0)


def load_cluster_config(file: Path | None = None) -> ClusterConfig:
    """Return a file's values over the defaults; raises SettingsError if it can't be read, or a key is unknown."""
    layers = [("the defaults", yaml(RESOURCES.joinpath(DEFAULTS).read_text("utf-8")))]
    if file is not None:
        what = f"configuration {file}"
        layers.append((what, read(file, what, lambda text: yaml(text) or {})))
    return Schema(ClusterConfig).load(layers).settings


def require_remote(config: RunConfig, cluster: ClusterConfig) -> None:
    """Raise SettingsError if the pod couldn't reach what the run reads and writes."""
    paths, example = config.paths, "s3://BUCKET/FOLDER"
    if not is_remote(paths.outputs):
        raise SettingsError(f"paths.outputs must be in S3 for a run in a cluster, such as {example}")
    if paths.checkpoints and not is_remote(paths.checkpoints):
        raise SettingsError(f"paths.checkpoints must be in S3 for a run in a cluster, such as {example}")
    is_hub_id = (
        paths.data.count("/") == 1 and not paths.data.startswith(("/", ".", "~")) and not Path(paths.data).exists()
    )
    if not is_remote(paths.data) and not is_hub_id:
        raise SettingsError(f"paths.data must be in S3, such as {example}, or on the hub for a run in a cluster")
    if paths.checkout:
        raise SettingsError(
            "paths.checkout can't be used in a cluster: leave it empty, and have the tests run at a server, "
            "`gencode repo serve` with a checkout"
        )
    known = {*cluster.environment, *cluster.secret_environment}
    if cluster.sandbox_provider == "restapi" and "SANDBOX_URL" not in known and not cluster.secrets:
        raise SettingsError("sandbox_provider = restapi needs SANDBOX_URL in environment (see `gencode repo serve`)")
    for name, place in cluster.secret_environment.items():
        if place.count("/") != 1:
            raise SettingsError(f"secret_environment.{name} must be SECRET/ENTRY, not {place!r}")
    if cluster.gpu_requests != cluster.gpu_limits:
        raise SettingsError("gpu_requests and gpu_limits must be the same: Kubernetes doesn't share GPUs")


def manifests(config: RunConfig, cluster: ClusterConfig, name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the ConfigMap and the Job of a run, both called `name`; raises SettingsError."""
    require_remote(config, cluster)
    files = carried(config, cluster, name)
    # ConfigMaps have no folders.
    keys = {path: path.replace("/", ".") for path in files}
    labels = {"app.kubernetes.io/name": "gencode", "app.kubernetes.io/instance": name, **cluster.labels}
    about = {"name": name, "labels": labels, "annotations": cluster.annotations}
    data = {keys[path]: text for path, text in files.items()}
    if sum(map(len, map(str.encode, data.values()))) > MOST_BYTES:
        raise SettingsError(f"the configuration and the prompts are larger than {MOST_BYTES} bytes")
    config_map = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": about, "data": data}
    items = [{"key": key, "path": path} for path, key in keys.items()]
    pod = {"metadata": {"labels": labels, "annotations": cluster.annotations}, "spec": _pod(cluster, name, items)}
    spec = {
        "backoffLimit": cluster.backoff_limit,
        "activeDeadlineSeconds": cluster.active_deadline_seconds,
        "ttlSecondsAfterFinished": cluster.ttl_seconds_after_finished,
        "template": pod,
    }
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": about, "spec": _without_none(spec)}
    return config_map, job


def outputs_of(config: RunConfig, name: str) -> str:
    """Return where the results of a Job are."""
    return f"{config.paths.outputs.rstrip('/')}/{name}"


def carried(config: RunConfig, cluster: ClusterConfig, name: str) -> dict[str, str]:
    """Return the files that the pod gets, by their paths: the configuration, as it is used there, and the prompts."""
    import yaml

    values = config.model_dump(mode="json")
    values["paths"] |= {"outputs": outputs_of(config, name), "prompts": "prompts"}
    values["inference"]["sandbox_provider"] = cluster.sandbox_provider
    folder = Path(config.paths.prompts) if config.paths.prompts else RESOURCES.joinpath("prompts")
    try:
        found = sorted(folder.iterdir(), key=lambda path: path.name)
        prompts = {f"prompts/{path.name}": path.read_text("utf-8") for path in found if path.name.endswith(".yaml")}
    except OSError as error:
        raise SettingsError(f"paths.prompts: {folder} can't be read: {error.strerror}") from error
    return {"config.yaml": yaml.safe_dump(values, sort_keys=False, allow_unicode=True), **prompts}


def _pod(cluster: ClusterConfig, name: str, items: list[dict[str, str]]) -> dict[str, Any]:
    spec = {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "serviceAccountName": cluster.service_account or None,
        "terminationGracePeriodSeconds": cluster.termination_grace_seconds,
        "imagePullSecrets": [{"name": secret} for secret in cluster.image_pull_secrets] or None,
        "nodeSelector": cluster.node_selector or None,
        "tolerations": list(cluster.tolerations) or None,
        "containers": [_container(cluster)],
        "volumes": [
            {"name": "config", "configMap": {"name": name, "items": items}},
            {"name": "tmp", "emptyDir": {"sizeLimit": cluster.tmp_disk_size}},
            {"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": cluster.shm_size}},
        ],
    }
    return _without_none(spec)


def _container(cluster: ClusterConfig) -> dict[str, Any]:
    command = ["run-multiturn", f"--config={FOLDER}/config.yaml"]
    if cluster.gpu_limits:
        command += ["--autorun", f"--gpu_ids={','.join(map(str, range(cluster.gpu_limits)))}"]
    return {
        "name": "run",
        "image": cluster.image,
        "imagePullPolicy": cluster.image_pull_policy,
        "command": command,
        "workingDir": "/tmp",  # noqa: S108 - in the container
        "env": list(_environment(cluster)),
        "envFrom": [{"secretRef": {"name": secret}} for secret in cluster.secrets],
        "resources": {
            "requests": _resources(cluster, cluster.gpu_requests, cluster.cpu_requests, cluster.memory_requests),
            "limits": _resources(cluster, cluster.gpu_limits, cluster.cpu_limits, cluster.memory_limits),
        },
        "volumeMounts": [
            {"name": "config", "mountPath": FOLDER, "readOnly": True},
            {"name": "tmp", "mountPath": "/tmp"},  # noqa: S108 - in the container
            {"name": "shm", "mountPath": "/dev/shm"},  # noqa: S108 - in the container
        ],
    }


def _environment(cluster: ClusterConfig) -> list[dict[str, Any]]:
    values = {"GENCODE_HOME": "/tmp/gencode", "PYTHONUNBUFFERED": "1", **cluster.environment}  # noqa: S108
    plain = [{"name": name, "value": _text(value)} for name, value in values.items()]
    places = {name: place.split("/") for name, place in cluster.secret_environment.items()}
    secret = [
        {"name": name, "valueFrom": {"secretKeyRef": {"name": secret, "key": entry}}}
        for name, (secret, entry) in places.items()
    ]
    return [*plain, *secret]


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _resources(cluster: ClusterConfig, gpus: int, cpus: float | str, memory: str) -> dict[str, str]:
    named = {cluster.gpu_resource: str(gpus)} if gpus else {}
    return {"cpu": str(cpus), "memory": memory, **named}


def _without_none(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def job_name(cluster: ClusterConfig) -> str:
    """Return a name for a new Job: that of the configuration, with the time."""
    return f"{cluster.name}-{datetime.now(UTC):%Y%m%d-%H%M%S}"
