"""Runs of the repository benchmark in a Kubernetes cluster."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from alpha_codium.app.repository_plan import RunOptions, configuration
from alpha_codium.repository.kubernetes import job_name, load_cluster_config, manifests, outputs_of
from alpha_codium.repository.kubernetes_jobs import Cluster
from alpha_codium.repository.storage import fetched


@dataclass(frozen=True, slots=True)
class ClusterRun:
    """A Job: its name, its manifests, and where its results are."""

    name: str
    manifests: tuple[dict[str, Any], ...]
    outputs: str


def cluster_run(options: RunOptions, k8s_config: Path | None = None) -> ClusterRun:
    """Return the Job of a run, which isn't submitted; raises SettingsError."""
    config, cluster = configuration(options), load_cluster_config(k8s_config)
    name = job_name(cluster)
    return ClusterRun(name, manifests(config, cluster, name), outputs_of(config, name))


def submit(run: ClusterRun, k8s_config: Path | None = None) -> Cluster:
    """Submit a run; raises UserError if there is no cluster, or it refuses the Job."""
    settings = load_cluster_config(k8s_config)
    cluster = Cluster(settings.context, settings.namespace)
    cluster.submit(*run.manifests)
    return cluster


def follow(run: ClusterRun, cluster: Cluster, on_line: Callable[[str], None]) -> str:
    """Report the log of a submitted run until it ends, copy its results, and return their folder.

    Raises JobFailed if the Job fails.
    """
    cluster.follow(run.name, on_line)
    return fetched(run.outputs)
