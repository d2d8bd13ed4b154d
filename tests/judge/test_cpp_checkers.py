"""Checkers in C++: their headers, what their compiler may do, and what their driver gives them."""

import asyncio
import contextlib
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from alpha_codium.errors import Unjudgeable
from alpha_codium.judge import Judge, Rules, kind_of
from alpha_codium.judge.cpp_checkers import with_headers
from alpha_codium.limits import Limits
from alpha_codium.problem import TestCase
from alpha_codium.sandbox import Sandbox, open_sandbox
from alpha_codium.sandbox.engine import building
from alpha_codium.sandbox.portable.isolation import namespaces_command
from alpha_codium.verdict import Judgement, Verdict
from tests.judge.checkers import needs_compiler, problem

ONE = [TestCase("4", "2")]


@pytest.fixture(autouse=True, scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GENCODE_HOME", str(folder))
        yield folder


@pytest.fixture
def include(home: Path) -> Iterator[Path]:
    (folder := home / "include").mkdir(exist_ok=True)
    yield folder
    shutil.rmtree(folder)


async def judged(sandbox: Sandbox, code: str, program: str = "print(2)", test: TestCase = ONE[0]) -> Judgement:
    judge = Judge(sandbox, Rules(cpu_seconds=2)).for_problem(problem({"check.cpp": code}))
    return await judge.judge(program, [test])


def test_headers_of_the_user_are_added_if_a_file_or_such_a_header_names_them(include: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere.h"
    elsewhere.write_text("// a link leads here")
    headers = include
    (headers / "lib").mkdir()
    (headers / "testlib.h").symlink_to(elsewhere)
    (headers / "lib" / "one.h").write_text('#include "two.h"')
    (headers / "lib" / "two.h").write_bytes(b"// \xff")
    (headers / "unused.h").write_text("")
    given = {"a/check.cpp": '#include "testlib.h"\n#include <lib/one.h>\n#include "mine.h"', "mine.h": "mine"}
    (headers / "mine.h").write_text("not mine")
    assert with_headers(given) == given | {
        "testlib.h": "// a link leads here",
        "lib/one.h": '#include "two.h"',
        "lib/two.h": "// \ufffd",
    }


@needs_compiler
@pytest.mark.thorough
async def test_a_checker_is_compiled_once_for_each_version_of_its_headers(
    home: Path, include: Path, sandbox: Sandbox
) -> None:
    header, before = include / "verdict.h", len(kept(home))
    code = '#include "verdict.h"\nint main() { return VERDICT; }'
    verdicts = []
    for verdict in (42, 42, 43):
        header.write_text(f"#define VERDICT {verdict}\n")
        verdicts.append((await judged(sandbox, code)).verdict.value)
    assert verdicts == ["accepted", "accepted", "wrong_answer"]
    assert len(kept(home)) == before + 2


def kept(home: Path) -> list[Path]:
    return [*(home / "cache" / "programs").glob("*/program")]


@needs_compiler
@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("int main() { return 42 }", "check.cpp:1:23: error: expected"),
        ("int other() { return 42; }", "undefined reference to `main'"),
        ('#include "testlib.h"\nint main() {}', "put testlib.h (github.com/MikeMirzayanov/testlib) into"),
        ("#error so\n#error and so", "error: #error so"),
    ],
)
async def test_what_does_not_compile_says_its_first_error_in_one_line(both: Sandbox, code: str, said: str) -> None:
    judgement = await judged(both, code)
    assert judgement.verdict is Verdict.INTERNAL_ERROR
    assert "its checker doesn't compile: " in judgement.message
    assert said in judgement.message
    assert "\n" not in judgement.message


