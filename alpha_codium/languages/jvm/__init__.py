"""Java and Kotlin: what their compilers and programs need of a Java development kit."""

import os
from pathlib import Path

from alpha_codium.languages.tools import SYSTEM

# Options of every virtual machine: no file of counters in /tmp, no messages of its own among a program's output.
QUIET = ("-XX:+UseSerialGC", "-XX:-UsePerfData", "-XX:+DisplayVMOutputToStderr", "-Xlog:disable")
# Options of compilers, which run for a second.
BRIEF = ("-XX:TieredStopAtLevel=1", "-Xss64m", *QUIET)
# Of the address space of a program: a gibibyte for its classes, and the stacks of about twenty threads.
RESERVED = 4 << 30


class JavaHome:
    """The folder of a Java development kit, which has `tool` as one of its programs."""

    def __init__(self, tool: str) -> None:
        self.folder = Path(os.path.realpath(tool)).parent.parent

    def program(self, name: str) -> str:
        """Return the path of one of its programs."""
        return str(self.folder / "bin" / name)

    @property
    def readable(self) -> tuple[str, ...]:
        """Its folder, and that of its settings, which Debian has in /etc."""
        return (str(self.folder), str(Path(os.path.realpath(self.folder / "conf" / "net.properties")).parent))

    @property
    def compiling(self) -> tuple[str, ...]:
        """What a compiler can read."""
        return (*SYSTEM, *self.readable)
