"""What a record says of a checker program, and what its end means."""

import os
import re
import signal
import subprocess
from pathlib import Path

import pytest

from alpha_codium.data.kattis import checker_of_package
from alpha_codium.errors import Unjudgeable
from alpha_codium.judge import building
from alpha_codium.judge.checker_program import CheckerProgram
from alpha_codium.judge.packing import unpack
from alpha_codium.problem import TestCase
from alpha_codium.verdict import Execution, Status
from tests.judge.checkers import CPP_FILES, DIVISOR, needs_compiler

PYTHON = {"files": {"check.py": DIVISOR}}
TWO = {"files": {"v/a.py": "", "v/b.py": "", "c.py": ""}}


def test_the_validator_of_a_package_becomes_one() -> None:
    package = {"type": "custom", "flags": "a b", "protocol": "Kattis output validator: argv = ...", "files": CPP_FILES}
    made = CheckerProgram.of(checker_of_package(package).arguments)
    assert made == CheckerProgram("icpc", tuple(sorted(CPP_FILES.items())), flags="a b")
    # What was stored before the protocol had a name of ours.
    kept = {key: value for key, value in package.items() if key != "type"}
    assert CheckerProgram.of(kept) == made
    testlib = checker_of_package({"type": "custom", "protocol": "testlib", "files": {"c.py": ""}, "main": "c.py"})
    assert CheckerProgram.of(testlib.arguments) == CheckerProgram("testlib", (("c.py", ""),), "c.py")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "needs files"),
        ({"files": {}}, "needs files"),
        ({"files": ["check.py"]}, "needs files"),
        ({"files": {"check.py": 1}}, "needs files"),
        (PYTHON | {"flag": "x"}, "no argument 'flag' (did you mean 'flags'?)"),
        (PYTHON | {"protocol": "testlb"}, "no checker protocol 'testlb' (did you mean 'testlib'?)"),
        ({"files": {"../check.py": ""}}, "relative path, not '../check.py'"),
        ({"files": {"/check.py": ""}}, "relative path"),
        ({"files": {"": ""}}, "relative path"),
        ({"files": {"Check.java": ""}}, "C++ or Python; its files are Check.java"),
        (TWO, "say which with main (c.py, v/a.py, v/b.py)"),
        (TWO | {"main": "v/aa.py"}, "no checker's file 'v/aa.py' (did you mean 'v/a.py'?)"),
        ({"files": {"a.py": "", "b.cpp": ""}}, "several programs"),
        (PYTHON | {"protocol": "icpc interactive"}, "no checker protocol 'icpc interactive'"),
        (PYTHON | {"flags": ["a", 1]}, "a text or a list of texts, not ['a', 1]"),
        (PYTHON | {"flags": 1}, "a text or a list of texts, not 1"),
        (PYTHON | {"flags": {}}, "a text or a list of texts, not {}"),
        *(
            (
                {"files": {"v/check.py": "", f"v/{taken}": ""}, "main": "v/check.py"},
                f"give its file {taken!r} another name",
            )
            for taken in ("input", "answer", "output", "feedback", "program.py", "input/x.py", "feedback/x")
        ),
    ],
)
def test_what_can_not_be_run_is_one_clear_line(arguments: dict[str, object], said: str) -> None:
    with pytest.raises(Unjudgeable) as caught:
        CheckerProgram.of(arguments)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_flags_may_be_a_list() -> None:
    assert CheckerProgram.of(PYTHON | {"flags": ["float_tolerance", "1e-6"]}).flags == "float_tolerance 1e-6"
    assert CheckerProgram.of(PYTHON | {"flags": []}) == CheckerProgram.of(PYTHON | {"flags": None})


