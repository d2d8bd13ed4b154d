"""Running a repository's tests on an edited file, in a sandbox.

1. The tests of one label are loaded once, in the zygote of a jail. Each edit gets a copy of that process, in which the
   edited file covers the one of the repository, which is read-only.
2. If an edit changes only the body of a method, the copy has nothing to import: see `inside/driver`.
3. A program could forge the results of tests in its own process. Some checks find the simple ways: the classes of the
   tests must have the same methods afterwards; what is equal to everything fails `assertEqual`; a test that is skipped
   only because of the edit has failed; and if all tests pass, they are run once more with one that must fail: what it
   expects was changed (see `controls`), or else it fails at its end. Of the first, a program isn't told. One that is
   made to deceive these checks can't be found out in its own process.
4. What tests say is the same on any machine, without its folders: see `Checkout.hidden`.
"""

import functools
import json
import math
import random
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from typing import Any, Self

from alpha_codium.errors import SandboxError
from alpha_codium.languages.python.syntax import UNPARSABLE, lines_of, tokens_of
from alpha_codium.limits import Limits
from alpha_codium.program import PYTHON, Job, Program, Workspace
from alpha_codium.repository.checkout import Checkout
from alpha_codium.repository.controls import Control, snippet
from alpha_codium.repository.inside.driver import TESTS
from alpha_codium.repository.methods import find_method
from alpha_codium.repository.recipes import RUNNERS
from alpha_codium.sandbox import open_sandbox
from alpha_codium.sandbox.protocol import report_of
from alpha_codium.values import JsonValue
from alpha_codium.verdict import Execution, Status

INSIDE = resources.files("alpha_codium.repository.inside")
LIMITS = Limits(cpu_seconds=60.0, memory_bytes=2 << 30, output_bytes=64 << 20, processes=64, open_files=256)
# For running all tests of a label once.
TRACE_LIMITS = replace(LIMITS, cpu_seconds=900.0)
PASSED, SKIPPED, NOT_RUN, FORGED = "passed", "skipped", "not_run", "forged"


@dataclass(frozen=True, slots=True)
class Edit:
    """A changed file: its path in the repository, its text, and the name of the method if only its body was changed."""

    file: str
    text: str
    method: str = ""


@dataclass(frozen=True, slots=True)
class RepositoryTestResult(JsonValue):
    """The outcome of one test: `passed`, `failed`, `error`, `skipped`, `not_run` or `forged`, and its traceback."""

    name: str
    status: str
    message: str = ""


@dataclass(frozen=True, slots=True)
class SuiteRun(JsonValue):
    """The results of all tests that were asked for, in that order.

    `crash` says how the process ended before it could report, if it did.
    """

    results: tuple[RepositoryTestResult, ...]
    cpu_seconds: float
    swapped: bool = False
    crash: str = ""

    @property
    def passed(self) -> bool:
        """Whether there are tests, and all of them passed or were skipped, but not all of them skipped."""
        statuses = {result.status for result in self.results}
        return PASSED in statuses and statuses <= {PASSED, SKIPPED}

    @property
    def failed(self) -> tuple[str, ...]:
        """The names of the tests that didn't pass."""
        return tuple(result.name for result in self.results if result.status != PASSED)


def edit_of(source: str, file: str, method: str, text: str) -> Edit:
    """Return an edit of a file; it names the method if only its body was changed, or its declaration laid out anew."""
    return Edit(file, text, method if _besides_body(source, method) == _besides_body(text, method) else "")


@functools.lru_cache(maxsize=16)
def _besides_body(source: str, method: str) -> tuple[str, list[str], str]:
    """Return what is before a method, the tokens of its declaration, and what is after it."""
    try:
        found = find_method(source, method)
    except (KeyError, *UNPARSABLE):
        return source, [], ""
    lines, declared = lines_of(source), [token.string for token in tokens_of(found.declaration)]
    return "".join(lines[: found.lines[0]]), declared, "".join(lines[found.lines[1] :])


@dataclass(frozen=True, slots=True)
class TracedTest:
    """A test, what became of it, and the functions that it calls.

    A function is its file and the line, from 1, of its first decorator or `def`. `seconds` has the time that the test
    sleeps, and that of noting calls, but not the time that it waits for a processor.
    """

    name: str
    status: str
    seconds: float
    functions: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Trace:
    """The tests of a label, and the functions that are called while the repository is imported and they are loaded."""

    tests: tuple[TracedTest, ...]
    loading: tuple[tuple[str, int], ...]

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Self:
        """Return the trace in a driver's answer, in which functions have numbers."""
        functions = [(file, line) for file, line in values["functions"]]
        tests = tuple(
            TracedTest(name, status, seconds, tuple(functions[index] for index in called))
            for name, status, seconds, called in values["tests"]
        )
        return cls(tests, tuple(functions[index] for index in values["loading"]))


