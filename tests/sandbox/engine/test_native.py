"""Programs in C and C++: built once in a jail, kept, and executed by each test's process."""

import asyncio
import os
import shutil
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from alpha_codium.languages.tools import ARTIFACT, Build, Start
from alpha_codium.limits import Limits
from alpha_codium.program import Job, Program
from alpha_codium.sandbox import open_sandbox
from alpha_codium.sandbox.engine.inside import known_good
from alpha_codium.sandbox.local.backend import LocalSandbox
from alpha_codium.sandbox.protocol import report_of
from alpha_codium.verdict import Report, Status
from tests.sandbox.backends import BACKENDS

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.skipif(shutil.which("g++") is None, reason="no g++: apt-get install g++"),
]
THOROUGH = pytest.mark.thorough
ADD = "#include <iostream>\nint main() { int a, b; std::cin >> a >> b; std::cout << a + b << std::endl; }\n"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sandbox(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[LocalSandbox]:
    BACKENDS["local"].prepare()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GENCODE_HOME", str(tmp_path_factory.mktemp("home")))
        async with open_sandbox("local", workers=1) as opened:
            assert isinstance(opened, LocalSandbox)
            yield opened


async def run(sandbox: LocalSandbox, source: str, *inputs: str, language: str = "cpp", **limits: float) -> Report:
    program = Program.from_source(language, source)
    return await report_of(sandbox, Job(program, inputs, Limits(**{"cpu_seconds": 2, **limits})))


def kept(sandbox: LocalSandbox) -> list[Path]:
    return sorted(Path(os.environ["GENCODE_HOME"], "cache", "programs").glob("*/program"))


async def test_a_program_is_compiled_once_for_all_its_tests_and_runs(sandbox: LocalSandbox) -> None:
    first = await run(sandbox, ADD, "1 2", "30 4")
    before = [(path, path.stat().st_mtime_ns) for path in kept(sandbox)]
    again = await run(sandbox, ADD, "5 6")
    assert [each.stdout for each in (*first.executions, *again.executions)] == ["3\n", "34\n", "11\n"]
    assert before == [(path, path.stat().st_mtime_ns) for path in kept(sandbox)] != []


@pytest.mark.slow
async def test_the_precompiled_header_gives_the_same_program(sandbox: LocalSandbox) -> None:
    source = "#include <bits/stdc++.h>\nint main() { std::map<int, int> m; m[1] = 2; std::cout << m[1]; }\n"
    again = "#include <bits/stdc++.h>\n"
    for beginning in (
        "",
        again,
        "#define x y\n" + again,
        "#include <vector>\n",
        "#define _GLIBCXX_DEBUG\n",
        '#pragma GCC optimize("O3")\n',
    ):
        report = await run(sandbox, beginning + source, "")
        assert report.executions[0].stdout == "2"
    assert list(Path(os.environ["GENCODE_HOME"], "cache", "programs").glob("*/bits/stdc++.h.gch"))


@pytest.mark.thorough
async def test_what_is_defined_before_the_header_of_the_standard_library_changes_it(sandbox: LocalSandbox) -> None:
    source = "{}\n#include <bits/stdc++.h>\nint main() {{ std::deque<int> d; return d[0]; }}\n"
    checked = await run(sandbox, source.format("#define _GLIBCXX_ASSERTIONS"), "")
    assert checked.executions[0].signal == signal.SIGABRT


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("int main() { return x; }", "was not declared in this scope"),
        ('#include "/etc/passwd"\nint main() {}', "No such file or directory"),
        ('__asm__(".incbin \\"/etc/passwd\\"");\nint main() {}', "file not found"),
        ("int main() {", "at end of input"),
        ("", "undefined reference to `main'"),
    ],
)
async def test_a_program_that_does_not_compile_says_why_and_reads_nothing_of_the_host(
    sandbox: LocalSandbox, source: str, message: str
) -> None:
    report = await run(sandbox, source, "")
    assert report.compilation.status is Status.COMPILATION_ERROR
    assert message in report.compilation.stderr
    assert report.executions == ()


@pytest.mark.thorough
async def test_each_end_of_a_program_has_its_status(sandbox: LocalSandbox) -> None:
    ends = {
        "int main() { return 3; }": (Status.RUNTIME_ERROR, 3, None),
        "#include <cstdlib>\nint main() { abort(); }": (Status.RUNTIME_ERROR, None, 6),
        "int main() { volatile int *p = 0; *p = 1; }": (Status.RUNTIME_ERROR, None, 11),
        "int main() { for (;;) ; }": (Status.TIME_LIMIT_EXCEEDED, None, 9),
        "#include <unistd.h>\nint main() { for (;;) pause(); }": (Status.TIME_LIMIT_EXCEEDED, None, 9),
    }
    for source, expected in ends.items():
        report = await run(sandbox, source, "", cpu_seconds=0.5, wall_seconds=1.5)
        assert (report.last.status, report.last.exit_code, report.last.signal) == expected, source


