"""Programs with files beside them and with arguments, run in a real sandbox."""

import pytest

from alpha_codium.limits import Limits
from alpha_codium.program import Program
from alpha_codium.sandbox import open_sandbox
from alpha_codium.sandbox.protocol import report_of
from alpha_codium.serve.dialects.jobs import CannotRun, job_of
from alpha_codium.verdict import Execution, Status

FILES = {"words.py": b"word = 'right'", "data/raw.bin": bytes(range(256)), "empty.txt": b""}


async def executed(source: str, stdin: str = "", arguments: tuple[str, ...] = (), backend: str = "local") -> Execution:
    job = job_of(Program.from_source("python3", source), stdin, Limits(), FILES, arguments)
    async with open_sandbox(backend, workers=1) as sandbox:
        return (await report_of(sandbox, job)).last


@pytest.mark.parametrize("backend", ["local", "portable"])
async def test_a_program_finds_its_files_its_arguments_and_its_input(backend):
    source = """
import sys, os, words
print(words.word, len(open("data/raw.bin", "rb").read()), os.path.getsize("empty.txt"))
print(sys.argv[1:], repr(sys.stdin.read()), sys.stdin.seekable(), sorted(os.listdir()))
print(__name__, "import sys, os, words" in open(__file__).read())
"""
    execution = await executed(source, "a\nb", ("-x", "ä b"), backend)
    assert execution.stderr == ""
    assert execution.stdout.splitlines() == [
        "right 256 0",
        "['-x', 'ä b'] 'a\\nb' True ['data', 'empty.txt', 'program.py', 'words.py']",
        "__main__ True",
    ]


async def test_each_run_gets_the_files_as_they_were():
    source = "print(open('empty.txt').read()); open('empty.txt', 'w').write('mine')"
    program = Program.from_source("python3", source)
    async with open_sandbox("local", workers=1) as sandbox:
        for _ in range(2):
            report = await report_of(sandbox, job_of(program, "", Limits(), FILES))
            assert (report.last.stdout, report.last.status) == ("\n", Status.FINISHED)


async def test_the_end_of_a_program_is_its_own():
    execution = await executed("import sys; sys.exit(3)")
    assert (execution.status, execution.exit_code) == (Status.RUNTIME_ERROR, 3)
    execution = await executed("import words; words.nothing")
    assert execution.exit_code == 1
    assert execution.stderr.endswith("AttributeError: module 'words' has no attribute 'nothing'\n")


@pytest.mark.parametrize(
    "path", ["../x", "/etc/x", "a//b", "", "x\0", "program.py", "words.py/x", "x" * 300, "data", ".", "a/../b"]
)
def test_files_elsewhere_and_names_that_clash_are_refused(path):
    with pytest.raises(CannotRun):
        job_of(Program.from_source("python3", ""), "", Limits(), {**FILES, path: b""})


def test_too_many_or_too_large_files_are_refused():
    program = Program.from_source("python3", "")
    with pytest.raises(CannotRun, match="1001 files"):
        job_of(program, "", Limits(), {str(n): b"" for n in range(1001)})
    with pytest.raises(CannotRun, match="bytes in base64"):
        job_of(program, "", Limits(), {"x": bytes(40 << 20)})


def test_other_languages_get_no_files_yet():
    with pytest.raises(CannotRun, match="cpp programs get neither"):
        job_of(Program.from_source("cpp", ""), "", Limits(), FILES)
