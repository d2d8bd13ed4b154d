"""Drivers: trusted scripts that the sandbox runs instead of a program, and that load the program or its tests.

A driver is a single script, since this package can't be imported in the sandbox: each import from `alpha_codium.judge`
is replaced by the source of that module. Imports for annotations only are removed because they are slow; so
annotations are quoted. Standard library only, CPython 3.9 and later.
"""

import functools
import re
from pathlib import Path

IMPORT = re.compile(r"^from alpha_codium\.judge\.([\w.]+) import (?:\([^)]*\)|.*)\n", re.MULTILINE)
FOR_ANNOTATIONS = re.compile(r"^from (?:collections\.abc|types|typing) import .*\n", re.MULTILINE)
JUDGE = Path(__file__).parent.parent


@functools.cache
def driver(name: str) -> str:
    """Return the source of the driver `name`, with its imports inlined."""
    included: set[str] = set()

    def source(module: str) -> str:
        if module in included:
            return ""
        included.add(module)
        text = JUDGE.joinpath(*module.split(".")).with_suffix(".py").read_text("utf-8")
        return IMPORT.sub(lambda found: source(found[1]), FOR_ANNOTATIONS.sub("", text))

    return source(f"drivers.{name}")