@pytest.mark.thorough
async def test_memory_that_a_program_reserves_and_does_not_use_does_not_count(sandbox: LocalSandbox) -> None:
    large = "static char a[1 << 30]; int main() { a[5] = 1; return 0; }"
    used = "#include <cstring>\nstatic char a[1 << 30]; int main() { memset(a, 1, sizeof a); return 0; }"
    if not sandbox._slots[0].plain.counts_memory:
        pytest.skip("no control group counts memory here")
    assert (await run(sandbox, large, "", memory_bytes=256 << 20)).last.status is Status.FINISHED
    assert (await run(sandbox, used, "", memory_bytes=256 << 20)).last.status is Status.MEMORY_LIMIT_EXCEEDED


async def test_a_program_in_c_has_no_file_of_the_program_before(sandbox: LocalSandbox) -> None:
    look = r"""
#include <dirent.h>
#include <stdio.h>
int main(void)
{
    const char *folders[] = {".", "/program", "/tmp"};
    for (int i = 0; i < 3; i++) {
        DIR *folder = opendir(folders[i]);
        for (struct dirent *each; folder && (each = readdir(folder));)
            if (each->d_name[0] != '.')
                printf("%s/%s\n", folders[i], each->d_name);
    }
    return 0;
}
"""
    await sandbox.run("open('left', 'w').write('x'); open('/tmp/left', 'w').close()", [""])
    report = await run(sandbox, look, "", language="c")
    assert "left" not in report.executions[0].stdout
    python = await sandbox.run("import os; print(sorted(os.listdir('/program')))", [""])
    assert python.executions[0].stdout == "['program.py']\n"


@pytest.mark.parametrize("backend", ["local", "portable", "local-unsafe", pytest.param("gvisor", marks=THOROUGH)])
async def test_a_program_that_can_not_be_executed_is_itself_to_blame(
    monkeypatch: pytest.MonkeyPatch, backend: str, tmp_path: Path
) -> None:
    monkeypatch.setenv("GENCODE_HOME", str(tmp_path))
    interpreted = '__attribute__((section(".interp"), used)) const char path[] = "/nowhere";\nint main() { return 1; }'
    async with open_sandbox(BACKENDS[backend].name, workers=1, **BACKENDS[backend].prepare()) as sandbox:
        report = await report_of(sandbox, Job(Program.from_source("c", interpreted), ("", "")))
        right = await report_of(sandbox, Job(Program.from_source("c", "int main() { return 0; }"), ("",)))
    for execution in report.executions:
        assert (execution.status, execution.exit_code) == (Status.RUNTIME_ERROR, 126)
        assert execution.stderr == "can't be started: No such file or directory\n"
    assert len(report.executions) == 2
    assert right.last.finished


@pytest.mark.parametrize("backend", ["local", "portable"])
async def test_a_command_that_can_not_be_executed_is_a_fault_of_ours(
    monkeypatch: pytest.MonkeyPatch, backend: str, tmp_path: Path
) -> None:
    from alpha_codium.languages import language_named

    def build(program: Program, _limits: Limits) -> Build:
        start = Start(command=("/usr/lib/missing/tool", ARTIFACT))
        return Build(("/bin/cp", "program.c", "program"), "program", program.files, "none", start=start)

    monkeypatch.setenv("GENCODE_HOME", str(tmp_path))
    monkeypatch.setattr(language_named("c"), "build", build)
    async with open_sandbox(BACKENDS[backend].name, workers=1, **BACKENDS[backend].prepare()) as sandbox:
        report = await report_of(sandbox, Job(Program.from_source("c", "this is no program"), ("",)))
    assert report.last.status is Status.INTERNAL_ERROR
    assert "can't be started: " in report.last.stderr
    assert "No such file or directory" in report.last.stderr
    assert "/" not in report.last.stderr


async def test_the_smallest_executable_starts_and_a_broken_one_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    assert known_good.starts()
    monkeypatch.setattr(known_good, "image", lambda: b"no program")
    assert not known_good.starts()


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("constexpr long f(long n) { long s = 0; for (long i = 0; i < n; i++) s += i; return s; }\n"
         "static_assert(f(1L << 40) > 0);\nint main() {}", "constexpr"),
        ("template <int N> struct A { A<N + 1> a; };\nint main() { A<0> a; }", "template instantiation depth"),
        pytest.param(
            "#define A(x) x x x x x x x x x x\n#define B(x) A(A(A(A(x))))\nB(B(B(int a;)))\nint main() {}",
            "compiling takes", marks=pytest.mark.slow),
    ],
)  # fmt: skip
async def test_a_program_made_to_overload_the_compiler_does_not_compile(
    sandbox: LocalSandbox, source: str, why: str
) -> None:
    report = await run(sandbox, source, "")
    assert report.compilation.status is Status.COMPILATION_ERROR
    assert why in report.compilation.stderr
    assert (await run(sandbox, ADD, "1 2")).executions[0].stdout == "3\n"


async def test_a_cancelled_job_ends_its_compiler(sandbox: LocalSandbox) -> None:
    source = (
        "constexpr unsigned long f(int n) { return n < 2 ? n : f(n - 1) + f(n - 2); }\n"
        "constexpr unsigned long x = f(60);\nint main() { return x; }\n"
    )
    running = asyncio.create_task(run(sandbox, source, ""))
    await asyncio.sleep(0.5)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert (await run(sandbox, ADD, "2 2")).executions[0].stdout == "4\n"
