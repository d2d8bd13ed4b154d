"""The `local` backend: jails made of namespaces, or of Landlock and seccomp if there are none."""

from dataclasses import replace
from typing import Unpack

from loguru import logger

from alpha_codium.errors import SandboxError
from alpha_codium.program import Workspace
from alpha_codium.sandbox.engine.cancellation import Cancellation, WorkerLost
from alpha_codium.sandbox.engine.inside import wire
from alpha_codium.sandbox.engine.jail import GVISOR, INSIDE, Jail
from alpha_codium.sandbox.engine.pool import JailPool, PoolOptions
from alpha_codium.sandbox.engine.worker import NotReady
from alpha_codium.sandbox.protocol import Layer
from alpha_codium.verdict import Status

# A program whose attempts must all fail in a jail of Landlock and seccomp alone.
ATTEMPTS = """
import os
for attempt in (
    os.fork,
    lambda: os.listdir("/"),
    lambda: open("/proc/self/status"),
    lambda: os.kill(os.getppid(), 0),
    lambda: os.chmod(".", 0o777),
):
    try:
        attempt()
    except OSError:
        continue
    raise SystemExit("not held")
"""

NEEDS = (
    "run as root, or allow user namespaces (sysctl user.max_user_namespaces above 0, on Debian "
    "also kernel.unprivileged_userns_clone=1, on Ubuntu "
    "kernel.apparmor_restrict_unprivileged_userns=0, in Docker --security-opt seccomp=unconfined)"
)
# The replacement for namespaces, and its limitations.
WALLS = (
    "in their place Landlock and seccomp: no network, one process, no signal to others, nothing of what the host's "
    "files hold; left open: which files and processes exist, and how many files a test writes"
)


class LocalSandbox(JailPool):
    """Runs programs in jails on this machine, in a `workspace` if there is one; see the module."""

    name = "local"

    def __init__(self, *, workspace: Workspace | None = None, **options: Unpack[PoolOptions]) -> None:
        super().__init__(**options)
        self.workspace = workspace

    @property
    def layers(self) -> list[Layer]:
        """See `JailPool`; a jail needs seccomp, and namespaces or Landlock."""
        worker = self._slots[0].plain
        walls = worker.jail.walls
        return [
            Layer("namespaces", not walls, "no network, no other process, no file of the host", NEEDS),
            *([Layer("walls", True, WALLS, NEEDS)] if walls else []),
            Layer("seccomp", True, "no system call that an ordinary program doesn't need, no other program", ""),
            Layer(
                "landlock",
                worker.facts["landlock"],
                "the wall around files" if walls else "a second wall around files",
                "Linux 5.13 or later with Landlock among its security modules (boot with lsm=landlock,...)",
            ),
            Layer(
                "cgroup",
                worker.may_fork,
                "CPU time and memory of all processes of a test together; without it a test has one process, with "
                "threads",
                "namespaces, and: " * walls + "run as root, or under systemd-run --user --scope -p Delegate=yes",
                needed=False,
            ),
            Layer(
                "proc",
                worker.facts["proc"],
                "/dev/stdin and /proc/self for the programs that open them",
                "an unmasked /proc (in Docker --security-opt systempaths=unconfined)",
                needed=False,
            ),
        ]

    def start_first(self, cancellation: Cancellation, jail: Jail) -> None:
        """Start the first worker, in the strongest jail that works; raises SandboxError if none does."""
        try:
            self._try_out(cancellation, jail)
        except NotReady as error:
            raise SandboxError(str(error)) from error
        except WorkerLost as error:
            said = str(error).splitlines()
            if failed := [line for line in said if wire.WARM_UP_FAILED in line]:
                raise SandboxError(failed[-1].partition(": ")[2]) from error
            reason = said[-1]
            if self.isolation == "strict" or self.workspace is not None:
                raise no_jail(reason) from error
            self.toolchains = replace(self.toolchains, walls=True)
            try:
                self._try_out(cancellation, replace(jail, walls=True))
            except WorkerLost as other:
                raise no_jail(f"{reason}; without namespaces: {str(other).splitlines()[-1]}") from other
            logger.warning(
                f"only weaker isolation is available on this machine ({reason}): see `gencode sandbox check`"
            )

    def _try_out(self, cancellation: Cancellation, jail: Jail) -> None:
        """Make a jail of that kind; raises WorkerLost if it can't be made, or a program can break out."""
        self.start(jail)
        if jail.walls:
            end = self.attempt(cancellation, ATTEMPTS)
            if end.status is not Status.FINISHED:
                self._slots[0].plain.discard()
                raise WorkerLost(f"the walls don't hold: {end}")


def no_jail(reason: str) -> SandboxError:
    """Return the error for a machine on which no jail works."""
    if GVISOR.exists():
        how = f"use `ac.open_sandbox('gvisor')`, and {INSIDE}"
        return SandboxError(f"gencode runs in gVisor, where the local backend can't isolate programs: {how}")
    return SandboxError(
        f"this machine can't isolate untrusted programs ({reason}): {NEEDS}, "
        "or disable isolation at your own risk with `ac.open_sandbox(isolation=False)`"
    )
