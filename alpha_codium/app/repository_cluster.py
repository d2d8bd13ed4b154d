"""Runs of the repository benchmark in a Kubernetes cluster."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from alpha_codium.app.repository_plan import RunOptions, configuration
from alpha_codium.coroutines import blocking, in_thread
from alpha_codium.repository.kubernetes import job_name, load_cluster_config, manifests, outputs_of
from alpha_codium.repository.kubernetes_jobs import Cluster
from alpha_codium.repository.storage import fetched


@dataclass(frozen=True, slots=True)
class ClusterRun:
    """A Job: its name, its manifests, where its results are, and the folder to which they were copied."""

    name: str
    manifests: tuple[dict[str, Any], ...]
    outputs: str
    folder: str = ""


async def cluster_run_async(options: RunOptions, k8s_config: Path | None = None) -> ClusterRun:
    """Return the Job of a run, which isn't submitted; raises SettingsError."""
    config = await in_thread(configuration, options)
    cluster = await in_thread(load_cluster_config, k8s_config)
    name = job_name(cluster)
    return ClusterRun(name, await in_thread(manifests, config, cluster, name), outputs_of(config, name))


cluster_run = blocking(cluster_run_async)


async def submit_async(run: ClusterRun, k8s_config: Path | None = None) -> Cluster:
    """Submit a run; raises UserError if there is no cluster, or it refuses the Job."""
    settings = await in_thread(load_cluster_config, k8s_config)
    cluster = await in_thread(Cluster, settings.context, settings.namespace)
    await in_thread(cluster.submit, *run.manifests)
    return cluster


submit = blocking(submit_async)


async def follow_async(run: ClusterRun, cluster: Cluster, on_line: Callable[[str], None]) -> str:
    """Report the log of a submitted run until it ends, copy its results, and return their folder.

    Raises JobFailed if the Job fails.
    """
    await in_thread(cluster.follow, run.name, on_line)
    return await in_thread(fetched, run.outputs)


follow = blocking(follow_async)
