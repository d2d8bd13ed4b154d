"""How a program of a problem runs on one test's input: under which limits, after which code, by streams or by files."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from alpha_codium.judge.drivers import driver
from alpha_codium.judge.packing import pack
from alpha_codium.judge.prelude import with_prelude
from alpha_codium.limits import Limits
from alpha_codium.problem import TestCase
from alpha_codium.sandbox import Sandbox
from alpha_codium.sandbox.protocol import StopTest
from alpha_codium.verdict import Execution, Report

# Bytes of texts that fit into a sandbox's scratch folder (64 MiB) beside what a program may write (16 MiB).
MOST_IN_FILES = 44 << 20
# What a driver writes beside the input.
SOME = 1 << 16


@dataclass(frozen=True, slots=True)
class Runner:
    """Runs programs that read and print.

    `setup_code` runs before each program; `input_file` and `output_file`, where given, are the files in its folder
    that it uses in place of stdin and stdout.
    """

    sandbox: Sandbox
    limits: Limits
    setup_code: str = ""
    input_file: str = ""
    output_file: str = ""

    async def run(self, program: str, inputs: Sequence[str], stop: StopTest | None = None) -> Report:
        """Run `program` on each input until `stop` says so; its output is on stdout. See `Sandbox.run`."""
        whole = with_prelude(self.setup_code, program)
        if not (self.input_file or self.output_file):
            return await self.sandbox.run(whole, inputs, limits=self.limits, stop=stop)
        packed = [pack([self.input_file, self.output_file, text]) for text in inputs]
        # The driver writes the input to a file, in the program's process: its limit is the driver's.
        largest = SOME + max((size_of(text) for text in inputs), default=0)
        limits = replace(self.limits, file_bytes=max(self.limits.file_bytes, largest))
        return await self.sandbox.run(whole, packed, limits=limits, stop=stop, driver=driver("filing"))

    def fault_of(self, test: TestCase) -> str:
        """Why the input of `test` can't be given to a program; nothing where it can."""
        return fault_of_size(test.input) if self.input_file or self.output_file else ""

    async def execute(self, program: str, input: str) -> Execution:
        """One run on one input; the compilation, where that failed."""
        report = await self.run(program, [input])
        return report.executions[0] if report.executions else report.compilation


def fault_of_size(*texts: str) -> str:
    """Why `texts` can't stand in files in a sandbox; nothing where they fit."""
    # No character takes more than 4 bytes: most texts needn't be encoded to be measured.
    if 4 * sum(map(len, texts)) <= MOST_IN_FILES or sum(map(size_of, texts)) <= MOST_IN_FILES:
        return ""
    return f"it needs files of {sum(map(size_of, texts))} bytes: a sandbox has room for {MOST_IN_FILES}"


def size_of(text: str) -> int:
    """Bytes of a text as sandboxes get it."""
    return len(text.encode("utf-8", "replace"))
