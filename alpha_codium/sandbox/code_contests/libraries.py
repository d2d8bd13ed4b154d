"""Which folders an interpreter needs to see in the sandbox: asked of itself.

The sandbox shows a program the interpreter and these folders, and nothing else. Without those of the system's
libraries every program ends with status 127, since not even the C library is found. What `.pth` files add is left out:
projects and their data are nobody's to read.
"""

import functools
import json
import subprocess
from pathlib import Path

from alpha_codium.errors import SandboxError

SYSTEM = ("/lib", "/usr/lib")
# Where the dynamic loader is, and on Red Hat's systems (Amazon Linux 2023) everything else.
BESIDE = ("/lib64", "/usr/lib64")
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
    """The folders that programs of this interpreter need; raises SandboxError where it doesn't answer."""
    try:
        done = subprocess.run(
            [python, "-I", "-c", ASK], capture_output=True, check=True, timeout=60, env={"LC_ALL": "C.UTF-8"}
        )
        facts = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise SandboxError(f"the interpreter {python!r} doesn't answer: {error}") from error
    own = [] if facts["own"] in SYSTEM else [facts["own"]]
    return outermost([*facts["modules"], facts["environment"], *own, *facts["mapped"], *system(facts["multiarch"])])


def system(multiarch: str) -> list[str]:
    """The system's folders of libraries, as they are named and not where links lead: so programs ask for them."""
    named = [f"{folder}/{multiarch}" for folder in SYSTEM] if multiarch else []
    there = [folder for folder in named if Path(folder).is_dir()]
    return [*(there or SYSTEM), *BESIDE]


def outermost(folders: list[str]) -> tuple[str, ...]:
    """Each folder that there is, once, and none that lies within another."""
    there = {folder.rstrip("/") for folder in folders if folder.startswith("/") and Path(folder).is_dir()} - {""}
    return tuple(sorted(folder for folder in there if not any(str(above) in there for above in Path(folder).parents)))
