"""Java and Kotlin: what their compilers and programs need of a Java development kit."""

import os
import shlex
from pathlib import Path

from alpha_codium.languages.tools import ARTIFACT, SYSTEM
from alpha_codium.limits import Limits

# Options of every virtual machine: no file of counters in /tmp, no messages of its own among a program's output.
QUIET = ("-XX:+UseSerialGC", "-XX:-UsePerfData", "-XX:+DisplayVMOutputToStderr", "-Xlog:disable")
# Options of compilers, which run for a second.
BRIEF = ("-XX:TieredStopAtLevel=1", "-Xss64m", *QUIET)
# The stack of the main thread: a share of the test's memory, up to the largest. When a stack overflows, the virtual
# machine takes up to six times its size to find who catches the error.
STACK_SHARE, LARGEST_STACK = 8, 128 << 20
# Names the class with a main method in the manifest of `program.jar`: the first that the launcher would run.
FINDING = """(
    for class in $({jar} -tf program.jar | sed -n '/[$][0-9]/d; s/[.]class$//p' | tr / .); do
        {java} --dry-run "$class" 2> /dev/null && exec {jar} -ufe program.jar "$class"
    done
    echo 'error: there is no main method to begin with' >&2
    exit 1
)"""
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


def start_of(home: JavaHome, limits: Limits, flags: tuple[str, ...]) -> tuple[str, ...]:
    """Return the beginning of a command that runs a program in a virtual machine with these limits and options."""
    stack = min(LARGEST_STACK, limits.memory_bytes // STACK_SHARE) >> 10
    return (home.program("java"), *QUIET, f"-Xmx{limits.memory_bytes >> 10}k", f"-Xss{stack}k", *flags)


def class_in(main: str) -> tuple[str, ...]:
    """Return the options that run the class `main` of the artifact, or the one that its manifest names."""
    return ("-cp", ARTIFACT, main) if main else ("-jar", ARTIFACT)


def finding_main(home: JavaHome, *libraries: str) -> str:
    """Return a command of the shell that notes in `program.jar` which class has a main method; fails if none has."""
    java = (home.program("java"), *BRIEF, "-cp", ":".join(("program.jar", *libraries)))
    return FINDING.format(jar=shlex.quote(home.program("jar")), java=shlex.join(java))