def test_names_that_the_driver_needs_are_taken_only_where_it_writes() -> None:
    elsewhere = {"v/check.py": "", "input": "", "v/data/answer": ""}
    assert CheckerProgram.of({"files": elsewhere, "main": "v/check.py"}).beside() == [("data/answer", "")]
    assert CheckerProgram.of({"files": {"program.py": ""}}).main == "program.py"
    assert CheckerProgram.of({"files": {"input": "", "check.cpp": ""}}).beside() == []


def test_modules_beside_a_python_checker_come_with_it() -> None:
    made = CheckerProgram.of(TWO | {"main": "v/a.py"})
    parts = unpack(made.packed(TestCase("i", "a"), "o").encode())
    assert parts == [b"icpc", b"python", b"", b"i", b"a", b"o", b"b.py", b""]


@pytest.mark.parametrize(
    ("protocol", "status", "accepts"),
    [("icpc", 42, True), ("icpc", 43, False), ("testlib", 0, True)]
    + [("testlib", status, False) for status in (1, 2, 4, 8)],
)
def test_a_checkers_exit_status_is_its_verdict(protocol: str, status: int, accepts: bool) -> None:
    made = CheckerProgram.of(PYTHON | {"protocol": protocol})
    for ended in (Status.FINISHED, Status.RUNTIME_ERROR, Status.MEMORY_LIMIT_EXCEEDED):
        assert made.verdict_of(Execution(ended, exit_code=status)) is accepts


@pytest.mark.parametrize(
    ("protocol", "execution", "said"),
    [
        ("icpc", Execution(Status.FINISHED, exit_code=0), "ended with 0, which is no verdict"),
        ("icpc", Execution(Status.RUNTIME_ERROR, exit_code=1, stderr="a\nlast \n"), "ended with 1, .*: last"),
        ("testlib", Execution(Status.RUNTIME_ERROR, exit_code=3, stderr="FAIL"), "ended with 3, .*: FAIL"),
        ("testlib", Execution(Status.RUNTIME_ERROR, exit_code=7), "ended with 7"),
        ("testlib", Execution(Status.RUNTIME_ERROR, exit_code=42), "ended with 42"),
        ("icpc", Execution(Status.RUNTIME_ERROR, signal=6), "was ended by signal 6"),
        ("icpc", Execution(Status.TIME_LIMIT_EXCEEDED, exit_code=42), "took more than 30 s"),
        ("icpc", Execution(Status.OUTPUT_LIMIT_EXCEEDED, exit_code=42), "came to output_limit_exceeded"),
        ("icpc", Execution(Status.INTERNAL_ERROR, stderr="sandbox: lost"), "came to internal_error: sandbox: lost"),
        ("testlib", Execution(Status.SANDBOX_VIOLATION, exit_code=0), "came to sandbox_violation"),
    ],
)
def test_all_else_is_no_verdict_and_says_why(protocol: str, execution: Execution, said: str) -> None:
    reason = CheckerProgram.of(PYTHON | {"protocol": protocol}).verdict_of(execution)
    assert isinstance(reason, str)
    assert re.search(said, reason), reason


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GENCODE_HOME", str(tmp_path))
    return tmp_path


