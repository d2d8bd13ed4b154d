"""The gvisor backend: what it shows programs, what it counts, and what it says where there is no gVisor."""

import asyncio
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from alpha_codium.errors import SandboxError
from alpha_codium.limits import Limits
from alpha_codium.sandbox.conformance.running import run_one
from alpha_codium.sandbox.engine.interpreter import Interpreter
from alpha_codium.sandbox.gvisor.backend import GvisorSandbox, best_platform
from alpha_codium.sandbox.gvisor.bundle import make_bundle
from alpha_codium.verdict import Status
from tests.judge.checkers import needs_compiler
from tests.sandbox.gvisor.environment import installed, sandboxes
from tests.sandbox.test_hostile import USERS, copy_package, python_for
from tests.support import ROOT

MIB = 2**20
BURN = "x = 0\nfor i in range(8_000_000): x += i"
CHILDREN = """
import os
for _ in range(3):
    if os.fork() == 0:
        for i in range(4_000_000): pass
        os._exit(0)
try:
    while True: os.wait()
except ChildProcessError:
    pass
"""
FORGOTTEN = "import signal\nsignal.signal(signal.SIGCHLD, signal.SIG_IGN)" + CHILDREN
FLOOD = "import sys\nfor i in range(8000): print(f'line {i}', file=sys.stderr)\nprint('done')"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def sandbox() -> AsyncIterator[GvisorSandbox]:
    """A complete jail, shared by all tests that don't need one of their own: each start takes half a second of CPU."""
    async with GvisorSandbox(workers=1, isolation="strict", **installed()) as opened:
        yield opened


async def refusal(**options: str) -> str:
    with pytest.raises(SandboxError) as caught:
        async with GvisorSandbox(workers=1, **options):
            pass
    assert "\n" not in str(caught.value)
    return str(caught.value)


async def test_a_machine_without_runsc_is_refused_in_one_line_that_says_how_to_get_it() -> None:
    told = await refusal(runsc="/no/runsc")
    assert "/no/runsc" in told and "apt-get install runsc" in told


async def test_a_runsc_that_does_not_work_is_refused_with_its_own_words(tmp_path: Path) -> None:
    broken = tmp_path / "runsc"
    broken.write_text("#!/bin/sh\nif [ $1 != flags ]; then echo it is broken >&2; exit 1; fi\n")
    broken.chmod(0o755)
    assert "it is broken" in await refusal(runsc=str(broken))


async def test_a_runsc_that_is_no_program_is_refused_in_one_line(tmp_path: Path) -> None:
    broken = tmp_path / "runsc"
    broken.write_text("not a program")
    broken.chmod(0o755)
    assert f"cannot run {broken}: Exec format error" in await refusal(runsc=str(broken))


async def test_a_machine_without_a_place_for_temporary_files_is_refused_in_one_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    installed()
    monkeypatch.setattr(tempfile, "tempdir", "/proc/nowhere")
    assert "folder for temporary files" in await refusal()


@pytest.mark.thorough
async def test_an_input_may_be_larger_than_what_programs_may_write_and_than_their_memory(
    sandbox: GvisorSandbox,
) -> None:
    program = "import sys\nprint(sum(map(len, iter(lambda: sys.stdin.buffer.read(1 << 20), b''))))"
    size, limits = 70 << 20, Limits(cpu_seconds=60, memory_bytes=64 << 20)
    report = await sandbox.run(program, ["x" * size, "abc"], limits=limits)
    assert [execution.stdout for execution in report.executions] == [f"{size}\n", "3\n"]


async def test_a_platform_that_runsc_does_not_know_is_refused() -> None:
    installed()
    assert "nonsense" in await refusal(platform="nonsense")


@pytest.mark.parametrize(
    ("flags", "platform"),
    [("which platform to use: ptrace (default), kvm.", "ptrace"), ("which platform to use: systrap, kvm", "systrap")],
)
def test_the_fastest_platform_is_taken_that_runsc_knows(tmp_path: Path, flags: str, platform: str) -> None:
    runsc = tmp_path / "runsc"
    runsc.write_text(f"#!/bin/sh\necho ' -platform string'\necho '   specifies {flags}'\n")
    runsc.chmod(0o755)
    assert best_platform(str(runsc)) == platform


async def test_a_complete_jail_is_what_it_gives(sandbox: GvisorSandbox) -> None:
    assert (await run_one(sandbox, "print(1)")).stdout == "1\n"
    used = {layer.name: layer.used for layer in sandbox.layers}
    assert {name: used[name] for name in ("container", "seccomp", "namespaces")} == dict.fromkeys(
        ("container", "seccomp", "namespaces"), True
    )