async def test_without_a_compiler_one_line_says_how_to_get_one(both: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("alpha_codium.languages.tools.PATH", "/nowhere")
    judgement = await judged(both, "int main() { return 42; }")
    assert judgement.message.startswith("problem 'p': its checker is written in C++: C++ programs need g++")
    assert judgement.message.endswith("apt-get install g++")


@pytest.mark.parametrize(
    ("extra", "said"),
    [("check.cpp/a.h", "have the name 'check.cpp'"), ("a" * 300, "more than 255 bytes"), ("\ud800", "invalid Unicode")],
)
def test_files_that_can_not_be_written_are_one_clear_line(extra: str, said: str) -> None:
    files = {"check.cpp": "int main() { return 42; }", extra: "int x;"}
    with pytest.raises(Unjudgeable, match=said) as raised:
        kind_of(problem(files))
    assert "\n" not in str(raised.value)
    assert len(str(raised.value)) < 500


@needs_compiler
@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('#include "{}"', "secret.h: No such file"),
        ('asm(".incbin \\"{}\\"");\nint main() {{}}', "Error: file not found: "),
        ('#if __has_include("{}")\n#error seen\n#endif\n#error unseen', "error: #error unseen"),
    ],
)
async def test_no_file_of_the_host_can_be_compiled_in(home: Path, both: Sandbox, line: str, said: str) -> None:
    (home / "secret.h").write_text("int main() { return 42; }")
    judgement = await judged(both, line.format(home / "secret.h"))
    assert said in judgement.message, judgement.message


# Keeps cc1plus busy for minutes with little memory.
SLOW = """
constexpr long g(long n) { long s = 0; for (long i = 0; i < 200000; i++) s += i * n; return s; }
template<int N> struct A { static constexpr long v = g(N) + A<N-1>::v; };
template<> struct A<0> { static constexpr long v = 1; };
int main() { return A<850>::v; }
"""


def compilers(name: str) -> list[Path]:
    """The processes in whose command lines `name` is."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if name.encode() in (process / "cmdline").read_bytes():
                found.append(process)
    return found


@needs_compiler
@pytest.mark.thorough
async def test_no_compiler_outlives_its_time_out(both: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building, "COMPILER_LIMITS", Limits(cpu_seconds=30, wall_seconds=2.5, memory_bytes=1 << 30))
    files, seen = {"slow_checker.cpp": SLOW}, False
    running = asyncio.create_task(Judge(both).for_problem(problem(files)).judge("print(2)", ONE))
    while not running.done():
        seen = seen or bool(compilers("slow_checker.cpp"))
        await asyncio.sleep(0.02)
    assert "its checker doesn't compile: compiling takes more than " in (await running).message
    assert seen
    end = time.monotonic() + 5
    while compilers("slow_checker.cpp") and time.monotonic() < end:
        await asyncio.sleep(0.05)
    assert not compilers("slow_checker.cpp")


READS_EARLY = """
#include <cstdio>
#include <cstring>
char said[9];
struct Early { Early() { fread(said, 1, 8, stdin); } } early;
int main(int count, char **arguments, char **environment) {
    return count == 4 && environment[0] && !strcmp(said, "2\\n") ? 42 : 43;
}
"""


@needs_compiler
async def test_constructors_of_a_checker_find_the_output_on_stdin(both: Sandbox) -> None:
    assert (await judged(both, READS_EARLY)).accepted


SAME = """
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
using Bytes = std::istreambuf_iterator<char>;
int main(int, char **arguments) {
    std::ifstream answer(arguments[2], std::ios::binary);
    std::string expected((Bytes(answer)), Bytes()), said((Bytes(std::cin)), Bytes());
    std::cout << "chatter, which is no verdict" << std::endl;
    return said == expected ? 42 : 43;
}
"""


@needs_compiler
@pytest.mark.parametrize(
    "text",
    ["", "\0", "4 4 4\n1", "\r\n\r", "\u00e9" * 3, "\ufeff", "1\x1a2", "x\n" * (5 << 20)],
    ids=lambda text: repr(text[:9]),
)
async def test_any_output_comes_to_the_checker_unchanged(both: Sandbox, text: str) -> None:
    program = "import sys\nsys.stdout.buffer.write(sys.stdin.buffer.read())"
    assert (await judged(both, SAME, program, TestCase(text, text))).accepted
    judgement = await judged(both, SAME, program + "\nprint(0)", TestCase(text, text))
    assert judgement.verdict is Verdict.WRONG_ANSWER


@needs_compiler
@pytest.mark.thorough
async def test_options_that_users_set_for_programs_do_not_change_a_checker() -> None:
    code = """
#if defined ONLINE_JUDGE || defined MINE || __cplusplus < 201703
#error not the options of checkers
#endif
int main() { return 42; }
"""
    options = {"cpp": {"options": "-std=c++98 -DONLINE_JUDGE -DMINE"}}
    isolation = bool(namespaces_command())
    async with open_sandbox("local", workers=1, isolation=isolation, languages=options) as opened:
        judgement = await judged(opened, code)
    assert judgement.accepted, judgement.message
