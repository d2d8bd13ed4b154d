"""The data that the host sends into a jail: the configuration of its zygote, and the limits and filters of runners."""

import os
import platform
import resource
from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from alpha_codium.limits import COMPILE_BYTES, Limits
from alpha_codium.program import Workspace
from alpha_codium.sandbox.engine.executables import Executable
from alpha_codium.sandbox.engine.inside import wire
from alpha_codium.sandbox.engine.interpreter import Interpreter, links_to, outermost
from alpha_codium.sandbox.engine.outcome import largest_file
from alpha_codium.sandbox.engine.scratch import Scratch
from alpha_codium.sandbox.engine.seccomp import build_filter

SCRATCH_BYTES = 64 << 20
# A file that exists only in gVisor, and what gencode needs to isolate programs there.
GVISOR = Path("/proc/sentry-meminfo")
INSIDE = "run its container with --user=0 --cap-add=SYS_ADMIN, which are that kernel's, not the host's"
# Processes in addition to the test's for the limit: the one outside the namespace, the zygote and the runner.
OWN_PROCESSES = 3
# The largest stack that a program can ask for, of the threads that it starts.
LARGEST_STACK = 2 << 30


@dataclass(frozen=True, slots=True)
class Jail:
    """The parameters of a worker's jail.

    `starter` has one thread that starts all jails, since the kernel ends a jail with the thread that started it.
    `walls`: the jail has no namespaces, see `inside/walls`. `tools` are files and folders that programs may read and
    execute, such as those of a compiler.
    """

    interpreter: Interpreter
    starter: Executor
    preload: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    walls: bool = False
    workspace: Workspace | None = None
    tools: tuple[str, ...] = ()
    scratch_bytes: int = SCRATCH_BYTES

    def configuration(self, uid: int, scratch: Scratch | None) -> dict[str, Any]:
        """Return the configuration for `inside/zygote`; `uid` is the user to become, 0 for no change."""
        workspace = self.workspace or Workspace("")
        return {
            "uid": uid,
            "host": os.getpid(),
            "walls": self.walls,
            "folder": f"{scratch.path}/{wire.BOX}" if scratch else wire.FOLDER,
            "scratch": scratch.path if scratch else wire.SCRATCH,
            "read_only": [*outermost([*self.interpreter.read_only, *self.tools]), *filter(None, [workspace.folder])],
            "tools": bool(self.tools),
            "hidden": list(self.interpreter.hidden),
            "links": [*{*self.interpreter.links, *links_to(self.tools)}],
            "path": [*workspace.path, *workspace.libraries, *self.interpreter.path],
            "depth": self.interpreter.depth,
            "attributes": dict(self.interpreter.attributes),
            "preload": list(self.preload),
            "warm_up": workspace.warm_up,
            "scratch_bytes": self.scratch_bytes,
        }


@dataclass(frozen=True, slots=True)
class RunnerProgram:
    """What a runner runs: the `source` of a Python program, its trusted `driver`, the path of its main file.

    With `native`, it is another program, see `engine/building`; `source` is an executable, or files. `by_turns`: see
    `inside/turns`.
    """

    source: bytes | Executable
    driver: bytes = b""
    main: str = ""
    native: Mapping[str, Any] | None = None
    by_turns: bool = False


def runner_request(
    limits: Limits,
    program: RunnerProgram,
    *,
    may_fork: bool,
    walls: bool = False,
    counted: bool = True,
) -> dict[str, Any]:
    """Return the limits and filters of a candidate, for `inside/runner`.

    A runner may always fork. Unless its tests `may_fork`, each gets a second filter, with which only a compiler may.
    Unless a control group counts the memory (`counted`), the compiler's own limit is what a group would allow.
    """
    machine, native = platform.machine(), program.native
    if native is not None:
        name, more = native["memory"] or ("", 0)
        native = {
            **native,
            "memory": (name, limits.memory_bytes + more) if name and not counted else None,
            # Runtimes limit the stacks of their programs themselves.
            "stack_bytes": limits.stack_bytes if counted and name == "RLIMIT_AS" else 0,
        }
    executing = native is not None
    compiles = native is not None and native["writable"]
    of_tests = build_filter(machine, processes=compiles, walled=walls, executing=executing)
    return {
        "native": native,
        "by_turns": program.by_turns,
        "memory_bytes": limits.memory_bytes,
        "cpu_seconds": limits.kernel_cpu_seconds,
        "filter": build_filter(machine, processes=True, narrowing=not may_fork, executing=executing),
        "test_filter": b"" if may_fork else of_tests,
        "rlimits": {
            "RLIMIT_FSIZE": _at_most_ours(resource.RLIMIT_FSIZE, largest_file(limits)),
            "RLIMIT_NOFILE": _at_most_ours(resource.RLIMIT_NOFILE, limits.open_files),
            "RLIMIT_NPROC": _at_most_ours(resource.RLIMIT_NPROC, limits.processes + OWN_PROCESSES),
            "RLIMIT_MEMLOCK": 0,
            "RLIMIT_MSGQUEUE": 0,
            "RLIMIT_SIGPENDING": 1024,
        },
        # Address space only: the group limits what is used of it.
        "stack_bytes": LARGEST_STACK if counted else 0,
        "compile_bytes": COMPILE_BYTES if counted else limits.most_compile_bytes,
    }


def _at_most_ours(what: int, limit: int) -> int:
    """The limit, or ours if that is lower: without rights it can't be raised."""
    hard = resource.getrlimit(what)[1]
    return limit if hard == resource.RLIM_INFINITY else min(limit, hard)
