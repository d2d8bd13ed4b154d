"""The host's side of a container that never becomes one: what is left of it, and what is said."""

import gc
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from alpha_codium.errors import SandboxError
from alpha_codium.sandbox.engine.cancellation import WorkerLost
from alpha_codium.sandbox.engine.containers.frame_channel import FrameChannel
from alpha_codium.sandbox.engine.containers.launch import Launch
from alpha_codium.sandbox.engine.interpreter import inspect_interpreter
from alpha_codium.sandbox.engine.jail import Jail
from alpha_codium.sandbox.engine.worker import Worker


def open_files() -> int:
    """How many descriptors this process has, without those that earlier tests forgot."""
    gc.collect()
    return len(list(Path("/proc/self/fd").iterdir()))


def silent() -> None:
    raise SandboxError("the engine doesn't answer")


def worker_of(command: str, remove: Callable[[], None], members: Callable[[], list[int]] | None = None) -> Worker:
    jail = Jail(inspect_interpreter(sys.executable), ThreadPoolExecutor(1))
    launch = Launch(("/bin/sh", "-c", command), remove, 0, members)
    return Worker(jail, lambda *arguments: FrameChannel(*arguments, lambda _: launch))


@pytest.mark.thorough
@pytest.mark.parametrize("command", ["exit 1", "echo no >&2", "printf ZZZZZZZZZZZZZZZZZZZZ; cat >/dev/null"])
def test_a_container_that_is_no_agent_leaves_nothing_open_even_where_its_engine_is_silent(command: str) -> None:
    worker = worker_of(command, silent)
    before = open_files()
    with pytest.raises(WorkerLost, match="cannot make the jail"):
        worker.start()
    assert not worker.running and worker.group is None
    assert open_files() == before


@pytest.mark.thorough
def test_an_engine_that_falls_silent_after_the_start_is_a_lost_worker() -> None:
    ready = "\\132\\000\\000\\000\\000\\002\\000\\000\\000\\000\\000"
    worker = worker_of(f"printf '{ready}'; cat >/dev/null", lambda: None, silent)  # type: ignore[arg-type]
    before = open_files()
    with pytest.raises(WorkerLost, match="engine doesn't answer"):
        worker.start()
    assert open_files() == before
