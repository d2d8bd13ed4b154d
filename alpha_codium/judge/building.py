"""Compilation of C++ checkers on the host, once, into statically linked programs.

1. The compiler runs in a new folder with the checker's files, with an empty environment, under
   `CHECKER_COMPILE_LIMITS`. When it ends or its time is up, every process that it started is killed. Missing headers
   (testlib.h) are looked up in `$GENCODE_HOME/include`.
2. Source files can include any file that the compiler can read (`#include`, `.incbin`), and verdicts could reveal its
   contents. So the compiler can read only `READABLE` and its own folder, if this machine can confine it.
3. The result is a static, position-independent program, which `drivers/checking.py` can run from memory in any sandbox.
4. It is cached in `$GENCODE_HOME/checkers` by the hash of the files, those headers, the command and the compiler's
   version. It is moved there atomically, so processes can share the folder.
"""

import functools
import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

from loguru import logger

from alpha_codium.errors import Unjudgeable
from alpha_codium.limits import CHECKER_COMPILE_LIMITS
from alpha_codium.paths import home
from alpha_codium.sandbox.engine import inside
from alpha_codium.sandbox.engine.cancellation import WorkerLost
from alpha_codium.sandbox.portable.isolation import HOW, namespaces_command
from alpha_codium.sandbox.portable.spawner_client import Ended, SpawnerClient

COMMAND = ("g++", "-std=gnu++17", "-O2", "-w", "-static-pie", "-s")
SUFFIXES = (".cpp", ".cc", ".cxx", ".c++", ".C")
HOW_TO_GET = (
    "apt-get install g++ (Debian, Ubuntu) or dnf install gcc-c++ glibc-static libstdc++-static (Fedora, Amazon Linux)"
)
PATH = "/usr/local/bin:/usr/bin:/bin"
READABLE = (
    *(f"{top}/{name}" for top in ("", "/usr", "/usr/local") for name in ("bin", "lib", "lib32", "lib64", "libexec")),
    *("/usr/include", "/usr/local/include", "/etc/alternatives", "/etc/ld.so.cache"),
)
# Only the first error is reported, and a worker keeps only the end of stderr.
FIRST_ERROR_ONLY = "-Wfatal-errors"
CONFINE = Path(inside.__file__).with_name("confine.py")
ERROR = re.compile(r"error: |undefined reference|multiple definition|cannot find -l")
# One compilation at a time: a compiler takes half a gigabyte, and a second one often finds the first one's result.
_compiling = threading.Lock()


def build(files: Mapping[str, str]) -> bytes:
    """Compile the C++ files among `files` (relative paths and texts); takes seconds the first time.

    Raises Unjudgeable if there is no compiler, or with its first error.
    """
    compiler = shutil.which(COMMAND[0], path=PATH)
    if compiler is None:
        raise Unjudgeable(f"its checker is written in C++, and there is no g++: {HOW_TO_GET}")
    kept = _folder("checkers") / _digest(files, compiler)
    with _compiling:
        if not kept.exists():
            _compile(files, compiler, kept)
        return kept.read_bytes()


def _folder(name: str) -> Path:
    folder = home() / name
    folder.mkdir(exist_ok=True)
    return folder


def _digest(files: Mapping[str, str], compiler: str) -> str:
    parts = [*COMMAND, _version_of(compiler), *(part for item in sorted(files.items()) for part in item)]
    parts += [f"{name} {hashlib.sha256(text).hexdigest()}" for name, text in _headers().items()]
    return hashlib.sha256("\0".join(f"{len(part)} {part}" for part in parts).encode("utf-8", "replace")).hexdigest()


def _headers() -> dict[str, bytes]:
    """The user's headers by their paths in the include folder; links are followed."""
    folder = _folder("include")
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@functools.cache
def _version_of(compiler: str) -> str:
    shown = subprocess.run([compiler, "-v"], capture_output=True, text=True, env={"PATH": PATH}, check=False)
    return shown.stderr


def _compile(files: Mapping[str, str], compiler: str, kept: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="gencode-checker-", dir=kept.parent, ignore_cleanup_errors=True) as name:
        # A confined compiler sees no symbolic links on the way to its folder.
        folder = Path(name).resolve()
        for path, text in files.items():
            _write(folder / "source", path, text.encode("utf-8", "replace"))
        for path, header in _headers().items():
            _write(folder / "include", path, header)
        sources = [f"./{path}" for path in sorted(files) if PurePosixPath(path).suffix in SUFFIXES]
        made = folder / "checker"
        options = [*COMMAND[1:], FIRST_ERROR_ONLY, "-I", ".", "-I", "../include", "-o", str(made)]
        ended = _run([compiler, *options, *sources], folder, _confinement(compiler))
        if ended.exit_code != 0 or not made.exists():
            raise Unjudgeable(f"its checker doesn't compile: {_why(ended)}")
        made.replace(kept)


def _write(folder: Path, path: str, data: bytes) -> None:
    try:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    except (OSError, UnicodeError) as error:
        why = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise Unjudgeable(f"its checker's file {path[:80]!r} can't be written: {why}") from error


@functools.cache
def _confinement(compiler: str) -> str:
    """Return the strongest mode of `inside/confine` in which the compiler starts, empty if none works."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        (folder / "source").mkdir()
        for how in ("view", "landlock"):
            if _run([compiler, "--version"], folder, how).exit_code == 0:
                return how
    logger.warning("C++ checkers can read all your files while they are compiled; to prevent that, {}", HOW)
    return ""


def _run(command: Sequence[str], folder: Path, how: str) -> Ended:
    """Run a compiler in `folder`/source under its limits, without a network, confined in the mode `how`."""
    environment = {"PATH": PATH, "HOME": str(folder), "TMPDIR": str(folder), "LC_ALL": "C.UTF-8"}
    if how:
        script = [sys.executable, "-S", "-s", str(CONFINE)]
        command = [*script, how, str(folder), ":".join(READABLE), *command]
    worker = SpawnerClient(namespaces_command())
    try:
        return worker.run(command, b"", CHECKER_COMPILE_LIMITS, folder / "source", environment)
    except WorkerLost as error:
        raise Unjudgeable(f"its checker can't be compiled: {error}") from error
    finally:
        worker.close()


def _why(ended: Ended) -> str:
    """Return why the compiler failed, in one line: its first error, if there is one."""
    if ended.start_error:
        return ended.start_error
    if ended.wall_exceeded:
        return f"it takes longer than {CHECKER_COMPILE_LIMITS.wall_seconds:g} s"
    lines = [line.strip() for line in ended.stderr.decode("utf-8", "replace").splitlines() if line.strip()]
    end = f"g++ ended with {ended.exit_code}" if ended.signal is None else f"g++ was ended by signal {ended.signal}"
    first = next((line for line in lines if ERROR.search(line)), lines[-1] if lines else end)
    hint = ""
    if "testlib.h: No such file" in first:
        hint = f"; put testlib.h (github.com/MikeMirzayanov/testlib) into {_folder('include')}"
    elif "cannot find -l" in first:
        hint = f"; static libraries are needed: {HOW_TO_GET}"
    return first[:300] + hint
