"""What a record says of a checker program, and what its end means."""

import re

import pytest

from alpha_codium.data.kattis import checker_of_package
from alpha_codium.errors import Unjudgeable
from alpha_codium.judge.checker_programs import CheckerProgram
from alpha_codium.judge.packing import unpack
from alpha_codium.problem import TestCase
from alpha_codium.verdict import Execution, Status
from tests.judge.checkers import CPP_FILES, DIVISOR

PYTHON = {"files": {"check.py": DIVISOR}}
CPP = {"files": CPP_FILES}
TWO = {"files": {"v/a.py": "", "v/b.py": "", "c.py": ""}}


def test_the_validator_of_a_package_becomes_one() -> None:
    package = {"type": "custom", "flags": "a b", "protocol": "Kattis output validator: argv = ...", "files": CPP_FILES}
    made = CheckerProgram.of(checker_of_package(package).arguments)
    assert made == CheckerProgram("icpc", tuple(sorted(CPP_FILES.items())), flags="a b")
    # A record from before this package named the protocol.
    kept = {key: value for key, value in package.items() if key != "type"}
    assert CheckerProgram.of(kept) == made
    testlib = checker_of_package({"type": "custom", "protocol": "testlib", "files": {"c.py": ""}, "main": "c.py"})
    assert CheckerProgram.of(testlib.arguments) == CheckerProgram("testlib", (("c.py", ""),), "c.py")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "takes `files`"),
        ({"files": {}}, "takes `files`"),
        ({"files": ["check.py"]}, "takes `files`"),
        ({"files": {"check.py": 1}}, "takes `files`"),
        (PYTHON | {"flag": "x"}, "no argument 'flag' (did you mean 'flags'?)"),
        (PYTHON | {"protocol": "testlb"}, "no checker protocol 'testlb' (did you mean 'testlib'?)"),
        ({"files": {"../check.py": ""}}, "must be relative, without '..': not '../check.py'"),
        ({"files": {"/check.py": ""}}, "must be relative"),
        ({"files": {"": ""}}, "must be relative"),
        ({"files": {".": "", "check.cpp": ""}}, "not '.'"),
        ({"files": {"a.py": "", "a.py/b": ""}}, "a file and a folder, have the name 'a.py'"),
        ({"files": {"a" * 300 + ".py": ""}}, "a name of a file has more than 255 bytes"),
        ({"files": {"\ud800.py": ""}}, "the path '\\ud800.py' is invalid Unicode"),
        ({"files": {"check.py": "'\ud800'"}}, "its checker is invalid Unicode"),
        (PYTHON | {"flags": "a \ud800"}, "its checker is invalid Unicode"),
        ({"files": {"Check.java": ""}}, "C++ or Python; its files are Check.java"),
        (TWO, "say which with main (c.py, v/a.py, v/b.py)"),
        (TWO | {"main": "v/aa.py"}, "no checker's file 'v/aa.py' (did you mean 'v/a.py'?)"),
        ({"files": {"a.py": "", "b.cpp": ""}}, "several programs"),
        (CPP | {"protocol": "open_r1"}, "'open_r1' is for checkers in Python, not for this checker"),
        (PYTHON | {"protocol": "icpc interactive"}, "no checker protocol 'icpc interactive'"),
        (PYTHON | {"flags": ["a", 1]}, "a string or a list of strings, not ['a', 1]"),
        (PYTHON | {"flags": 1}, "a string or a list of strings, not 1"),
        (PYTHON | {"flags": {}}, "a string or a list of strings, not {}"),
        *(
            (
                {"files": {"v/check.py": "", f"v/{taken}": ""}, "main": "v/check.py"},
                f"give its file {taken!r} another name",
            )
            for taken in ("input", "answer", "output", "feedback", "program.py", "input/x.py", "feedback/x")
        ),
    ],
)
def test_a_problem_that_can_not_be_run_is_one_clear_line(arguments: dict[str, object], said: str) -> None:
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
    assert parts == [b"icpc", b"", b"i", b"a", b"o", b"b.py", b""]


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
        ("icpc", Execution(Status.OUTPUT_LIMIT_EXCEEDED, exit_code=42), "ended with output limit exceeded"),
        ("icpc", Execution(Status.INTERNAL_ERROR, stderr="sandbox: lost"), "ended with internal error: sandbox: lost"),
        ("testlib", Execution(Status.SANDBOX_VIOLATION, exit_code=0), "ended with sandbox violation"),
    ],
)
def test_any_other_end_is_no_verdict_and_has_a_reason(protocol: str, execution: Execution, said: str) -> None:
    reason = CheckerProgram.of(PYTHON | {"protocol": protocol}).verdict_of(execution)
    assert isinstance(reason, str)
    assert re.search(said, reason), reason