@needs_compiler
def test_a_program_is_compiled_once_and_kept_by_all_that_went_into_it(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled = []
    compile_ = building._compile
    monkeypatch.setattr(building, "_compile", lambda *given: (compiled.append(given), compile_(*given)))
    small = {"a/check.cpp": '#include "b.h"\nint main() { return ANSWER; }\n', "a/b.h": "#define ANSWER 42\n"}
    first = building.build(small)
    assert first[:4] == b"\x7fELF"
    assert building.build(dict(reversed(small.items()))) == first
    assert len(compiled) == 1
    assert [path.read_bytes() for path in (home / "checkers").iterdir()] == [first]
    (home / "include" / "testlib.h").write_text("#define ANSWER 0\n")
    building.build(small)
    assert building.build(small | {"a/b.h": "#define ANSWER 43\n"}) != first
    assert len(compiled) == 3


@needs_compiler
def test_a_compiled_program_needs_nothing_but_the_kernel(home: Path, tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_bytes(building.build({"main.cc": "#include <iostream>\nint main() { std::cout << 1; return 42; }\n"}))
    program.chmod(0o755)
    done = subprocess.run([program], capture_output=True, text=True, check=False, env={})
    assert (done.returncode, done.stdout) == (42, "1")
    assert b"/ld-linux" not in program.read_bytes()[:1024]


@needs_compiler
@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("int main() { return 42 }", "check.cpp:1:23: error: expected"),
        ("int other() { return 42; }", "undefined reference to `main'"),
        ('#include "testlib.h"\nint main() {}', "put testlib.h (github.com/MikeMirzayanov/testlib) into"),
        ("#error so", "error: #error so"),
    ],
)
def test_what_does_not_compile_says_its_first_error_in_one_line(home: Path, code: str, said: str) -> None:
    with pytest.raises(Unjudgeable, match="its checker doesn't compile") as caught:
        building.build({"check.cpp": code})
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not list((home / "checkers").iterdir())


@needs_compiler
def test_a_header_that_the_files_do_not_bring_is_found_in_the_users_folder(home: Path) -> None:
    (home / "include").mkdir()
    (home / "include" / "testlib.h").write_text("#define OK 42\n")
    assert building.build({"check.cpp": '#include "testlib.h"\nint main() { return OK; }'})


def test_without_a_compiler_one_line_says_how_to_get_one(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building, "PATH", str(home))
    with pytest.raises(Unjudgeable, match=r"no g\+\+: apt-get install g\+\+"):
        building.build({"check.cpp": "int main() {}"})


@needs_compiler
@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"a": "x", "a/b.cpp": ""}, "file 'a/b.cpp' can't be written"),
        ({".": "", "b.cpp": ""}, "can't be written"),
        ({"a" * 300 + ".cpp": ""}, "can't be written: File name too long"),
        ({"\ud800.cpp": ""}, "can't be written: .*surrogates not allowed"),
    ],
)
def test_files_that_can_not_be_written_are_one_clear_line(home: Path, files: dict[str, str], said: str) -> None:
    with pytest.raises(Unjudgeable, match=said) as caught:
        building.build(files)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 200
    assert not list((home / "checkers").iterdir())


# Starts a process that holds stderr open, as g++ starts cc1plus, and waits.
WAITING = """#!/bin/sh
[ "$1" = -v ] && exit
/bin/sleep 60 &
echo $! > {pid}
wait
"""


def test_a_compiler_that_waits_is_ended_alone_and_nobody_waits_for_what_it_started(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler, pid = home / "g++", home / "pid"
    compiler.write_text(WAITING.format(pid=pid))
    compiler.chmod(0o755)
    monkeypatch.setattr(building, "PATH", str(home))
    monkeypatch.setattr(building, "COMPILE_SECONDS", 0.5)
    monkeypatch.delattr(os, "killpg")
    try:
        with pytest.raises(Unjudgeable, match=r"it takes longer than 1\.0 s"):
            building.build({"check.cpp": ""})
        os.kill(int(pid.read_text()), 0)
    finally:
        os.kill(int(pid.read_text()), signal.SIGKILL)


@needs_compiler
def test_a_compiler_that_runs_wild_is_ended(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building, "LIMITED", 'ulimit -S -t 1; exec "$@"')
    macros = "".join(f"#define {name} {name.lower() * 9}\n" for name in "ABCDEFGHIJ")
    many = macros.replace("aaaaaaaaa", "1 " * 9)
    for name in "BCDEFGHIJ":
        many = many.replace(name.lower() * 9, f"{chr(ord(name) - 1)} " * 9)
    with pytest.raises(Unjudgeable, match="CPU time limit exceeded"):
        building.build({"check.cpp": f"{many}int x[] = {{ J }};"})
    assert not list((home / "checkers").iterdir())
