"""How programs of compiled languages are built and started, as values for a sandbox, and where the tools are."""

import functools
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from alpha_codium.errors import SandboxError

# Where tools are looked for: a sandbox shows programs no other folders.
PATH = "/usr/local/bin:/usr/bin:/bin"
# Folders of compilers and of what they need, those that exist.
SYSTEM = tuple(
    f"{top}/{name}"
    for top in ("", "/usr", "/usr/local")
    for name in ("bin", "lib", "lib32", "lib64", "libexec", "include")
)


@dataclass(frozen=True, slots=True)
class Tool:
    """A compiler or runtime of this machine: its path and what it says of its version.

    `file` is the path without links: those that lead to it may be missing in a jail. `folder` has everything that
    belongs to the tool; it is "" if the system's folders have it.
    """

    path: str
    version: str
    file: str
    folder: str

    @property
    def readable(self) -> tuple[str, ...]:
        """What a compiler needs: the system's folders, and its own."""
        return (*SYSTEM, self.folder) if self.folder else SYSTEM

    @property
    def runtime(self) -> tuple[str, ...]:
        """What a runtime needs beside its libraries: its own folder, or its own file."""
        return (self.folder or self.file,)


# In a command: the folder that holds the artifact of a prepared build, and the path of what was built.
PREPARED, ARTIFACT = "{prepared}", "{artifact}"


@dataclass(frozen=True, slots=True)
class Start:
    """The command that runs an artifact; without a command, the artifact itself is executed.

    `readable` is as for `Build`. Where no control group counts the memory, the address space is limited; that of a
    runtime with `reserved_bytes` isn't, but its data, of which it reserves at most so much without using it.
    """

    command: tuple[str, ...] = ()
    readable: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    reserved_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Resident:
    """A compiler that is kept running for many programs: the artifact of `build`, started by `command`.

    It reads `request` from stdin, and writes the length of the compiled program, in 4 bytes, and its bytes.
    """

    build: "Build"
    command: tuple[str, ...]
    request: bytes


@dataclass(frozen=True, slots=True)
class Build:
    """A command that makes the file `artifact` of `files`, in the current folder, which holds these files.

    `command` begins with the path of a program. It can read `readable`, files and folders of which some may not exist,
    and nothing else of the machine. `version` is that of the compiler. `prepared` is a build of what many programs
    share, such as a precompiled header: its artifact is below the folder `PREPARED`, and so are those of its files that
    are `kept`. `start` runs the artifact. `resident`, which makes the same, is asked first. If the compiler rejects the
    program, `otherwise` is tried, which makes a file of the same name in another way.
    `reads_proc`: the compiler or the program fails if it can't read its own files in /proc.
    """

    command: tuple[str, ...]
    artifact: str
    files: Mapping[str, str]
    version: str
    readable: tuple[str, ...] = SYSTEM
    environment: Mapping[str, str] = field(default_factory=dict)
    prepared: "Build | None" = None
    start: Start = field(default_factory=Start)
    kept: tuple[str, ...] = ()
    resident: Resident | None = None
    reads_proc: bool = False
    otherwise: "Build | None" = None


def first_that_succeeds(builds: Sequence[Build]) -> Build:
    """Return a build that tries these one after the other."""
    return functools.reduce(lambda other, build: replace(build, otherwise=other), reversed(builds))


def find_tool(title: str, name: str, package: str, *options: str) -> Tool:
    """Return the tool `name`, or at that path, of the language `title`; raises SandboxError if it is missing.

    Its version is what it prints for `options`, `package` is what to install.
    """
    path = shutil.which(name, path=PATH)
    if path is None:
        raise SandboxError(f"{title} programs need {name}, which isn't in {PATH}: apt-get install {package}")
    return _tool_at(path, Path(path).stat().st_mtime_ns, options or ("--version",))


def _asked(command: list[str]) -> "subprocess.CompletedProcess[str]":
    environment = {"PATH": PATH, "LC_ALL": "C.UTF-8"}
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, env=environment)


@functools.cache
def _tool_at(path: str, _changed_ns: int, options: tuple[str, ...]) -> Tool:
    """Return a tool, whose version is the first line that it prints; its modification time is part of the cache key."""
    try:
        shown = _asked([path, *options])
        if shown.returncode < 0:  # something else killed it
            shown = _asked([path, *options])
        shown.check_returncode()
    except (OSError, subprocess.SubprocessError) as error:
        raise SandboxError(f"cannot get the version of {path}: {error}") from error
    version = (shown.stdout or shown.stderr).strip().partition("\n")[0].removeprefix("info: ")
    file = Path(path).resolve()
    folder = str(file.parents[1])
    return Tool(path, version, str(file), "" if folder in ("/", "/usr", "/usr/local") else folder)
