"""A program in each language does what it may do, and nothing else: the same program, in `tests/languages/modes`."""

import asyncio
from pathlib import Path

import pytest

import alpha_codium as ac
from alpha_codium.limits import Limits
from alpha_codium.program import Job, Program
from alpha_codium.verdict import Status
from tests.languages.missing import BUILT, require

MODES = Path(__file__).parents[2] / "languages" / "modes"
SUFFIXES = {
    "c": "c",
    "cpp": "cpp",
    "csharp": "cs",
    "go": "go",
    "java": "java",
    "javascript": "js",
    "pypy3": "py",
    "ruby": "rb",
    "rust": "rs",
    "typescript": "ts",
}
# Each program is compiled, and each of its tests may run twice on a busy machine.
pytestmark = pytest.mark.thorough

LIMITS = Limits(cpu_seconds=1, memory_bytes=256 << 20, output_bytes=1 << 20)
# The input of each test, how it ends, and what it prints, if that is all that it prints.
ENDS = {
    "add 1 2\n3": (Status.FINISHED, "6\n"),
    "exit": (Status.RUNTIME_ERROR, "leaving\n"),
    "fail": (Status.RUNTIME_ERROR, ""),
    "loop": (Status.TIME_LIMIT_EXCEEDED, ""),
    "hoard": (Status.MEMORY_LIMIT_EXCEEDED, ""),
    "deep": (Status.FINISHED, "100000\n"),
    "connect": (Status.FINISHED, "refused\n"),
    "read": (Status.FINISHED, "refused\n"),
    "write": (Status.FINISHED, "refused\n"),
    "leave": (Status.FINISHED, "left\n"),
    "look": (Status.FINISHED, "nothing\n"),
    "add 40 2": (Status.FINISHED, "42\n"),
}


def executed(language: str, source: str, *inputs: str, limits: Limits = LIMITS) -> list[ac.Execution]:
    """Return the executions of a program: the compiler's, then one for each input."""

    async def run() -> list[ac.Execution]:
        async with ac.open_sandbox("local", workers=1, preload=()) as sandbox:
            job = Job(Program.from_source(language, source), inputs, limits)
            return [execution async for execution in sandbox.execute(job)]

    return asyncio.run(run())


def source_in(language: str) -> str:
    """Return the program with all modes; skips the test if the language's tools are missing."""
    require(language)
    return (MODES / f"modes.{SUFFIXES[language]}").read_text()


@pytest.mark.parametrize("language", BUILT)
def test_a_program_does_what_it_may_do_and_nothing_else(language):
    compilation, *tests = executed(language, source_in(language), *ENDS)
    assert compilation.finished, compilation.stderr
    assert {data: (test.status, test.stdout) for data, test in zip(ENDS, tests, strict=True)} == ENDS
    by_input = dict(zip(ENDS, tests, strict=True))
    assert by_input["exit"].exit_code == 3
    assert "failed" in by_input["fail"].stderr or by_input["fail"].signal
    # What runtimes print of their own, such as warnings about the jail, isn't the program's.
    assert not any(test.stderr for test in tests if test.finished)


@pytest.mark.parametrize("language", BUILT)
def test_a_program_that_prints_without_end_exceeds_its_output_limit(language):
    _, test = executed(
        language, source_in(language), "flood", limits=Limits(3, memory_bytes=256 << 20, output_bytes=1 << 20)
    )
    assert test.status is Status.OUTPUT_LIMIT_EXCEEDED
    assert len(test.stdout) == 1 << 20


@pytest.mark.parametrize(
    ("language", "source", "message"),
    [
        ("c", "int main(void) { return x; }", "undeclared"),
        ("cpp", "int main() { return x; }", "was not declared"),
        ("csharp", 'class P { static void Main() { int x = "s"; } }', "error CS0029"),
        ("go", "package main\n\nfunc main() { x := 1 }", "x declared"),
        ("java", 'class P { int x = "s"; public static void main(String[] a) {} }', "P.java:1: error: "),
        ("javascript", "let x = ;", "SyntaxError: Unexpected token ';'"),
        ("pypy3", "print('x'", "SyntaxError"),
        ("ruby", "puts(", "syntax error"),
        ("rust", 'fn main() { let x: i32 = "s"; }', "mismatched types"),
        ("typescript", 'const x: number = "s";', "Type 'string' is not assignable to type 'number'"),
    ],
)
def test_a_program_that_does_not_compile_gets_its_compilers_message(language, source, message):
    require(language)
    (compilation,) = executed(language, source, "")
    assert compilation.status is Status.COMPILATION_ERROR
    assert message in compilation.stderr
    assert "/scratch" not in compilation.stderr
