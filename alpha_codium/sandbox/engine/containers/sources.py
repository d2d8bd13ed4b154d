"""The source code that is sent to a container's interpreter, so that images need no part of this package."""

import functools
import marshal
from pathlib import Path
from typing import cast

ENGINE = Path(__file__).parents[1]
PACKAGES = (
    "",
    ".sandbox",
    ".sandbox.engine",
    *(f".sandbox.engine.{name}" for name in ("inside", "containers", "containers.inside")),
)
# In the order in which they import each other.
MODULES = {
    "": ("files",),
    "inside": (
        "wire",
        "kernel",
        "trees",
        "program",
        "jail",
        "known_good",
        "native",
        "turns",
        "huge_pages",
        "zygote",
        "runner",
        "walls",
    ),
    "containers.inside": ("frames", "link", "forkers", "root", "container_jail", "agent"),
}


@functools.cache
def script() -> str:
    """Return the script that the interpreter is started with: it loads the modules and serves as a worker."""
    return text_of("containers.inside", "main") + text_of("inside", "run")


@functools.cache
def modules_of() -> bytes:
    """Return the modules to send, marshalled."""
    named = [(f"alpha_codium{package}", "") for package in PACKAGES]
    for folder, names in MODULES.items():
        package = ".".join(filter(None, ("alpha_codium.sandbox.engine", folder)))
        named += [(f"{package}.{name}", text_of(folder, name)) for name in names]
    return cast(bytes, marshal.dumps(named, 2))


def text_of(folder: str, name: str) -> str:
    """Return the source of a module of this package."""
    return (ENGINE / folder.replace(".", "/") / f"{name}.py").read_text("utf-8")
