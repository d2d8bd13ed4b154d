"""The `oci` backend: programs run in containers of docker or podman, with any image that has a python.

1. One container per worker, with a warm interpreter that forks a process for each test (see
   `engine/containers/inside`). Nothing is mounted into it but a workspace, read-only, so that without one the engine
   may be on another machine.
2. `docker/worker.Dockerfile` makes an image called `gencode-worker`. `engine` is a command, possibly with options;
   `options` are further options of its `run`.
3. The isolation is that of the runtime: runc and crun share the host's kernel, runsc and kata don't.
"""

import contextlib
import itertools
import os
from typing import Unpack

from alpha_codium.errors import SandboxError
from alpha_codium.program import Workspace
from alpha_codium.sandbox.engine.containers.launch import Launch
from alpha_codium.sandbox.engine.containers.pool import ContainerSandbox
from alpha_codium.sandbox.engine.containers.sources import script
from alpha_codium.sandbox.engine.interpreter import Interpreter, environment_of_zygote
from alpha_codium.sandbox.engine.pool import PoolOptions
from alpha_codium.sandbox.oci.container_engine import ASK_ALL, Engine, find_engine, inspect_image, words_of
from alpha_codium.verdict import Identity

IMAGE = "gencode-worker"
INTERPRETER = "python3"
# Memory for a container's own processes, and for its kernel if it has one.
OVERHEAD_BYTES = 512 << 20
_numbers = itertools.count()


class OciSandbox(ContainerSandbox):
    """Runs programs in containers; see the module. If `engine` is empty, it is the first that answers."""

    name = "oci"

    def __init__(
        self,
        *,
        image: str = IMAGE,
        engine: str = "",
        runtime: str = "",
        options: str = "",
        workspace: Workspace | None = None,
        **more: Unpack[PoolOptions],
    ) -> None:
        # A command of the image.
        self.python = more.pop("interpreter", "") or INTERPRETER
        super().__init__(**more)
        self.workspace = workspace
        self.image, self.wanted_engine, self.runtime = image, engine, runtime
        self.options = words_of(options, "sandbox.oci.options")
        self._engine = Engine(())

    def describe(self) -> Identity:
        """See `JailPool`; the interpreter is that of the image."""
        interpreter = self._slots[0].plain.jail.interpreter
        version = ".".join(map(str, interpreter.version))
        kind = " ".join(filter(None, (self._engine.kind, self.runtime, *self.options)))
        return Identity(self.name, kind, f"CPython {version}", self._engine.digest_of(self.image))

    def inspect(self) -> Interpreter:
        """See `JailPool`; the interpreter is that of the image."""
        self._engine = engine = find_engine(self.wanted_engine, self.runtime, self.options)
        if not engine.has_image(self.image):
            raise SandboxError(
                f"{engine.kind} has no image {self.image!r}: build one ({engine.kind} build -t {IMAGE} -f "
                "docker/worker.Dockerfile docker), or name one with a python3: -o sandbox.oci.image=..."
            )
        name = name_of(next(_numbers))
        asking = engine.run(self.image, name, (self.python, "-I", "-c", ASK_ALL), {"LC_ALL": "C.UTF-8"})
        try:
            return inspect_image(asking, self.image, self.python)
        except SandboxError:
            with contextlib.suppress(SandboxError):
                engine.remove(name)
            raise

    def launch(self, memory_bytes: int) -> Launch:
        """See `ContainerSandbox`; the engine limits the memory."""
        number, engine = next(_numbers), self._engine
        name = name_of(number)
        running = (self.python, "-S", "-s", "-c", script())
        environment = environment_of_zygote()
        memory = memory_bytes + OVERHEAD_BYTES if memory_bytes else 0
        shown = (self.workspace.folder, *self.workspace.libraries) if self.workspace else ()
        command = engine.run(self.image, name, running, environment, memory, os.getpid() + number, shown)
        return Launch(command, lambda: engine.remove(name), OVERHEAD_BYTES, lambda: engine.members(name))

    def refusal(self, reason: str) -> str:
        """See `ContainerSandbox`."""
        runtime = f" under {self.runtime}" if self.runtime else ""
        return f"{self._engine.kind} runs no container of {self.image!r}{runtime} ({reason}): see docs/containers.md"


def name_of(number: int) -> str:
    """Return a name that no other container has."""
    return f"gencode-{os.getpid()}-{number}-{os.urandom(4).hex()}"
