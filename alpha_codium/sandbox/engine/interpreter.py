"""What is to be known of an interpreter before programs are run by it: asked of itself, once."""

import functools
import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from alpha_codium.errors import SandboxError
from alpha_codium.sandbox.engine.inside.wire import DEPTH

OLDEST, NEWEST = (3, 9), (3, 14)
# Where the C library and those of extension modules are; a link where `/lib` is one.
LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64")
BESIDE_LIBRARIES = ("/lib64", "/etc/ld.so.cache", "/usr/share/zoneinfo", "/usr/lib/locale/C.utf8")
ASK = f"""
{DEPTH}
import json, os, platform, sys, sysconfig
for name in ("_ctypes", "_ssl", "_decimal", "_sqlite3"):
    try: __import__(name)
    except ImportError: pass
maps = open("/proc/self/maps").read().split()
print(json.dumps({{
    "depth": depth,
    "version": sys.version_info[:2],
    "implementation": platform.python_implementation(),
    "path": [p for p in sys.path if p.startswith((sys.prefix, sys.base_prefix)) or p.endswith("-packages")],
    "attributes": {{name: getattr(sys, name) for name in ("prefix", "exec_prefix", "executable")}},
    "libraries": sorted({{os.path.dirname(m) for m in maps if ".so" in m and m[0] == "/"}}),
    "multiarch": sysconfig.get_config_var("MULTIARCH") or "",
}}))
"""


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A python: where it is, where its modules are, and what of the file system it needs to run programs.

    `path` is without what `.pth` files added: projects and their data are nobody's to read. `read_only` are folders and
    files, none within another; `links` are (path, target) of links on the way to them; `attributes` are those of `sys`
    that an interpreter which doesn't know its site gets wrong; `depth` is how deep a program can recurse.
    """

    executable: str
    version: tuple[int, int]
    path: tuple[str, ...]
    attributes: Mapping[str, str]
    depth: int

    @property
    def hidden(self) -> tuple[str, ...]:
        """Folders among the modules that programs must not see: ours, which hold tests."""
        return tuple(path for each in self.path if Path(path := f"{each}/alpha_codium").is_dir())

    read_only: tuple[str, ...]
    links: tuple[tuple[str, str], ...]


@functools.cache
def inspect_interpreter(executable: str) -> Interpreter:
    """Ask the interpreter at `executable`; raises SandboxError where it can't serve."""
    try:
        command = [executable, "-I", "-c", ASK]
        answer = subprocess.run(command, capture_output=True, check=True, timeout=60, env={"LC_ALL": "C.UTF-8"})
        facts = json.loads(answer.stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise SandboxError(f"the interpreter {executable!r} doesn't answer: {error}") from error
    version = tuple(facts["version"])
    if facts["implementation"] != "CPython" or not OLDEST <= version <= NEWEST:
        raise SandboxError(
            f"the interpreter {executable!r} is {facts['implementation']} {version[0]}.{version[1]}: the local backend "
            f"needs CPython {OLDEST[0]}.{OLDEST[1]} to {NEWEST[0]}.{NEWEST[1]} (or use code_tester.sandbox=false)"
        )
    needed = [*facts["path"], *facts["libraries"], *_system_libraries(facts["multiarch"])]
    return Interpreter(
        executable=executable,
        version=(version[0], version[1]),
        path=tuple(facts["path"]),
        attributes=facts["attributes"],
        depth=facts["depth"],
        read_only=_outermost(needed),
        links=tuple((name, str(Path(name).readlink())) for name in LIBRARIES if Path(name).is_symlink()),
    )


def _system_libraries(multiarch: str) -> list[str]:
    """The system's folders of shared libraries, and the cache that says what is in them."""
    folders = [f"{folder}/{multiarch}" for folder in LIBRARIES] if multiarch else list(LIBRARIES)
    return [path for path in (*folders, *BESIDE_LIBRARIES) if Path(path).exists()]


def _outermost(paths: list[str]) -> tuple[str, ...]:
    """Each path once, without links on the way to it, and none that lies within another."""
    real = {os.path.realpath(path) for path in paths if Path(path).exists()} - {"/"}
    return tuple(sorted(path for path in real if not any(str(above) in real for above in Path(path).parents)))
