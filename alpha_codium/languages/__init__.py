"""Programming languages, each in a folder of its own that knows no sandbox.

To add a language, write a class with the attributes of `Language` in a folder of its own, and add it to `LANGUAGES`.
"""

import functools
from importlib import import_module
from typing import Protocol

from alpha_codium.errors import UserError, nearest
from alpha_codium.program import Program

# The module of each language, which has it as its attribute `LANGUAGE`.
LANGUAGES = {"python3": "alpha_codium.languages.python"}


class Language(Protocol):
    """How programs of one language are written, compiled, started and driven.

    `driven_by` lists how its programs can be run other than by standard input and output: `call` (a function of it is
    called), `assertions` (code uses what it defines), `files` (it reads and writes files in place of the streams).
    """

    name: str
    suffixes: tuple[str, ...]
    driven_by: frozenset[str]

    def with_setup(self, program: Program, setup_code: str) -> Program:
        """The program with code that runs before it, in the same file."""
        ...

    def compile_command(self, interpreter: str) -> tuple[str, ...]:
        """A command that compiles the main file, which it reads from its standard input."""
        ...

    def start_command(self, interpreter: str, main: str, *, driven: bool) -> tuple[str, ...]:
        """A command that runs the main file, or its driver if the program is `driven`, in the program's folder."""
        ...


@functools.cache
def language_named(name: str) -> Language:
    """The language called `name`; raises UserError, with the nearest known name, if there is none."""
    if name not in LANGUAGES:
        raise UserError(f"no language {name!r} is supported{nearest(name, LANGUAGES)}")
    return import_module(LANGUAGES[name]).LANGUAGE
