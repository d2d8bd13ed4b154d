"""Tests of programs that read an input and print an output, by stdin and stdout or by files."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from alpha_codium.errors import Unjudgeable
from alpha_codium.judge.behaviour import Behaviour, error_shown, key_of_output, without_addresses
from alpha_codium.judge.drivers import driver
from alpha_codium.judge.kinds import ComparedKind, is_driven, title_of
from alpha_codium.judge.packing import pack
from alpha_codium.language_table import LANGUAGES
from alpha_codium.languages import language_named
from alpha_codium.problem import ExecutionSpec, TestCase
from alpha_codium.program import Job, Program
from alpha_codium.values import surrogate_in
from alpha_codium.verdict import Execution

# Bytes that fit into a sandbox's scratch folder (64 MiB) in addition to the program's own files (16 MiB).
MOST_IN_FILES = 44 << 20
# Bytes that the driver writes in addition to the input.
SOME = 1 << 16
# Names of files in records that mean stdin or stdout.
STREAMS = ("", "stdin", "stdout", "standard input", "standard output")
# Reserved names in a program's folder, and the most bytes of a name.
RESERVED_NAMES, LONGEST_NAME = ("program.py", "driver.py"), 255


@dataclass(frozen=True, slots=True)
class StdinKind(ComparedKind):
    """The test's input is what the program reads; the checker compares what it prints.

    The setup code of `spec` runs before each program in its language; `input_file` and `output_file`, if given, are the
    files in its folder that it uses in place of stdin and stdout.
    """

    name: ClassVar[str] = "stdin"

    spec: ExecutionSpec = field(default_factory=ExecutionSpec)
    input_file: str = ""
    output_file: str = ""

    @property
    def uses_files(self) -> bool:
        """Whether programs use a file instead of stdin or stdout."""
        return bool(self.input_file or self.output_file)

    def why_not(self, language: str) -> str:
        """See `TestKind`; problems that name files need a sandbox, and a driver of the language, for files."""
        if language not in LANGUAGES:
            return f"{language} programs aren't supported"
        if self.uses_files and not is_driven(language, "files"):
            return f"{title_of(language)} programs can't be run by tests that use files in place of stdin and stdout"
        if self.uses_files and not self.sandbox.has_files:
            return "its programs need a sandbox with files: use `ac.open_sandbox('local')`"
        return ""

    def own_fault_of(self, test: TestCase) -> str:
        """See `TestKind`; any text is valid, but must fit into the file, if there is one."""
        return fault_of_size(test.input) if self.uses_files else ""

    async def behaviour(self, program: Program, input: str) -> Behaviour:
        """See `TestKind`; the key is the printed words."""
        execution = await self.execute(program, input)
        shown = self.shown(execution)
        return Behaviour(execution.status, key_of_output(shown) if execution.finished else "", shown)

    def shown(self, execution: Execution) -> str:
        """See `TestKind`; without the output before a limit, which depends on the machine: prompts must not."""
        return without_addresses(execution.stdout) if execution.finished else error_shown(execution)

    def job(self, program: Program, inputs: Sequence[str]) -> Job:
        """See `ComparedKind`."""
        if self.spec.setup_code and program.language == self.spec.language:
            program = language_named(program.language).with_setup(program, self.spec.setup_code)
        if not self.uses_files:
            return Job(program, tuple(inputs), self.limits)
        packed = tuple(pack([self.input_file, self.output_file, text]) for text in inputs)
        # The driver writes the input file in the program's process, so the program's limit applies to it.
        largest = SOME + max((_size_of(text) for text in inputs), default=0)
        limits = replace(self.limits, file_bytes=max(self.limits.file_bytes, largest))
        return Job(program, packed, limits, driver("filing"))


def own_file(name: str) -> str:
    """Return the file that a program uses instead of a stream, empty for the stream. Raises Unjudgeable."""
    if name.strip().lower() in STREAMS:
        return ""
    if "/" in name or "\0" in name or name in (".", ".."):
        raise Unjudgeable(f"it uses the file {name!r}: only files in the program's own folder can be judged")
    if name in RESERVED_NAMES:
        raise Unjudgeable(f"it uses the file {name!r}, which the sandbox needs: give the file another name")
    if reason := surrogate_in(name):
        raise Unjudgeable(f"the name of the file that it uses is {reason}")
    if _size_of(name) > LONGEST_NAME:
        raise Unjudgeable(f"it uses the file {name[:40]!r}...: a name may have {LONGEST_NAME} bytes at most")
    return name


def fault_of_size(*texts: str) -> str:
    """Return why `texts` don't fit into files in a sandbox, empty if they do."""
    # A character takes at most 4 bytes, so most texts needn't be encoded.
    if 4 * sum(map(len, texts)) <= MOST_IN_FILES or sum(map(_size_of, texts)) <= MOST_IN_FILES:
        return ""
    return f"it needs files of {sum(map(_size_of, texts))} bytes: a sandbox has room for {MOST_IN_FILES}"


def _size_of(text: str) -> int:
    """Return the size of a text in bytes, as it is sent to sandboxes."""
    return len(text.encode("utf-8", "replace"))
