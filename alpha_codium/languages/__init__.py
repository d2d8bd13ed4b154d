"""Programming languages: what is wired to one of them stands in its own folder, and knows no sandbox.

To add a language, write a class with the attributes of `Language` in a folder of its own, and add it to `HOMES`.
"""

import functools
from importlib import import_module
from typing import Protocol

from alpha_codium.errors import UserError, nearest
from alpha_codium.program import Program

# Where the `Language` of each name is: its attribute `LANGUAGE`.
HOMES = {"python3": "alpha_codium.languages.python"}


class Language(Protocol):
    """How programs of one language are written, compiled, started and driven.

    `drives` says by what its programs can be driven, beside standard input and output: `call` (a function is called),
    `assertions` (code uses what the program defines), `files` (it reads and writes files in place of the streams).
    """

    name: str
    suffixes: tuple[str, ...]
    drives: frozenset[str]

    def with_setup(self, program: Program, setup_code: str) -> Program:
        """The program with code that runs before it, in the same file."""
        ...

    def compile_command(self, interpreter: str) -> tuple[str, ...]:
        """A command that compiles the main file, which it reads from its standard input."""
        ...

    def start_command(self, interpreter: str, main: str, *, driven: bool) -> tuple[str, ...]:
        """A command that runs the main file, or the driver beside it if the program is `driven`, in their folder."""
        ...


@functools.cache
def language_named(name: str) -> Language:
    """The language called `name`; raises UserError, with the nearest known name, if there is none."""
    if name not in HOMES:
        raise UserError(f"no language {name!r} is supported{nearest(name, HOMES)}")
    return import_module(HOMES[name]).LANGUAGE
