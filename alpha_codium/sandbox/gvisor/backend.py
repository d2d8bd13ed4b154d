"""The `gvisor` backend: programs run on gVisor's kernel, which makes few system calls to the host's kernel.

1. One sandbox per worker, started by `runsc run` with our bundle (see `bundle`): no network, a read-only root with only
   the interpreter's folders. runsc makes no control group; the sandbox is in the worker's.
2. A warm interpreter in it forks a process for each test, since starting runsc costs more than a hundred tests of the
   local backend. See `engine/containers/inside`.
3. If gencode itself runs in gVisor (a container under `--runtime=runsc`), runsc is neither available nor needed: the
   agent is started in the same gVisor, as root, and makes itself a root with only the interpreter's folders. Without
   SYS_ADMIN it can't make namespaces, so a test is a single process.
4. `platform` is runsc's method to run programs: ptrace works everywhere; systrap, in releases since 2023, is several
   times faster; kvm needs a machine that isn't virtual.
"""

import contextlib
import functools
import itertools
import os
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Unpack

from alpha_codium.errors import SandboxError
from alpha_codium.sandbox.engine.containers.launch import Launch, ask
from alpha_codium.sandbox.engine.containers.pool import ContainerSandbox
from alpha_codium.sandbox.engine.containers.sources import script
from alpha_codium.sandbox.engine.inside import kernel
from alpha_codium.sandbox.engine.interpreter import Interpreter, environment_of_zygote
from alpha_codium.sandbox.engine.jail import GVISOR, INSIDE, Jail
from alpha_codium.sandbox.engine.pool import PoolOptions
from alpha_codium.sandbox.engine.scratch import Scratch, make_scratch
from alpha_codium.sandbox.gvisor.bundle import make_bundle
from alpha_codium.verdict import Identity

REMEDY = "Debian and Ubuntu: apt-get install runsc; others: https://gvisor.dev/docs/user_guide/install"
# Memory that gVisor's kernel and the warm interpreter need in a worker.
OVERHEAD_BYTES = 384 << 20
# Fastest first. kvm is never chosen: it may hang on a virtual machine.
PLATFORMS = ("systrap", "ptrace")
# No secrets, and no TMPDIR: runsc would make its root there, which fails in a folder that only we can enter.
CLEAN = ("env", "--ignore-environment", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
# The number of the capability.
SYS_ADMIN = 21
_numbers = itertools.count()


class GvisorSandbox(ContainerSandbox):
    """Runs programs in gVisor; see the module. `runsc` is a command; an empty `platform` means the best one."""

    name = "gvisor"

    def __init__(self, *, runsc: str = "runsc", platform: str = "", **options: Unpack[PoolOptions]) -> None:
        super().__init__(**options)
        self.runsc, self.platform = runsc, platform
        self.is_inside = GVISOR.exists()
        self.compiles_inside = self.is_inside and may_make_namespaces()
        self._scratch: Scratch | None = None

    def describe(self) -> Identity:
        """See `JailPool`."""
        if self.is_inside:
            return replace(super().describe(), version="inside gVisor")
        shown = ask([self.runsc, "--version"]).stdout.partition("\n")[0].strip()
        return replace(super().describe(), version=f"{shown} on {self.platform}")

    def inspect(self) -> Interpreter:
        """See `JailPool`; the interpreter is the host's."""
        if not self.is_inside:
            found = shutil.which(self.runsc)
            if found is None:
                raise SandboxError(
                    f"there is no {self.runsc!r} on this machine, which the gvisor backend needs: {REMEDY}"
                )
            self.runsc, self.platform = found, self.platform or best_platform(found)
        elif os.geteuid() != 0:
            raise SandboxError(f"gencode runs in gVisor itself, where only root can isolate programs: {INSIDE}")
        return super().inspect()

    def prepare(self, interpreter: Interpreter) -> None:
        """Make the bundle, and a folder for runsc's state."""
        if self.is_inside:
            return
        try:
            self._scratch = make_scratch(0)
            folder = Path(self._scratch.path)
            (folder / "state").mkdir()
            make_bundle(folder, interpreter, script(), environment_of_zygote())
        except OSError as error:
            raise SandboxError(f"the gvisor backend needs a folder for temporary files: {error}") from error

    def release(self) -> None:
        """Remove them."""
        scratch, self._scratch = self._scratch, None
        if scratch is not None:
            scratch.remove()

    def launch(self, memory_bytes: int) -> Launch:
        """See `ContainerSandbox`; the worker's control group limits the memory."""
        if self.is_inside:
            folder = tempfile.mkdtemp(prefix="gencode-root-")
            command = beside_us(self._slots[0].plain.jail)
            return Launch(command, lambda: remove_root(folder), OVERHEAD_BYTES, config={"own_root": folder})
        assert self._scratch is not None
        name = f"gencode-{os.getpid()}-{next(_numbers)}"
        command = (*self._runsc(), "run", f"--bundle={self._scratch.path}", name)
        return Launch(command, lambda: self._delete(name), OVERHEAD_BYTES)

    def refusal(self, reason: str) -> str:
        """See `ContainerSandbox`."""
        if self.is_inside:
            return f"gencode runs in gVisor itself, and can't isolate programs there ({reason}): {INSIDE}"
        return f"gVisor doesn't run here (runsc on {self.platform}: {reason}): run as root, or see {REMEDY}"

    def _runsc(self) -> tuple[str, ...]:
        assert self._scratch is not None
        options = ("--network=none", "--ignore-cgroups", "--file-access-mounts=exclusive", "--overlay2=none")
        rootless = () if os.geteuid() == 0 else ("--rootless",)
        state = f"--root={self._scratch.path}/state"
        return (*CLEAN, self.runsc, *options, *rootless, f"--platform={self.platform}", state)

    def _delete(self, name: str) -> None:
        """Have runsc delete a container's state; it does so itself for one that ended."""
        if self._scratch is not None and any(Path(self._scratch.path, "state").iterdir()):
            ask([*self._runsc(), "delete", "--force", name])


def beside_us(jail: Jail) -> tuple[str, ...]:
    """Return the command of an agent in our own gVisor, which ends, with all its processes, when we end."""
    environment = [f"{name}={value}" for name, value in jail.environment.items()]
    interpreter = os.path.realpath(jail.interpreter.executable)
    namespace = ("unshare", "--pid", "--fork", "--kill-child") if may_make_namespaces() else ()
    return (*namespace, "env", "--ignore-environment", *environment, interpreter, "-S", "-s", "-c", script())


def may_make_namespaces() -> bool:
    """Whether this process has the capability SYS_ADMIN."""
    status = Path("/proc/self/status").read_text()
    return bool(int(status.partition("CapEff:")[2].split()[0], 16) >> SYS_ADMIN & 1)


def remove_root(folder: str) -> None:
    """Unmount what an agent mounted in its folder, if it is visible here, and remove the folder."""
    with contextlib.suppress(OSError):
        kernel.unmount(folder)
    shutil.rmtree(folder, ignore_errors=True)


@functools.cache
def best_platform(runsc: str) -> str:
    """Return the best platform that runsc's own help names; raises SandboxError if it can't be run."""
    answer = ask([runsc, "flags"])
    lines = (answer.stdout + answer.stderr).splitlines()
    flag = " ".join(line for line in lines if "which platform to use" in line)
    return next((name for name in PLATFORMS if name in flag), PLATFORMS[-1])
