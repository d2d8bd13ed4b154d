"""How a program of a problem runs on one test's input: under which limits, after which code, by streams or by files."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from alpha_codium.judge.drivers import driver
from alpha_codium.judge.packing import pack
from alpha_codium.languages import language_named
from alpha_codium.limits import Limits
from alpha_codium.problem import TestCase
from alpha_codium.program import Job, Program
from alpha_codium.sandbox import Sandbox
from alpha_codium.sandbox.protocol import report_of
from alpha_codium.verdict import Execution

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

    @property
    def uses_files(self) -> bool:
        """Whether programs use a file in place of a stream."""
        return bool(self.input_file or self.output_file)

    def job(self, program: Program, inputs: Sequence[str]) -> Job:
        """The job of running `program` on each input; its output is on stdout."""
        program = language_named(program.language).with_setup(program, self.setup_code)
        if not self.uses_files:
            return Job(program, tuple(inputs), self.limits)
        packed = tuple(pack([self.input_file, self.output_file, text]) for text in inputs)
        # The driver writes the input to a file, in the program's process: its limit is the driver's.
        largest = SOME + max((size_of(text) for text in inputs), default=0)
        limits = replace(self.limits, file_bytes=max(self.limits.file_bytes, largest))
        return Job(program, packed, limits, driver("filing"))

    def fault_of(self, test: TestCase) -> str:
        """Why the input of `test` can't be given to a program; nothing where it can."""
        return fault_of_size(test.input) if self.uses_files else ""

    async def execute(self, program: Program, input: str) -> Execution:
        """One run on one input; the compilation, if that failed."""
        return (await report_of(self.sandbox, self.job(program, [input]))).last


def fault_of_size(*texts: str) -> str:
    """Why `texts` can't stand in files in a sandbox; nothing where they fit."""
    # No character takes more than 4 bytes: most texts needn't be encoded to be measured.
    if 4 * sum(map(len, texts)) <= MOST_IN_FILES or sum(map(size_of, texts)) <= MOST_IN_FILES:
        return ""
    return f"it needs files of {sum(map(size_of, texts))} bytes: a sandbox has room for {MOST_IN_FILES}"


def size_of(text: str) -> int:
    """Bytes of a text as sandboxes get it."""
    return len(text.encode("utf-8", "replace"))
