"""What a worker's jail is made of, and what its zygote is told."""

import os
from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Any

from alpha_codium.sandbox.engine.inside import wire
from alpha_codium.sandbox.engine.interpreter import Interpreter
from alpha_codium.sandbox.engine.scratch import Scratch

SCRATCH_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class Jail:
    """What a worker's jail is made of.

    `starter` has one thread that starts all jails: the kernel ends a jail with the thread that started it. `walls`: it
    is made without namespaces, see `inside/walls`.
    """

    interpreter: Interpreter
    starter: Executor
    preload: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    walls: bool = False

    def configuration(self, uid: int, scratch: Scratch | None) -> dict[str, Any]:
        """What `inside/zygote` is told: whom to become (0: nobody else), and where it may write."""
        return {
            "uid": uid,
            "host": os.getpid(),
            "walls": self.walls,
            "folder": folder_in(scratch),
            "scratch": scratch.path if scratch else wire.SCRATCH,
            "read_only": list(self.interpreter.read_only),
            "hidden": list(self.interpreter.hidden),
            "links": list(self.interpreter.links),
            "path": list(self.interpreter.path),
            "depth": self.interpreter.depth,
            "attributes": dict(self.interpreter.attributes),
            "preload": list(self.preload),
            "scratch_bytes": SCRATCH_BYTES,
        }


def folder_in(scratch: Scratch | None) -> str:
    """Where programs find themselves: in a jail's own file system, or below a folder of the host."""
    return wire.FOLDER if scratch is None else f"{scratch.path}/{wire.BOX}"
