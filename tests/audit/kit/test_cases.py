"""The built-in cases themselves: is every case what it claims to be?"""

import tomllib
from importlib import resources

import pytest

from alpha_codium.audit.kit.cases import ANY, REJECTIONS, SECTIONS, SPOILT, Case, load_cases
from alpha_codium.program import PYTHON
from alpha_codium.verdict import Verdict

SECRETS = {"answer": "the-answer", "file": "/the/file", "port": "4711", "pid": "42", "token": "the-token"}
CASES = load_cases(SECRETS)
CASE_KEYS = {
    *("name", "section", "problem", "program", "expect", "needs", "dangerous", "first_test", "seconds", "memory_bytes"),
    *("note", "choice", "limited", "language", "kind", "entry_point", "test", "tests"),
}


def raw(name: str) -> dict:
    return tomllib.loads(resources.files("alpha_codium.audit.kit").joinpath(f"cases/{name}.toml").read_text("utf-8"))


def test_no_two_cases_of_a_section_bear_one_name() -> None:
    names = [case.identity for case in CASES]
    assert len(names) == len(set(names)) > 150


def test_no_two_cases_have_one_program_and_one_problem() -> None:
    seen = [(case.program, case.problem.name) for case in CASES]
    assert len(seen) == len(set(seen))


def test_every_case_says_in_one_line_why_its_verdict_is_right() -> None:
    assert [case.identity for case in CASES if not case.note or "\n" in case.note] == []


@pytest.mark.parametrize("section", SECTIONS)
def test_a_case_has_no_key_that_nobody_reads(section: str) -> None:
    table = raw(section)
    for values in (table, *table.pop("case")):
        assert set(values) <= CASE_KEYS


def test_every_case_that_is_to_be_accepted_has_a_spoilt_twin_that_is_another_program() -> None:
    by_name = {(case.section, case.name): case for case in CASES}
    right = [case for case in CASES if case.expected == {Verdict.ACCEPTED} and case.section != "assertion idioms"]
    assert len(right) > 50
    for case in right:
        twin = by_name[case.section, case.name + SPOILT]
        assert twin.expected == {Verdict.WRONG_ANSWER}
        assert (twin.problem, twin.program != case.program) == (case.problem, True)
        assert "OFF" not in case.program + twin.program


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.section}: {case.name}")
def test_only_programs_that_are_to_fail_at_it_do_not_compile(case: Case) -> None:
    if case.expected == {Verdict.COMPILATION_ERROR} or case.language != PYTHON:
        return
    compile(case.program.encode(), case.name, "exec")


def test_expectations_are_verdicts_on_the_program() -> None:
    for case in CASES:
        malformed = case.section == "malformed tests"
        assert case.expected and case.expected <= (set(Verdict) if malformed else ANY)
    assert Verdict.ACCEPTED not in REJECTIONS


def test_secrets_stand_in_the_tests_and_in_no_program() -> None:
    (secret,) = {case.tests[0] for case in CASES if case.problem.name == "secret"}
    assert (secret.input, secret.output) == ("/the/file\n4711\n42\n", "the-answer\n")
    for case in CASES:
        assert case.tests or case.section == "malformed tests"
        assert not any(value in case.program for value in ("the-answer", "the-token", "/the/file"))


def test_long_inputs_are_longer_than_a_pipe_holds() -> None:
    (case,) = (case for case in CASES if case.name == "sys.stdin.read().split()")
    assert max(len(test.input) for test in case.tests) > 1 << 16
