"""What a jail must keep a hostile program from, on the backends of ours that isolate: see `backends`."""

import subprocess
import sys

import pytest

from alpha_codium.errors import SandboxError, UserError
from alpha_codium.limits import Limits
from alpha_codium.sandbox import Sandbox, open_sandbox
from alpha_codium.sandbox.conformance.running import run_one
from alpha_codium.sandbox.conformance.test_isolation import *  # noqa: F403
from alpha_codium.sandbox.portable.isolation import isolating_command
from alpha_codium.verdict import Status
from tests.support import shared_path


async def test_the_attack_that_kills_all_it_can_reach_kills_the_program_only(jailed: Sandbox) -> None:
    witness = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        program = shared_path("hostile/14_kill_all.py").read_text()
        report = await jailed.run(program, ["", ""])
        assert [e.status for e in report.executions if e.status is Status.INTERNAL_ERROR] == []
        assert (await run_one(jailed, "print('done')")).stdout == "done\n"
        assert witness.poll() is None
    finally:
        witness.communicate(b"\n")


async def test_the_attack_that_stops_itself_ends_at_the_wall_limit(jailed: Sandbox) -> None:
    program = shared_path("hostile/05_sigstop_self.py").read_text()
    execution = await run_one(jailed, program, limits=Limits(wall_seconds=0.5))
    assert execution.status is Status.TIME_LIMIT_EXCEEDED


HARMLESS_ATTACKS = {
    "10_stderr_flood.py": {Status.TIME_LIMIT_EXCEEDED, Status.FINISHED, Status.OUTPUT_LIMIT_EXCEEDED},
    "11_print_flood_buffered.py": {Status.OUTPUT_LIMIT_EXCEEDED},
    "13_daemon_late_output.py": {Status.FINISHED},
    "26_fd_leak.py": {Status.FINISHED},
    "31_deep_recursion.py": {Status.RUNTIME_ERROR, Status.MEMORY_LIMIT_EXCEEDED, Status.TIME_LIMIT_EXCEEDED},
    "32_swallow_timeout.py": {Status.TIME_LIMIT_EXCEEDED},
    "35_close_stdio.py": {Status.FINISHED, Status.RUNTIME_ERROR},
    "53_zombie_army.py": {Status.FINISHED},
    "55_compile_bomb_nested.py": {Status.RUNTIME_ERROR, Status.COMPILATION_ERROR},
    "56_null_and_bad_encoding.py": {Status.COMPILATION_ERROR},
    "59_tiocsti.py": {Status.FINISHED},
    "61_atexit_hang.py": {Status.TIME_LIMIT_EXCEEDED},
}
# Those that wait, and so reach the wall limit; and one that burns all that it gets.
LIMITS = {
    "10_stderr_flood.py": Limits(cpu_seconds=0.9, wall_seconds=3),
    "32_swallow_timeout.py": Limits(cpu_seconds=0.3, wall_seconds=60),
    "61_atexit_hang.py": Limits(cpu_seconds=0.9, wall_seconds=2),
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", HARMLESS_ATTACKS)
async def test_an_attack_on_the_judge_ends_as_it_should(jailed: Sandbox, name: str) -> None:
    program = shared_path(f"hostile/{name}").read_text()
    limits = LIMITS.get(name, Limits(cpu_seconds=0.9, wall_seconds=60))
    report = await jailed.run(program, ["a line\n"], limits=limits)
    end = report.executions[0] if report.compiled else report.compilation
    assert end.status in HARMLESS_ATTACKS[name], end
    assert name.startswith("13") or "ESCAPED" not in end.stdout
    assert (await run_one(jailed, "print('next')")).stdout == "next\n"


async def test_a_complete_jail_is_refused_in_one_line_by_a_backend_that_gives_none() -> None:
    with pytest.raises(SandboxError) as caught:
        isolating_command("strict")
    assert "\n" not in str(caught.value) and "isolation=True" in str(caught.value)


async def test_a_machine_without_namespaces_is_refused_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("alpha_codium.sandbox.portable.isolation.namespaces_command", lambda: ())
    with pytest.raises(SandboxError) as caught:
        async with open_sandbox("portable"):
            pass
    assert "\n" not in str(caught.value) and "isolation=False" in str(caught.value)


async def test_an_unknown_backend_is_named_with_the_nearest_one() -> None:
    with pytest.raises(UserError, match=r"no sandbox(e)? 'locale' \(did you mean 'local'\?\)"):
        open_sandbox("locale")
