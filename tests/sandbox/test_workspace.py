"""Programs that run in a folder of trusted files, with modules that a script has loaded before."""

from pathlib import Path

import pytest

from alpha_codium.errors import SandboxError
from alpha_codium.program import PYTHON, Job, Program, Workspace
from alpha_codium.sandbox import open_sandbox
from alpha_codium.sandbox.protocol import report_of
from alpha_codium.verdict import Execution, Status

WARM_UP = "import shapes.square, sys\nsys.loads = getattr(sys, 'loads', 0) + 1\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    # Programs run as another user.
    tmp_path.chmod(0o755)
    (tmp_path / "shapes").mkdir()
    (tmp_path / "shapes" / "__init__.py").touch()
    (tmp_path / "shapes" / "square.py").write_text("def area(a): return a * a\n")
    (tmp_path / "notes.txt").write_text("notes\n")
    return tmp_path


async def run(folder: Path, *programs: Program, inputs: tuple[str, ...] = ("",)) -> list[Execution]:
    """Run programs one after another in one sandbox; return all executions."""
    workspace = Workspace(str(folder), (str(folder),), WARM_UP)
    async with open_sandbox("local", workers=1, workspace=workspace) as sandbox:
        reports = [await report_of(sandbox, Job(program, inputs)) for program in programs]
    assert all(report.compiled for report in reports), reports
    return [execution for report in reports for execution in report.executions]


def program(text: str, path: str = "notes.txt") -> Program:
    return Program(PYTHON, {path: text}, path)


async def test_a_program_starts_with_the_modules_that_the_script_has_loaded(folder: Path) -> None:
    text = "import sys\nprint('shapes.square' in sys.modules, sys.loads)\nsys.loads = 9"
    executions = await run(folder, program(text), inputs=("", ""))
    assert [execution.stdout for execution in executions] == ["True 1\n", "True 1\n"]


async def test_programs_one_after_another_have_the_script_run_once(folder: Path) -> None:
    workspace = Workspace(str(folder), (str(folder),), WARM_UP)
    async with open_sandbox("local", workers=3, workspace=workspace) as sandbox:
        for _ in range(4):
            assert (await report_of(sandbox, Job(program("print(1)"), ("",)))).last.stdout == "1\n"
        assert [slot.plain.running for slot in sandbox._slots] == [True, False, False]


async def test_a_program_covers_the_file_of_its_path_for_itself_only(folder: Path) -> None:
    reads = f"print(open({str(folder / 'notes.txt')!r}).read(), end='')"
    covers = f"# the program\n{reads}"
    first, second, third = await run(
        folder, program(covers), program(reads, "shapes/square.py"), program(reads + "\nimport os")
    )
    assert first.stdout == covers
    assert second.stdout == "notes\n"
    assert third.stdout == reads + "\nimport os"
    assert (folder / "notes.txt").read_text() == "notes\n"


@pytest.mark.parametrize("path", ["notes.txt", "new.txt", "shapes/square.py"])
async def test_a_program_cannot_change_the_folder(folder: Path, path: str) -> None:
    before = {each: each.read_bytes() for each in folder.rglob("*") if each.is_file()}
    (execution,) = await run(folder, program(f"open({str(folder / path)!r}, 'a').write('x')"))
    assert execution.status is Status.RUNTIME_ERROR
    assert {each: each.read_bytes() for each in folder.rglob("*") if each.is_file()} == before


@pytest.mark.thorough
async def test_memory_that_the_script_takes_is_not_the_programs(folder: Path) -> None:
    (folder / "shapes" / "square.py").write_text("data = bytearray(300 << 20)\n")
    workspace = Workspace(str(folder), (str(folder),), "import shapes.square")
    async with open_sandbox("local", workers=1, workspace=workspace) as sandbox:
        report = await report_of(sandbox, Job(program("x = bytearray(200 << 20)\nprint(len(x) >> 20)"), ("",)))
    assert report.executions[0].stdout == "200\n"


async def test_a_script_that_fails_is_an_error_with_its_reason(folder: Path) -> None:
    # What is said while the interpreter ends, such as warnings, comes later.
    later = "import atexit, sys\natexit.register(sys.stderr.write, 'ResourceWarning: unclosed socket\\n')\n"
    workspace = Workspace(str(folder), (), f"{later}raise ValueError('no such label')")
    with pytest.raises(SandboxError, match=r"^the workspace's script failed: ValueError: no such label$"):
        async with open_sandbox("local", workers=1, workspace=workspace):
            pass
