"""Jobs in a Kubernetes cluster: how they are submitted, followed and awaited. All functions block."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from alpha_codium.errors import UserError

POLL_SECONDS = 2.0
# The reasons for which a container waits that don't end by waiting.
STUCK = {"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "CreateContainerConfigError", "CreateContainerError"}


class JobFailed(UserError):
    """A Job ended without success, or can't start."""


class KubernetesCluster:
    """The API of a cluster, as `kubectl` reaches it, or as a pod in the cluster does."""

    def __init__(self, context: str = "", namespace: str = "") -> None:
        """Read the configuration; raises UserError if there is none."""
        kubernetes = _kubernetes()
        try:
            default = _load_configuration(kubernetes, context)
        except kubernetes.config.ConfigException as error:
            reason = " ".join(str(error).split())
            raise UserError(
                f"no cluster is configured ({reason}): set up kubectl, or name its file in KUBECONFIG"
            ) from error
        self.namespace = namespace or default
        self._core, self._batch = kubernetes.client.CoreV1Api(), kubernetes.client.BatchV1Api()

    def submit(self, config_map: dict[str, Any], job: dict[str, Any]) -> None:
        """Create a Job and its ConfigMap, which is deleted with it; raises UserError."""
        name = job["metadata"]["name"]
        with _errors(f"the Job {name} can't be created"):
            self._core.create_namespaced_config_map(self.namespace, config_map)
            try:
                created = self._batch.create_namespaced_job(self.namespace, job)
            except BaseException:
                self._core.delete_namespaced_config_map(name, self.namespace)
                raise
            owner = {"apiVersion": "batch/v1", "kind": "Job", "name": name, "uid": created.metadata.uid}
            body = {"metadata": {"ownerReferences": [owner]}}
            self._core.patch_namespaced_config_map(name, self.namespace, body)

    def follow(self, name: str, on_line: Callable[[str], None]) -> None:
        """Report the lines of the log of a Job's pod until the Job ends; raises JobFailed if that is a failure."""
        with _errors(f"the Job {name} can't be followed"):
            shown: set[str] = set()
            while True:
                condition = self._end(name)
                for pod in self._core.list_namespaced_pod(self.namespace, label_selector=f"job-name={name}").items:
                    if pod.metadata.name not in shown and self._has_started(name, pod):
                        shown.add(pod.metadata.name)
                        self._show_log(pod.metadata.name, on_line)
                if condition is None:
                    time.sleep(POLL_SECONDS)
                    continue
                if condition.type == "Failed":
                    reason = " ".join(filter(None, (condition.reason, condition.message)))
                    raise JobFailed(f"the Job {name} failed: {reason}")
                return

    def _end(self, name: str) -> Any:
        """Return the condition with which a Job has ended, or None."""
        status = self._batch.read_namespaced_job_status(name, self.namespace).status
        ends = [each for each in status.conditions or () if each.type in ("Complete", "Failed")]
        return next((each for each in ends if each.status == "True"), None)

    def _has_started(self, job: str, pod: Any) -> bool:
        """Whether a pod has a log; raises JobFailed if it never will."""
        for container in pod.status.container_statuses or ():
            waiting = container.state and container.state.waiting
            if waiting and waiting.reason in STUCK:
                what = " ".join(filter(None, (waiting.reason, waiting.message)))
                raise JobFailed(f"the Job {job} can't start: {what} (delete it with `kubectl delete job {job}`)")
        return pod.status.phase in ("Running", "Succeeded", "Failed")

    def _show_log(self, pod: str, on_line: Callable[[str], None]) -> None:
        response = self._core.read_namespaced_pod_log(pod, self.namespace, follow=True, _preload_content=False)
        rest = b""
        for part in response.stream():
            *lines, rest = (rest + part).split(b"\n")
            for line in lines:
                on_line(line.decode(errors="replace"))
        if rest:
            on_line(rest.decode(errors="replace"))


def _kubernetes() -> Any:
    try:
        import kubernetes
    except ImportError as error:
        raise UserError("running in a cluster needs the package kubernetes: pip install kubernetes") from error
    return kubernetes


def _load_configuration(kubernetes: Any, context: str) -> str:
    """Configure the client, and return the default namespace."""
    try:
        kubernetes.config.load_kube_config(context=context or None)
        contexts, current = kubernetes.config.list_kube_config_contexts()
        chosen = next((each for each in contexts if each["name"] == context), current)
        return chosen["context"].get("namespace", "default")
    except kubernetes.config.ConfigException:
        if context:
            raise
        kubernetes.config.load_incluster_config()
        return "default"


@contextmanager
def _errors(what: str) -> Iterator[None]:
    """Report errors of the API, and of the connection to it, in one line."""
    from kubernetes.client.exceptions import ApiException
    from urllib3.exceptions import HTTPError

    try:
        yield
    except ApiException as error:
        try:
            reason = json.loads(error.body or "")["message"]
        except (TypeError, ValueError, KeyError):
            reason = error.reason
        raise UserError(f"{what}: {reason} (status {error.status})") from error
    except HTTPError as error:
        raise UserError(f"{what}: {' '.join(str(error).split())}") from error
