"""Jobs of programs as other services describe them: with files beside the program, and arguments."""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import replace

from alpha_codium.judge.drivers import driver
from alpha_codium.judge.packing import pack
from alpha_codium.judge.stdin import MOST_IN_FILES, SOME
from alpha_codium.language_table import LANGUAGES
from alpha_codium.limits import Limits, least_memory
from alpha_codium.program import PYTHON, Job, Program, fault_of_paths

# Languages whose programs are run as they are: those that can't be compiled fail when they run.
INTERPRETED = frozenset(name for name, language in LANGUAGES.items() if not language.compiled)
MOST_FILES = 1000


class CannotRun(Exception):
    """The server can't run such a program; the text says why."""


def job_of(
    program: Program,
    stdin: str,
    limits: Limits,
    files: Mapping[str, bytes] | None = None,
    arguments: Sequence[str] = (),
) -> Job:
    """Return the job that runs a program once, beside `files`, by their relative paths; raises CannotRun.

    The program gets at least the memory that its language needs. Lone surrogates in texts become `?`.
    """
    limits = replace(limits, memory_bytes=max(limits.memory_bytes, least_memory(program.language)))
    stdin, *arguments = (text.encode("utf-8", "replace").decode() for text in (stdin, *arguments))
    if not files and not arguments:
        return Job(program, (stdin,), limits)
    if program.language != PYTHON:
        raise CannotRun(f"{program.language} programs get neither other files nor arguments here")
    files = {name.encode("utf-8", "replace").decode(): data for name, data in (files or {}).items()}
    _check(program, files)
    contents = [base64.b64encode(data).decode() for data in files.values()]
    beside = [part for file in zip(files, contents, strict=True) for part in file]
    packed = pack([stdin, str(len(arguments)), *arguments, *beside])
    if len(packed) > MOST_IN_FILES:
        raise CannotRun(f"the files have {len(packed)} bytes in base64: {MOST_IN_FILES} are the most")
    # The driver writes the files in the program's process, so the program's limit applies to them.
    largest = SOME + max(len(stdin.encode("utf-8", "replace")), *map(len, files.values()), 0)
    limits = replace(limits, file_bytes=max(limits.file_bytes, largest))
    return Job(program, (packed,), limits, driver("beside"))


def _check(program: Program, files: Mapping[str, bytes]) -> None:
    """Raise CannotRun if the files can't be written into one folder beside the program."""
    if len(files) > MOST_FILES:
        raise CannotRun(f"{len(files)} files: {MOST_FILES} are the most")
    if program.main in files:
        raise CannotRun(f"two files have the name {program.main!r}")
    if fault := fault_of_paths([program.main, *files]):
        raise CannotRun(fault)
