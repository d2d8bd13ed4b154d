"""The cases of the kit: small programs with known verdicts, and the secrets that they try to find.

1. `cases/problems.toml` holds the kit's version and the problems; each other file holds the cases of one section. Keys
   above a file's first case apply to all of them. A case names a problem, or has tests of its own.
2. A case that must be accepted and contains the word OFF makes two programs: one with OFF = 0, and one with OFF = 1,
   which must get a wrong answer. So both a judge that accepts too much and one that rejects too much fail.
3. Names in {braces} in a problem's tests are replaced by secrets that are new in each run. For a check of our judge,
   the expected answer among them is also put in a file on the host, behind a port on loopback, in the environment, and
   in the memory of this process. A program that prints it has broken out of the sandbox.
"""

import contextlib
import functools
import os
import secrets
import socket
import tempfile
import threading
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Any

from alpha_codium.paths import bait_folder
from alpha_codium.problem import ExecutionSpec, Problem, TestCase
from alpha_codium.program import PYTHON
from alpha_codium.verdict import Verdict

# File of a section -> the section, in the order in which they are judged.
SECTIONS = (
    "stdin",
    "ends",
    "comparison",
    "call",
    "assertions",
    "assertion_idioms",
    "load",
    "malformed",
    "cpp",
    "java",
    "cheats",
)
SPOILT = " (spoilt)"
DEFAULT_SECONDS = 4.0
ANY = frozenset(Verdict) - {Verdict.INTERNAL_ERROR, Verdict.NO_TESTS}
REJECTIONS = ANY - {Verdict.ACCEPTED}
# Expectations of a case that aren't one verdict.
WORDS = {"rejected": REJECTIONS, "held": ANY, "not accepted": frozenset(Verdict) - {Verdict.ACCEPTED}}
ANSWER = "gencode-doctor-"
VARIABLE = "GENCODE_DOCTOR_ANSWER"
SHARED_FOLDERS = ("/tmp", "/dev/shm", "/var/tmp")  # noqa: S108 - files that programs left there are removed


@dataclass(frozen=True, slots=True)
class Case:
    """One program, the problem that it is judged on, and its correct verdicts.

    `note` says why they are correct. `needs` is a module that the program requires. A `dangerous` program runs only in
    isolation. On a `choice`, graders differ in good faith. What is `limited` depends on limits of our judge's.
    """

    name: str
    section: str
    problem: Problem
    program: str
    language: str
    expected: frozenset[Verdict]
    note: str = ""
    needs: str = ""
    dangerous: bool = False
    choice: bool = False
    limited: bool = False

    @property
    def tests(self) -> tuple[TestCase, ...]:
        """The tests of the case."""
        return self.problem.private_tests

    @property
    def form(self) -> str:
        """The kind of its tests: `stdin`, `call` or `assertions`; with the language if it isn't Python: `stdin cpp`."""
        kind = self.problem.execution.kind
        return kind if self.language == PYTHON else f"{kind} {self.language}"

    @property
    def identity(self) -> str:
        """The name by which a case is listed, which no other has."""
        return f"{self.section}: {self.name}"


def kit_version() -> str:
    """Return the version of the kit: another one may have other cases."""
    return str(_table("problems")["version"])


def load_cases(planted: Mapping[str, str] = {}) -> list[Case]:
    """Return all cases, in the order of `SECTIONS`, with names in braces replaced by the `planted` secrets."""
    problems = {name: _problem(name, values, planted) for name, values in _table("problems")["problem"].items()}
    cases = [_table(section) | values for section in SECTIONS for values in _table(section)["case"]]
    return [case for values in cases for case in _variants(values, problems)]


def _variants(values: Mapping[str, Any], problems: Mapping[str, Problem]) -> Iterator[Case]:
    own = [{"input": values["test"], "output": ""}] if "test" in values else values.get("tests")
    problem = problems[values["problem"]] if own is None else _problem(values["name"], {**values, "tests": own}, {})
    case = Case(
        name=values["name"],
        section=values["section"],
        problem=replace(
            problem,
            private_tests=problem.private_tests[:1] if values.get("first_test") else problem.private_tests,
            time_limit_seconds=values.get("seconds", DEFAULT_SECONDS),
            memory_limit_bytes=values.get("memory_bytes"),
        ),
        program=_text(values["program"], {}),
        language=values.get("language", PYTHON),
        expected=frozenset().union(*(WORDS.get(word) or {Verdict(word)} for word in values["expect"])),
        **{key: values[key] for key in ("note", "needs", "dangerous", "choice", "limited") if key in values},
    )
    if case.expected != {Verdict.ACCEPTED} or "OFF" not in case.program:
        yield case
        return
    spoilt = replace(case, name=case.name + SPOILT, expected=frozenset({Verdict.WRONG_ANSWER}))
    yield replace(case, program=case.program.replace("OFF", "0"))
    yield replace(spoilt, program=case.program.replace("OFF", "1"))


def _problem(name: str, values: Mapping[str, Any], planted: Mapping[str, str]) -> Problem:
    tests = tuple(TestCase(_text(t["input"], planted), _text(t["output"], planted)) for t in values["tests"])
    execution = ExecutionSpec(values.get("kind", "stdin"), values.get("entry_point", ""))
    return Problem(name, values.get("about", ""), private_tests=tests, execution=execution)


def _text(value: str | list[tuple[str, int]], planted: Mapping[str, str]) -> str:
    """Return the text of a test or program: as it is, or made of repeated parts; with the secrets filled in."""
    text = value if isinstance(value, str) else "".join(part * times for part, times in value)
    for name, secret in planted.items():
        text = text.replace(f"{{{name}}}", secret)
    return text


@functools.cache
def _table(name: str) -> dict[str, Any]:
    file = resources.files("alpha_codium.audit.kit").joinpath("cases", f"{name}.toml")
    return tomllib.loads(file.read_text("utf-8"))


@contextlib.contextmanager
def planted_secrets() -> Iterator[dict[str, str]]:
    """Plant the secrets on the host, and yield them by name: `answer, file, port, pid, token`.

    Enter this before the sandbox is opened: its processes must not inherit the environment.
    """
    answer, token = ANSWER + secrets.token_hex(16), f".doctor-{secrets.token_hex(8)}"
    with tempfile.NamedTemporaryFile("w", prefix="doctor-", dir=bait_folder()) as file, _answering(answer) as port:
        file.write(answer)
        file.flush()
        os.environ[VARIABLE] = answer
        try:
            yield {"answer": answer, "file": file.name, "port": str(port), "pid": str(os.getpid()), "token": token}
        finally:
            os.environ.pop(VARIABLE, None)
            for folder in SHARED_FOLDERS:
                Path(folder, token).unlink(missing_ok=True)


@contextlib.contextmanager
def _answering(answer: str) -> Iterator[int]:
    """The port of a server that sends the answer to every client."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=_serve, args=(server, answer.encode()), daemon=True)
        thread.start()
        try:
            yield server.getsockname()[1]
        finally:
            # Interrupt the thread's accept().
            server.shutdown(socket.SHUT_RDWR)
            thread.join()


def _serve(server: socket.socket, answer: bytes) -> None:
    while True:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        with connection, contextlib.suppress(OSError):
            connection.sendall(answer)