class RepositoryTests:
    """The tests of one label of a repository, in a sandbox that is open within `async with`.

    `containers` are the options of the backend `oci`, in which they run then; None for jails of this machine.
    """

    def __init__(
        self,
        checkout: Checkout,
        label: str,
        workers: int = 1,
        limits: Limits = LIMITS,
        containers: Mapping[str, Any] | None = None,
    ) -> None:
        self.checkout, self.label, self.limits = checkout, label, limits
        path = tuple(str(checkout.folder / each) for each in checkout.recipe.path)
        workspace = Workspace(str(checkout.folder), path, warm_up(checkout, label))
        if containers is None:
            self._sandbox = open_sandbox(
                "local", workers=workers, interpreter=str(checkout.interpreter), workspace=workspace
            )
        else:
            workspace = replace(workspace, libraries=(checkout.packages(),))
            self._sandbox = open_sandbox("oci", workers=workers, workspace=workspace, **containers)
        self._covered = containers is None
        self._driver = INSIDE.joinpath("driver.py").read_text("utf-8")

    async def __aenter__(self) -> Self:
        """Load the tests; raises SandboxError if this machine can't isolate them, or they can't be loaded."""
        await self._sandbox.__aenter__()
        return self

    async def __aexit__(self, *exc: object) -> None:
        """End what still runs."""
        await self._sandbox.__aexit__(*exc)

    async def names(self) -> list[str]:
        """Return the names of all tests of the label, in their order."""
        answer, execution = await self._ask(self._no_edit(), {"task": "list"})
        if answer is None:
            raise SandboxError(f"cannot load the tests of {self.label}: {_end(execution)}")
        return answer["names"]

    async def calls(self) -> dict[str, Any]:
        """Run all tests, and return what each calls, for `Trace.from_json`; raises SandboxError if that fails."""
        request = {"task": "trace", "sources": self.checkout.recipe.sources}
        answer, execution = await self._ask(self._no_edit(), request, TRACE_LIMITS)
        if answer is None:
            raise SandboxError(f"cannot trace the tests of {self.label}: {_end(execution)}")
        return answer

    async def run(
        self, edit: Edit, tests: Sequence[str], cpu_seconds: float = math.inf, controls: Sequence[Control] = ()
    ) -> SuiteRun:
        """Run tests on an edited file, in at most so much CPU time; a syntax error is a crash.

        One of the controls is chosen that are of these tests and fit the repository's files. Raises SandboxError if the
        sandbox fails.
        """
        limits = replace(self.limits, cpu_seconds=min(cpu_seconds, self.limits.cpu_seconds), wall_seconds=0.0)
        usable = [each for each in controls if each.test in set(tests) and self._test_text(each)]
        control = random.choice(usable or [None])
        first = await self.run_trusted(edit, tests, limits=limits, control=control)
        run = await self._without_new_skips(edit, first)
        if not run.passed:
            return run
        passed = [result.name for result in run.results if result.status == PASSED]
        if control is None:
            again = await self.run_trusted(edit, tests, random.choice(passed), limits)
        else:
            again = await self.run_trusted(edit, tests, limits=limits, control=control, changed=True)
        if not again.passed:
            return replace(run, cpu_seconds=run.cpu_seconds + again.cpu_seconds)
        results = tuple(replace(result, status=FORGED) for result in run.results)
        return SuiteRun(results, run.cpu_seconds + again.cpu_seconds, run.swapped)

    async def _without_new_skips(self, edit: Edit, run: SuiteRun) -> SuiteRun:
        """Return the run with tests failed that are skipped only because of the edit."""
        skipped = [result.name for result in run.results if result.status == SKIPPED]
        if not skipped:
            return run
        before = await self.run_trusted(Edit(edit.file, self.checkout.source(edit.file)), skipped)
        new = {result.name for result in before.results if result.status != SKIPPED}
        results = (replace(each, status="failed") if each.name in new else each for each in run.results)
        return replace(run, results=tuple(results), cpu_seconds=run.cpu_seconds + before.cpu_seconds)

    async def run_trusted(
        self,
        edit: Edit,
        tests: Sequence[str],
        must_fail: str = "",
        limits: Limits | None = None,
        control: Control | None = None,
        *,
        changed: bool = False,
        fail_fast: bool = False,
    ) -> SuiteRun:
        """Run tests as `run` does, but without its second run, for an edit that doesn't try to forge results.

        The test `must_fail` is changed to fail after it has passed. The test of the control is replaced by the same,
        or if `changed` by the one that expects something else; in the request, only the value differs. With
        `fail_fast`, tests aren't run after one that failed.
        """
        request: dict[str, Any] = {"task": "run", "tests": list(tests), "must_fail": must_fail, "fail_fast": fail_fast}
        if control is not None:
            text = self._test_text(control, changed=changed)
            request["test"] = {"file": control.file, "method": control.function, "text": text}
        answer, execution = await self._ask(edit, request, limits)
        if answer is None:
            results = tuple(RepositoryTestResult(name, NOT_RUN) for name in tests)
            return SuiteRun(results, execution.cpu_seconds, crash=self.checkout.hidden(_end(execution)))
        try:
            return self._run_of(answer, tests, execution.cpu_seconds)
        except (KeyError, TypeError, ValueError):
            # The program knows the key, since it runs in the driver's process.
            return SuiteRun(tuple(RepositoryTestResult(name, FORGED) for name in tests), execution.cpu_seconds)

    def _test_text(self, control: Control, *, changed: bool = False) -> str:
        """Return the text of a control's function; "" if the repository hasn't its file, or the file differs."""
        try:
            return snippet(self.checkout.source(control.file), control, changed=changed)
        except (OSError, ValueError):
            return ""

    def _run_of(self, answer: Mapping[str, Any], tests: Sequence[str], cpu_seconds: float) -> SuiteRun:
        """Return the results in the driver's answer."""
        swapped = bool(answer["swapped"])
        if not answer["intact"]:
            return SuiteRun(tuple(RepositoryTestResult(name, FORGED) for name in tests), cpu_seconds, swapped)
        reported = {
            # A program may raise an error whose message can't be encoded.
            name: RepositoryTestResult(
                name, str(status), self.checkout.hidden(str(message).encode("utf-8", "replace").decode())
            )
            for name, status, message in answer["tests"]
        }
        # Fixtures of classes and modules that fail are reported by names of their own.
        missing = "\n".join(result.message for name, result in reported.items() if name not in set(tests))
        results = tuple(reported.get(name) or RepositoryTestResult(name, NOT_RUN, missing) for name in tests)
        return SuiteRun(results, cpu_seconds, swapped)

    async def _ask(
        self, edit: Edit, request: Mapping[str, Any], limits: Limits | None = None
    ) -> tuple[dict[str, Any] | None, Execution]:
        """Return the driver's answer (None if there is none) and the execution; raises SandboxError if that failed."""
        key = secrets.token_hex(16)
        whole = {"folder": str(self.checkout.folder), "file": edit.file, "method": edit.method, "key": key, **request}
        whole |= {"covered": True} if self._covered else {"covered": False, "text": edit.text}
        program = Program(PYTHON, {edit.file: edit.text}, edit.file)
        job = Job(program, (json.dumps(whole),), limits or self.limits, self._driver)
        execution = (await report_of(self._sandbox, job)).last
        if execution.status is Status.INTERNAL_ERROR:
            raise SandboxError(f"the tests of {self.label} could not be run: {_end(execution)}")
        try:
            answer = json.loads(execution.stdout)
        except (ValueError, RecursionError):
            return None, execution
        return (answer if isinstance(answer, dict) and answer.get("key") == key else None), execution

    def _no_edit(self) -> Edit:
        file = next(self.checkout.files())
        return Edit(file, self.checkout.source(file))


def warm_up(checkout: Checkout, label: str) -> str:
    """Return the script that loads the tests in the zygote, as a module `TESTS`."""
    names = ("pinned.py", *RUNNERS[checkout.recipe.runner])
    scripts = [(f"<{name}>", INSIDE.joinpath(name).read_text("utf-8")) for name in names]
    return (
        "import sys\n"
        f"module = sys.modules[{TESTS!r}] = type(sys)({TESTS!r})\n"
        "names = module.__dict__\n"
        f"for name, script in {scripts!r}:\n"
        "    exec(compile(script, name, 'exec'), names)\n"
        f"names.update(LABEL={label!r}, FOLDER={str(checkout.folder)!r})\n"
        "module.pin()\n"
        "module.load()\n"
    )


def _end(execution: Execution) -> str:
    """Say how a test's process ended, with the last line that it wrote to stderr."""
    last = execution.stderr.strip().splitlines()[-1:] or [""]
    return f"{execution.status.value} {last[0]}".strip()
