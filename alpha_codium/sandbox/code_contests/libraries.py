"""The folders that an interpreter needs in the sandbox, found by running it.

A program sees the interpreter and these folders, and nothing else. Without the system's libraries every program exits
with status 127, since not even the C library is found. Folders added by `.pth` files are left out: programs must not
read projects and their data.
"""

import functools
from pathlib import Path

from alpha_codium.sandbox.engine.interpreter import answer_of

SYSTEM = ("/lib", "/usr/lib")
# Where the dynamic loader is, and on Red Hat's systems (Amazon Linux 2023) everything else.
SYSTEM_64 = ("/lib64", "/usr/lib64")
ASK = """
import json, os, sys, sysconfig
for name in ("_ctypes", "_ssl", "_decimal", "_sqlite3", "_bz2", "_lzma"):
    try: __import__(name)
    except ImportError: pass
variables = sysconfig.get_config_vars()
mapped = {line.split(None, 5)[5].strip() for line in open("/proc/self/maps") if ".so" in line}
print(json.dumps({
    "modules": [*(p for p in sys.path if p.startswith((sys.prefix, sys.base_prefix)) or p.endswith("-packages")),
                *(sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib"))],
    "environment": sys.prefix if sys.prefix != sys.base_prefix else "",
    "own": variables.get("LIBDIR") or "",
    "multiarch": variables.get("MULTIARCH") or "",
    "mapped": sorted({os.path.dirname(path) for path in mapped}),
}))
"""


@functools.cache
def library_folders(python: str) -> tuple[str, ...]:
    """Return the folders that programs of this interpreter need; raises SandboxError if it can't be run."""
    facts = answer_of(python, ASK, f"the interpreter {python!r} doesn't respond", {"LC_ALL": "C.UTF-8"})
    own = [] if facts["own"] in SYSTEM else [facts["own"]]
    return outermost([*facts["modules"], facts["environment"], *own, *facts["mapped"], *system(facts["multiarch"])])


def system(multiarch: str) -> list[str]:
    """Return the system's library folders by the names under which programs open them, links not resolved."""
    named = [f"{folder}/{multiarch}" for folder in SYSTEM] if multiarch else []
    there = [folder for folder in named if Path(folder).is_dir()]
    return [*(there or SYSTEM), *SYSTEM_64]


def outermost(folders: list[str]) -> tuple[str, ...]:
    """Return each existing folder once, without those that lie within another."""
    there = {folder.rstrip("/") for folder in folders if folder.startswith("/") and Path(folder).is_dir()} - {""}
    return tuple(sorted(folder for folder in there if not any(str(above) in there for above in Path(folder).parents)))
