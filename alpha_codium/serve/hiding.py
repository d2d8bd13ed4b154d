"""Answers without paths of the machine.

Tracebacks name files of the standard library and of installed packages by their places in the sandbox, which are often
those of the machine. They get names such as `json/decoder.py`, the same on every server. What a program prints to
stdout is left as it is.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path

import alpha_codium
from alpha_codium.program import Job, Program
from alpha_codium.sandbox import Sandbox
from alpha_codium.sandbox.protocol import report_of
from alpha_codium.verdict import Execution, Judgement, PairReport, Report, Status
from alpha_codium.wording import without_paths

FOLDERS = "import sys; print(*sys.path[1:], sys.prefix, sys.base_prefix, sep='\\n')"
# Folders that every machine has.
SYSTEM = ("/usr", "/usr/local")


@dataclass(frozen=True, slots=True)
class Hiding:
    """Hides the folders in which a sandbox's interpreter looks for modules, and that of this package."""

    folders: tuple[str, ...] = ()

    @classmethod
    async def of(cls, sandbox: Sandbox) -> "Hiding":
        """Ask an open sandbox for the folders."""
        report = await report_of(sandbox, Job(Program.from_source("python3", FOLDERS), ("",)))
        found = {line for line in report.last.stdout.splitlines() if line.startswith("/") and line not in SYSTEM}
        # The functions that run a program are in its stack.
        found.add(str(Path(alpha_codium.__file__).parent.parent))
        return cls(tuple(sorted(found, key=len, reverse=True)))

    def execution(self, execution: Execution, faults: Collection[str] = ()) -> Execution:
        """Return an execution without these folders in what was written to stderr.

        What the sandbox itself wrote, where it failed, has no absolute path at all; `faults` of tests quote the client.
        """
        lost = execution.status is Status.INTERNAL_ERROR and execution.stderr not in faults
        text = self.text(without_paths(execution.stderr) if lost else execution.stderr)
        return execution if text == execution.stderr else replace(execution, stderr=text)

    def text(self, text: str) -> str:
        """Return a text without these folders."""
        for folder in self.folders if "/" in text else ():
            text = text.replace(f"{folder}/", "")
        return text

    def judgement(self, judgement: Judgement, faults: Collection[str] = ()) -> Judgement:
        """Return a judgement without these folders; `faults` are what the judge says of malformed tests."""
        tests = tuple(replace(test, execution=self.execution(test.execution, faults)) for test in judgement.tests)
        lost = not judgement.judged and judgement.message not in faults
        message = self.text(without_paths(judgement.message) if lost else judgement.message)
        return replace(judgement, tests=tests, message=message)

    def report(self, report: Report) -> Report:
        """Return a report without these folders."""
        executions = tuple(map(self.execution, report.executions))
        return replace(report, compilation=self.execution(report.compilation), executions=executions)

    def pair(self, report: PairReport) -> PairReport:
        """Return a report on a pair without these folders."""
        return replace(report, left=self.report(report.left), right=self.report(report.right))


NOTHING = Hiding()