async def test_a_program_sees_the_interpreter_and_nothing_of_the_host(sandbox: GvisorSandbox, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("x")
    program = f"""
import os, sys
seen = [p for p in ({str(tmp_path)!r}, "/home", "/root", "/var", "/etc/passwd", "/boot", "/sys/kernel", "/opt")
        if os.path.isdir(p) and os.access(p, os.R_OK) and os.listdir(p) or os.path.isfile(p)]
ours = [p for p in sys.path if os.path.isdir(p + "/alpha_codium") and os.listdir(p + "/alpha_codium")]
print(seen, ours, os.getuid() != 0, os.uname().nodename)
"""
    execution = await run_one(sandbox, program)
    assert execution.stdout == "[] [] True sandbox\n", execution


async def test_what_the_agent_has_open_is_out_of_reach(sandbox: GvisorSandbox) -> None:
    """gVisor of 2022 lets anyone open anything that it sees in /proc: so it must see nothing there but itself."""
    program = """
import os
for number in [n for n in os.listdir("/proc") if n.isdigit()]:
    if int(number) != os.getpid():
        try:
            print(number, os.listdir(f"/proc/{number}/fd"))
        except OSError as error:
            print(number, type(error).__name__)
"""
    execution = await run_one(sandbox, program)
    assert execution.stdout in {"1 FileNotFoundError\n", "1 PermissionError\n"}


async def test_a_program_cannot_end_its_runner(sandbox: GvisorSandbox) -> None:
    kill = "import os\nfor s in (9, 15, 11):\n    os.kill(1, s)\nprint('alive')"
    report = await sandbox.run(kill, ["", ""])
    assert [execution.stdout for execution in report.executions] == ["alive\n"] * 2


async def test_nothing_that_a_program_writes_is_there_for_the_next_one(sandbox: GvisorSandbox) -> None:
    write = "\n".join(
        ["import os"]
        + [
            f"open('{folder}/left', 'w').write('x'); os.mkdir('{folder}/folder')"
            for folder in ("/tmp", "/dev/shm", ".")
        ]
        + ["os.chmod('/tmp/folder', 0)", "print('written')"]
    )
    look = "import os\nprint(os.listdir('/dev/shm'), os.listdir('.'), 'left' in os.listdir('/tmp'))"
    assert [e.stdout for e in (await sandbox.run(write, ["", ""])).executions] == ["written\n"] * 2
    assert (await run_one(sandbox, look)).stdout == "[] ['program.py'] False\n"


async def test_a_mount_for_each_candidate_is_taken_away_again(sandbox: GvisorSandbox) -> None:
    count = "print(len(open('/proc/mounts').readlines()))"
    counts = {(await run_one(sandbox, count)).stdout for _ in range(4)}
    assert len(counts) == 1


@pytest.mark.thorough
async def test_cpu_time_is_what_the_processors_spent_and_not_what_gvisor_counts() -> None:
    """Where two wait for one processor, gVisor's clock counts both as running all the time."""
    if os.geteuid() != 0:
        pytest.skip("a control group needs root here")
    burn = "x = 0\nfor i in range(3_000_000): x += i"
    async with GvisorSandbox(workers=4, **installed()) as sandbox:
        alone = await run_one(sandbox, burn, limits=Limits(cpu_seconds=60))
        reports = await asyncio.gather(*(sandbox.run(burn, [""], limits=Limits(cpu_seconds=60)) for _ in range(4)))
    for report in reports:
        (crowded,) = report.executions
        assert crowded.status is Status.FINISHED
        # Each has half a processor or less, so by the wall it takes twice as long; by what it used, about the same.
        assert crowded.cpu_seconds < 2 * alone.cpu_seconds + 0.2


async def test_time_and_memory_that_are_told_are_plausible(sandbox: GvisorSandbox) -> None:
    work = "data = b'x' * (64 << 20)\nx = 0\nfor i in range(3_000_000): x += i\nprint(len(data))"
    idle, busy = await run_one(sandbox, "pass"), await run_one(sandbox, work, limits=Limits(cpu_seconds=30))
    assert 0 < idle.cpu_seconds < busy.cpu_seconds < 10
    assert 2 * MIB < idle.max_rss_bytes < 40 * MIB, "the peak of our own process must not show in it"
    assert 64 * MIB < busy.max_rss_bytes < 128 * MIB


@pytest.mark.parametrize("program", [BURN, CHILDREN, FORGOTTEN], ids=["one process", "children", "forgotten children"])
async def test_cpu_time_above_the_limit_is_a_time_limit_whoever_spends_it(sandbox: GvisorSandbox, program: str) -> None:
    if os.geteuid() != 0:
        pytest.skip("a control group needs root here")
    limits = Limits(cpu_seconds=0.2, wall_seconds=60)
    execution = await run_one(sandbox, program, limits=limits)
    assert execution.status is Status.TIME_LIMIT_EXCEEDED
    assert execution.cpu_seconds >= limits.cpu_seconds


async def test_a_flood_of_small_writes_harms_nothing_and_its_end_is_kept(sandbox: GvisorSandbox) -> None:
    execution = await run_one(sandbox, FLOOD, limits=Limits(cpu_seconds=30))
    assert (execution.status, execution.stdout) == (Status.FINISHED, "done\n")
    assert execution.stderr.endswith("\nline 7999\n")


ORDINARY = """
import asyncio, sys
sys.path.insert(0, sys.argv[1])
from alpha_codium.sandbox.gvisor.backend import GvisorSandbox
async def main():
    async with GvisorSandbox(workers=1, isolation="strict") as sandbox:
        report = await sandbox.run("import os\\nprint(input(), os.getuid() > 0)\\nos.fork()", ["a"])
        print(report.executions[0].stdout, "BlockingIOError" in report.executions[0].stderr)
asyncio.run(main())
"""


@pytest.mark.thorough
def test_an_ordinary_user_gets_it_too_with_one_process_a_test_where_nothing_counts_more(tmp_path: Path) -> None:
    installed()
    python, number = python_for("nobody"), USERS["nobody"]
    with tempfile.TemporaryDirectory(prefix="gencode-test-") as folder:
        copy_package(Path(folder, "code"))
        Path(folder).chmod(0o755)
        Path(folder, "tmp").mkdir(mode=0o777)
        Path(folder, "tmp").chmod(0o777)
        become = ("setpriv", f"--reuid={number}", f"--regid={number}", "--clear-groups")
        clean = ("env", "--ignore-environment", f"PATH={os.environ['PATH']}", f"TMPDIR={folder}/tmp")
        command = [*become, *clean, python, "-c", ORDINARY, f"{folder}/code"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
        assert (done.stdout, list(Path(folder, "tmp").iterdir())) == ("a True\n True\n", []), done.stderr[-3000:]


@pytest.mark.thorough
async def test_who_imports_numpy_gets_a_sandbox_of_its_own_in_which_it_is_loaded(sandbox: GvisorSandbox) -> None:
    before = len(sandboxes())
    report = await sandbox.run("import numpy\nprint(numpy.arange(4).sum())", ["", ""])
    assert [execution.stdout for execution in report.executions] == ["6\n"] * 2
    assert len(sandboxes()) == before + 1
    await sandbox.run("import numpy\nprint(1)", [""])
    await sandbox.run("print(1)", [""])
    assert len(sandboxes()) == before + 1


def test_a_bundle_tells_nothing_of_folders_on_the_way_to_what_it_shows(tmp_path: Path) -> None:
    shown = tmp_path / "home" / "someone" / "python"
    (shown / "lib").mkdir(parents=True)
    executable = shown / "lib" / "python3"
    shutil.copy("/bin/true", executable)
    interpreter = Interpreter(str(executable), (3, 11), (), {}, 1000, (str(shown / "lib"),), (("/lib", "usr/lib"),))
    bundle = tmp_path / "bundle"
    bundle.mkdir()
    make_bundle(bundle, interpreter, "pass", {"A": "b"})
    way = bundle / "root" / str(shown).lstrip("/")
    assert [stat.S_IMODE(folder.stat().st_mode) for folder in (way, way.parent, way.parent.parent)] == [0o711] * 3
    assert (bundle / "root" / "lib").readlink() == Path("usr/lib")


INSIDE = """
import asyncio, pathlib, sys
from alpha_codium.judge import Judge
from alpha_codium.sandbox import open_sandbox
from tests.judge.checkers import CPP_FILES, TESTS, problem

secret = pathlib.Path(sys.argv[1])
secret.write_text("int main() { return 42; }")
including = {"check.cpp": '#include "' + str(secret) + '"'}

async def main():
    async with open_sandbox("gvisor", workers=1) as sandbox:
        for checker, program in ((CPP_FILES, "print(2)"), (CPP_FILES, "print(1)"), (including, "print(2)")):
            judgement = await Judge(sandbox).for_problem(problem(checker)).judge(program, TESTS[:1])
            print(judgement.verdict.value, judgement.message)
asyncio.run(main())
"""


@needs_compiler
@pytest.mark.thorough
def test_a_gencode_inside_gvisor_compiles_there_and_shows_the_compiler_no_other_files(tmp_path: Path) -> None:
    installed()
    environment = os.environ | {"GENCODE_HOME": str(tmp_path / "home"), "PYTHONPATH": str(ROOT)}
    command = ["runsc", "--network=none", "--ignore-cgroups", "--platform=ptrace", "do", sys.executable, "-c", INSIDE]
    done = subprocess.run(
        [*command, str(tmp_path / "secret.h")], capture_output=True, text=True, env=environment, cwd=ROOT, check=False
    )
    accepted, wrong, refused = done.stdout.splitlines() or [done.stderr] * 3
    assert (accepted.strip(), wrong.strip()) == ("accepted", "wrong_answer"), done.stderr
    assert "its checker doesn't compile: " in refused
    assert "secret.h: No such file or directory" in refused
