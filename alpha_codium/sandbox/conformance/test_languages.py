"""Tests of programs in other languages: the same program in each, in `modes`, does what it may do, and nothing else.

A language that the backend doesn't run, or whose tools are missing, is skipped with the reason.
"""

import asyncio
import signal
from pathlib import Path

import pytest

from alpha_codium.errors import SandboxError
from alpha_codium.language_table import LANGUAGES
from alpha_codium.limits import Limits
from alpha_codium.program import PYTHON, Job, Program
from alpha_codium.sandbox import Sandbox
from alpha_codium.verdict import Execution, Status

# Each program is compiled, and each of its tests may run twice on a busy machine.
pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.thorough]
# All languages whose programs the interpreter of the sandbox doesn't run.
BUILT = [name for name in LANGUAGES if name != PYTHON]
MODES = Path(__file__).parent / "modes"

# In gVisor, memory is slow: at 1 s, a program reached this limit before that of memory.
LIMITS = Limits(cpu_seconds=3, memory_bytes=256 << 20, output_bytes=1 << 20)
# The input of each test, how it ends, and what it prints, if that is all that it prints.
ENDS = {
    "add 1 2\n3": (Status.FINISHED, "6\n"),
    "exit": (Status.RUNTIME_ERROR, "leaving\n"),
    "fail": (Status.RUNTIME_ERROR, ""),
    "loop": (Status.TIME_LIMIT_EXCEEDED, ""),
    "hoard": (Status.MEMORY_LIMIT_EXCEEDED, ""),
    "deep": (Status.FINISHED, "100000\n"),
    "connect": (Status.FINISHED, "refused\n"),
    "read HOST": (Status.FINISHED, "refused\n"),
    "write": (Status.FINISHED, "refused\n"),
    "leave": (Status.FINISHED, "left\n"),
    "look": (Status.FINISHED, "nothing\n"),
    "add 40 2": (Status.FINISHED, "42\n"),
}


async def executed(
    sandbox: Sandbox, language: str, source: str, *inputs: str, limits: Limits = LIMITS, driver: str = ""
) -> list[Execution]:
    """Return the executions of a program: the compiler's, then one for each input. Skips the test if it can't run."""
    try:
        await asyncio.to_thread(sandbox.tool_version, language)
    except SandboxError as error:
        pytest.skip(str(error))
    job = Job(Program.from_source(language, source), inputs, limits, driver)
    return [execution async for execution in sandbox.execute(job)]


def source_in(language: str) -> str:
    """Return the program with all modes."""
    return (MODES / f"modes{LANGUAGES[language].suffix}").read_text()


@pytest.mark.parametrize("language", BUILT)
async def test_a_program_does_what_it_may_do_and_nothing_else(jailed: Sandbox, language: str, tmp_path: Path) -> None:
    of_host = tmp_path / "file"
    of_host.write_text("private")
    inputs = [data.replace("HOST", str(of_host)) for data in ENDS]
    compilation, *tests = await executed(jailed, language, source_in(language), *inputs)
    assert compilation.finished, compilation.stderr
    by_input = dict(zip(ENDS, tests, strict=True))
    assert {data: test for data, test in by_input.items() if (test.status, test.stdout) != ENDS[data]} == {}
    assert by_input["exit"].exit_code == 3
    assert "failed" in by_input["fail"].stderr or by_input["fail"].signal
    # What runtimes print of their own, such as warnings about the jail, isn't the program's.
    assert not any(test.stderr for test in tests if test.finished)


@pytest.mark.parametrize("language", BUILT)
async def test_a_program_that_prints_without_end_exceeds_its_output_limit(jailed: Sandbox, language: str) -> None:
    _, test = await executed(jailed, language, source_in(language), "flood")
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
        ("kotlin", 'fun main() { val x: Int = "s" }', "main.kt:1:27: error: type mismatch"),
        ("javascript", "let x = ;", "SyntaxError: Unexpected token ';'"),
        ("pypy3", "print('x'", "SyntaxError"),
        ("python2", "print 'x' 1", "SyntaxError"),
        ("python2", "print 'é'", "SyntaxError: Non-ASCII characters, but no encoding declared"),
        ("ruby", "puts(", "syntax error"),
        ("rust", 'fn main() { let x: i32 = "s"; }', "mismatched types"),
        ("typescript", 'const x: number = "s";', "Type 'string' is not assignable to type 'number'"),
    ],
)
async def test_a_program_that_does_not_compile_gets_its_compilers_message(
    jailed: Sandbox, language: str, source: str, message: str
) -> None:
    (compilation,) = await executed(jailed, language, source, "")
    assert compilation.status is Status.COMPILATION_ERROR
    assert message in compilation.stderr
    assert "/scratch" not in compilation.stderr


USES = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void)
{
    int mib;
    if (scanf("%d", &mib) != 1) return 1;
    char *all = (char *)malloc((size_t)mib << 20);
    if (!all) return 2;
    memset(all, 1, (size_t)mib << 20);
    printf("%d\\n", all[(size_t)mib << 19]);
}
"""


@pytest.mark.parametrize("language", ["c", "cpp"])
@pytest.mark.parametrize("limit", [32, 200])
async def test_a_compiled_program_that_uses_more_memory_than_its_limit_has_exceeded_it(
    jailed: Sandbox, language: str, limit: int
) -> None:
    """However it ends."""
    limits = Limits(memory_bytes=limit << 20)
    _, *tests = await executed(
        jailed, language, USES, str(limit * 3 // 4), str(limit + 8), str(limit * 8), limits=limits
    )
    assert [test.status for test in tests] == [Status.FINISHED, *[Status.MEMORY_LIMIT_EXCEEDED] * 2]


PRINTS = """
#include <stdio.h>
int main(int count, char **arguments)
{
    char line[9];
    printf("%s%d %s\\n", fgets(line, sizeof line, stdin), count, arguments[1]);
    return 2;
}
"""
# Its file takes the place of stdin, and its arguments that of the program's.
DRIVES = """
#include <stdio.h>
#include <stdlib.h>
#ifdef __cplusplus
extern "C"
#endif
int __real_main(int, char **, char **);
#ifdef __cplusplus
extern "C"
#endif
int __wrap_main(int count, char **arguments, char **environment)
{
    char *own[] = {arguments[0], (char *)"driven", 0}, line[9];
    if (!fgets(line, sizeof line, stdin)) abort();
    FILE *file = fopen("own", "w");
    if (!file || fprintf(file, "own %s", line) < 0 || fclose(file) || !freopen("own", "r", stdin)) abort();
    return 40 + __real_main(2, own, environment);
}
"""


@pytest.mark.parametrize("language", ["c", "cpp"])
async def test_a_driver_runs_in_place_of_main_and_can_write_files(jailed: Sandbox, language: str) -> None:
    compilation, *tests = await executed(jailed, language, PRINTS, "a\n", "b\n", "", driver=DRIVES)
    assert compilation.finished, compilation.stderr
    assert [(test.exit_code, test.stdout) for test in tests[:2]] == [
        (42, "own a\n2 driven\n"),
        (42, "own b\n2 driven\n"),
    ]
    assert tests[2].signal == signal.SIGABRT


async def test_a_language_without_drivers_says_so(jailed: Sandbox) -> None:
    with pytest.raises(SandboxError, match=r"^a driver can't run programs in Go$"):
        await executed(jailed, "go", "package main\n\nfunc main() {}", "", driver="package main")
