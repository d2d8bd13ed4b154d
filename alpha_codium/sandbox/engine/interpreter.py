"""The Python interpreter that runs the programs: its location, the files that it needs, and its environment."""

import functools
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from alpha_codium.errors import SandboxError
from alpha_codium.sandbox.engine.inside import wire

OLDEST, NEWEST = (3, 9), (3, 14)
ANSWER_SECONDS = 60
# Folders of the C library and of the libraries of extension modules; links if `/lib` is one.
LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64")
BESIDE_LIBRARIES = ("/lib64", "/etc/ld.so.cache", "/usr/share/zoneinfo", "/usr/lib/locale/C.utf8")
# The folders of modules that programs see.
PATH = '[p for p in sys.path if p.startswith((sys.prefix, sys.base_prefix)) or p.endswith("-packages")]'
ASK = f"""
{wire.DEPTH}
import json, os, platform, sys, sysconfig
for name in ("_ctypes", "_ssl", "_decimal", "_sqlite3"):
    try: __import__(name)
    except ImportError: pass
maps = open("/proc/self/maps").read().split()
print(json.dumps({{
    "depth": depth,
    "version": sys.version_info[:2],
    "implementation": platform.python_implementation(),
    "path": {PATH},
    "attributes": {{name: getattr(sys, name) for name in ("prefix", "exec_prefix", "executable")}},
    "libraries": sorted({{os.path.dirname(m) for m in maps if ".so" in m and m[0] == "/"}}),
    "multiarch": sysconfig.get_config_var("MULTIARCH") or "",
}}))
"""
ASK_VERSION = f"""
import json, platform, sys
print(json.dumps([platform.python_implementation() + " " + platform.python_version(), {PATH}]))
"""


@dataclass(frozen=True, slots=True)
class Interpreter:
    """An interpreter and the parts of the file system that it needs to run programs.

    `path` excludes folders added by `.pth` files: programs must not see projects and their data. `read_only` are
    folders and files, none within another; `links` are (path, target) of links on the way to them; `attributes` are
    those of `sys` that are wrong in an interpreter started without `site`; `depth` is how deep a program can recurse.
    """

    executable: str
    version: tuple[int, int]
    path: tuple[str, ...]
    attributes: Mapping[str, str]
    depth: int
    read_only: tuple[str, ...]
    links: tuple[tuple[str, str], ...]

    @property
    def hidden(self) -> tuple[str, ...]:
        """Folders among the modules that programs must not see: this package, which holds tests."""
        return tuple(path for each in self.path if Path(path := f"{each}/alpha_codium").is_dir())


def packages_of(executable: str) -> tuple[str, ...]:
    """Return the packages that programs can import, as `NAME==VERSION`, sorted; raises SandboxError."""
    found: dict[str, str] = {}
    for folder in _asked(executable)[1]:
        for name in (file.stem for file in Path(folder).glob("*-info")):
            package, _, version = re.sub(r"-py\d.*", "", name).partition("-")
            found.setdefault(package, version)
    return tuple(f"{name}=={version}" for name, version in sorted(found.items()) if name != "alpha_codium")


def path_of(interpreter: str) -> str:
    """Return the path of an interpreter, by default ours; links aren't resolved, since the python of a venv is one."""
    return str(Path(shutil.which(interpreter or sys.executable) or interpreter).absolute())


def require_interpreter(path: str) -> None:
    """Raise SandboxError if there is no interpreter at `path`."""
    if shutil.which(path) is None:
        raise SandboxError(f"there is no interpreter {path!r}: set code_tester.interpreter to the path of a python3")


def version_of(path: str) -> str:
    """Return the implementation and full version of the interpreter at `path`; raises SandboxError."""
    return _asked(path)[0]


def _asked(path: str) -> tuple[str, list[str]]:
    """Return the version of the interpreter at `path`, and its folders of modules."""
    return _asked_once(path, Path(path).resolve(), Path(path).stat().st_mtime_ns)


@functools.cache
def _asked_once(path: str, _file: Path, _changed_ns: int) -> tuple[str, list[str]]:
    """Return what an interpreter answers; its file and the modification time are only parts of the cache key."""
    version, folders = answer_of(path, ASK_VERSION, f"cannot get the version of the interpreter {path!r}")
    return version, folders


def answer_of(interpreter: str, code: str, unable: str, environment: Mapping[str, str] | None = None) -> Any:
    """Return the value that code prints as JSON; raises SandboxError with a message that begins with `unable`."""
    command = [interpreter, "-I", "-c", code]
    try:
        answer = subprocess.run(command, capture_output=True, check=False, timeout=ANSWER_SECONDS, env=environment)
        if answer.returncode:
            said = answer.stderr.decode("utf-8", "replace").strip().splitlines()
            raise SandboxError(f"{unable}: exit status {answer.returncode}{f' ({said[-1]})' if said else ''}")
        return json.loads(answer.stdout)
    except subprocess.TimeoutExpired as error:
        raise SandboxError(f"{unable} within {ANSWER_SECONDS} s") from error
    except (OSError, ValueError) as error:
        raise SandboxError(f"{unable}: {error}") from error


@functools.cache
def inspect_interpreter(executable: str) -> Interpreter:
    """Ask the interpreter at `executable` what it needs; raises SandboxError if it can't be used."""
    facts = answer_of(executable, ASK, f"the interpreter {executable!r} doesn't respond", {"LC_ALL": "C.UTF-8"})
    version = tuple(facts["version"])
    if facts["implementation"] != "CPython" or not OLDEST <= version <= NEWEST:
        raise SandboxError(
            f"the interpreter {executable!r} is {facts['implementation']} {version[0]}.{version[1]}: the local backend "
            f"needs CPython {OLDEST[0]}.{OLDEST[1]} to {NEWEST[0]}.{NEWEST[1]} "
            "(or use `ac.open_sandbox('portable')`)"
        )
    multiarch = facts["multiarch"]
    system = [f"{folder}/{multiarch}" for folder in LIBRARIES] if multiarch else LIBRARIES
    return Interpreter(
        executable=executable,
        version=(version[0], version[1]),
        path=tuple(facts["path"]),
        attributes=facts["attributes"],
        depth=facts["depth"],
        read_only=outermost([*facts["path"], *facts["libraries"], *system, *BESIDE_LIBRARIES]),
        links=links_to(LIBRARIES),
    )


def links_to(paths: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Return the path and target of each of these that is a link."""
    return tuple((name, str(Path(name).readlink())) for name in paths if Path(name).is_symlink())


def outermost(paths: Iterable[str]) -> tuple[str, ...]:
    """Each real path that exists once, without those that lie within another."""
    real = {os.path.realpath(path) for path in paths if Path(path).exists()} - {"/"}
    return tuple(sorted(path for path in real if not any(str(above) in real for above in Path(path).parents)))


def environment_of(folder: Path) -> dict[str, str]:
    """Return the environment variables of a program in `folder`: always the same, almost none inherited."""
    environment = {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": str(folder),
        # For `getpass.getuser`: there is no list of users.
        "USER": "sandbox",
        "TMPDIR": str(folder),
        "LC_ALL": "C.UTF-8",
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
    # Some processors crash older OpenBLAS builds unless this is set.
    kept = {name: os.environ[name] for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE") if name in os.environ}
    return environment | kept


def environment_of_zygote() -> dict[str, str]:
    """Return the environment variables of a zygote."""
    # Without LD_BIND_NOW each test would have to resolve library functions again.
    return environment_of(Path(wire.FOLDER)) | {"LD_BIND_NOW": "1"}
