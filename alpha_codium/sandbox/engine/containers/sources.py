"""The source code that is sent to an agent's interpreter, so that it needs no part of this package.

Modules are named relative to `alpha_codium.sandbox`, in the order in which they import each other. The last one is the
agent.
"""

import functools
import marshal
from pathlib import Path
from typing import cast

SANDBOX = Path(__file__).parents[2]
PACKAGE = "alpha_codium.sandbox"
INSIDE = "wire kernel trees program jail known_good native turns huge_pages zygote runner walls"
FRAMES = tuple(f"engine.containers.inside.{name}" for name in ("frames", "host_stream", "link"))
CONTAINER = (
    "engine.files",
    *(f"engine.inside.{name}" for name in INSIDE.split()),
    *FRAMES,
    *(f"engine.containers.inside.{name}" for name in ("root", "container_jail", "agent")),
)


@functools.cache
def script() -> str:
    """Return the script of a container's interpreter: it loads the modules, and serves as a worker."""
    return starting_script() + text_of("engine.inside.run")


def starting_script() -> str:
    """Return the script that loads the modules, and defines `serve` as that of the last one."""
    return text_of("engine.containers.inside.main")


@functools.cache
def modules_of(names: tuple[str, ...]) -> bytes:
    """Return modules with the packages above them, marshalled."""
    packages = dict.fromkeys(package for name in names for package in above(f"{PACKAGE}.{name}"))
    named = [(package, "") for package in packages] + [(f"{PACKAGE}.{name}", text_of(name)) for name in names]
    return cast(bytes, marshal.dumps(named, 2))


def above(module: str) -> list[str]:
    """Return the names of the packages that a module is in, the outermost first."""
    parts = module.split(".")
    return [".".join(parts[:count]) for count in range(1, len(parts))]


def text_of(name: str) -> str:
    """Return the source of a module."""
    return (SANDBOX / name.replace(".", "/")).with_suffix(".py").read_text("utf-8")
