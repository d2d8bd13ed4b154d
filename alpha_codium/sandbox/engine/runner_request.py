"""What a runner is told of its candidate: limits in the kernel's terms, and the system calls that are left to it."""

import platform
import resource
from typing import Any

from alpha_codium.limits import COMPILE_BYTES, Limits
from alpha_codium.sandbox.engine.outcome import largest_file
from alpha_codium.sandbox.engine.seccomp import build_filter

# Outside of the limit of processes: the one outside, the zygote, the runner.
OWN_PROCESSES = 3


def runner_request(limits: Limits, *, may_fork: bool, walls: bool = False, counted: bool = True) -> dict[str, Any]:
    """The limits and filters of a candidate, for `inside/runner`.

    A runner may always fork; where its tests may not, each of them takes a second filter. Where memory isn't
    `counted` by a control group, the compiler has as much as one would give it.
    """
    machine = platform.machine()
    return {
        "memory_bytes": limits.memory_bytes,
        "cpu_seconds": limits.kernel_cpu_seconds,
        "filter": build_filter(machine, processes=True, narrowing=not may_fork),
        "test_filter": b"" if may_fork else build_filter(machine, processes=False, walled=walls),
        "rlimits": {
            "RLIMIT_FSIZE": at_most_ours(resource.RLIMIT_FSIZE, largest_file(limits)),
            "RLIMIT_NOFILE": at_most_ours(resource.RLIMIT_NOFILE, limits.open_files),
            "RLIMIT_NPROC": at_most_ours(resource.RLIMIT_NPROC, limits.processes + OWN_PROCESSES),
            "RLIMIT_MEMLOCK": 0,
            "RLIMIT_MSGQUEUE": 0,
            "RLIMIT_SIGPENDING": 1024,
        },
        "compile_bytes": COMPILE_BYTES if counted else limits.most_compile_bytes,
    }


def at_most_ours(what: int, limit: int) -> int:
    """A limit that can be set: nobody without rights can raise one above that of who started it."""
    hard = resource.getrlimit(what)[1]
    return limit if hard == resource.RLIM_INFINITY else min(limit, hard)
