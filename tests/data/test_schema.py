import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alpha_codium.data.kattis import checker_of_package
from alpha_codium.data.schema import (
    DIFFICULTY_NAMES,
    Fingerprint,
    features,
    problem_from_record,
    record_from_problem,
    stored_record,
)
from alpha_codium.errors import DatasetError
from alpha_codium.problem import CheckerSpec, ExecutionSpec, Solution, TestCase
from tests.data.records import RECORDS, record
from tests.support import shared_path


@pytest.mark.thorough
@given(RECORDS)
def test_a_record_becomes_a_problem_and_back_without_loss(raw):
    problem = problem_from_record(raw)
    assert problem_from_record(record_from_problem(problem)) == problem


@pytest.mark.thorough
@given(RECORDS)
def test_a_stored_record_is_the_same_problem_and_stays_itself(raw):
    stored = stored_record(raw)
    assert problem_from_record(stored) == problem_from_record(raw)
    assert stored_record(stored) == stored
    assert set(stored) == set(features())


@pytest.mark.thorough
@given(st.lists(RECORDS, max_size=5))
def test_arrow_gives_back_the_very_record_that_was_stored(raws):
    import pyarrow as pa

    stored = [stored_record(raw) for raw in raws]
    found = pa.Table.from_pylist(stored, schema=features().arrow_schema).to_pylist()
    for each in found:
        # Records of tests in Python don't have it, so that fingerprints stay the same.
        if each["execution"] is not None and each["execution"]["language"] is None:
            del each["execution"]["language"]
    assert found == stored


@pytest.mark.thorough
@given(st.lists(RECORDS, min_size=2, max_size=4, unique_by=lambda raw: raw["name"]))
def test_a_fingerprint_tells_the_order_of_records(raws):
    def fingerprint(rows):
        digest = Fingerprint()
        for row in rows:
            digest.add(stored_record(row))
        return digest.hex

    assert fingerprint(raws) == fingerprint(raws)
    assert fingerprint(raws) != fingerprint(raws[::-1])


def test_real_problems_are_read_whole():
    for line in shared_path("data/codecontests_train.jsonl").open():
        raw = json.loads(line)
        problem = problem_from_record(raw)
        assert [test.output for test in problem.private_tests] == raw["private_tests"]["output"]
        assert problem.time_limit_seconds is None
        assert problem.memory_limit_bytes is None
        assert [solution.language for solution in problem.solutions] == ["python3"]


def test_checkers_of_icpc_packages_become_ours():
    found = {}
    for line in shared_path("data/icpc_known_verdict.jsonl").open():
        raw = json.loads(line)
        found[raw["checker"]["type"], raw["checker"]["flags"]] = problem_from_record(raw).checker
    assert found["default", ""] == CheckerSpec("tokens", {"case_sensitive": False})
    assert found["default", "float_absolute_tolerance 1e-8"] == CheckerSpec(
        "float", {"abs": 1e-8, "rel": 0.0, "case_sensitive": False}
    )
    assert found["custom", ""].name == "program"
    assert found["custom", ""].arguments["files"]


@pytest.mark.parametrize(
    ("flags", "spec"),
    [
        ("case_sensitive", CheckerSpec("tokens", {"case_sensitive": True})),
        ("case_sensitive space_change_sensitive", CheckerSpec("exact")),
        ("float_tolerance 1e-6", CheckerSpec("float", {"abs": 1e-6, "rel": 1e-6, "case_sensitive": False})),
        ("float_relative_tolerance 1e-4", CheckerSpec("float", {"abs": 0.0, "rel": 1e-4, "case_sensitive": False})),
    ],
)
def test_flags_of_the_default_validator_are_understood(flags, spec):
    assert checker_of_package({"type": "default", "flags": flags}) == spec


@pytest.mark.parametrize(
    ("package", "protocol"),
    [
        ({"type": "custom interactive"}, "icpc"),
        ({"type": "custom", "protocol": "icpc interactive"}, "icpc"),
        ({"type": "custom", "protocol": "Testlib, interactive"}, "testlib"),
    ],
)
def test_an_interactive_validator_becomes_an_interactor_rather_than_a_checker(package, protocol):
    files = {"v.py": "pass"}
    expected = CheckerSpec("interactor", {"protocol": protocol, "flags": "", "files": files})
    assert checker_of_package({**package, "files": files}) == expected
    problem = problem_from_record({"name": "p", "checker": {**package, "files": files}})
    assert problem.checker == expected


def test_a_validator_that_gives_scores_is_refused():
    with pytest.raises(ValueError, match="type must be"):
        checker_of_package({"type": "custom interactive score", "files": {"v.py": "pass"}})


def test_a_problem_by_hand_needs_little():
    problem = problem_from_record(
        {
            "name": "p",
            "public_tests": [{"input": "1", "output": "2"}],
            "time_limit": 1.5,
            "solutions": {"language": ["python3", "CPP"], "solution": ["a", "b"]},
            "checker": {"name": "float", "arguments": '{"abs": 0.1}'},
        }
    )
    assert problem.public_tests == (TestCase("1", "2"),)
    assert problem.time_limit_seconds == 1.5
    assert problem.solutions == (Solution("python3", "a"), Solution("cpp", "b"))
    assert problem.checker == CheckerSpec("float", {"abs": 0.1})


def test_how_a_program_is_run_is_kept_whole_and_is_by_stdin_where_nothing_is_said():
    execution = {"kind": "assertions", "entry_point": "f", "test_code": "assert f(1)\r\n", "setup_code": "import math"}
    raw = record(execution=execution)
    for each in (raw, stored_record(raw), record_from_problem(problem_from_record(raw))):
        assert problem_from_record(each).execution == ExecutionSpec(**execution)
        assert stored_record(each)["execution"] == execution
    for nothing in (None, {}, {"kind": None}):
        assert problem_from_record(record(execution=nothing)).execution == ExecutionSpec()


@pytest.mark.parametrize("limit", [None, {"seconds": 0, "nanos": 0}, 0])
def test_a_limit_of_null_or_zero_is_no_limit(limit):
    assert problem_from_record(record(time_limit=limit, memory_limit_bytes=0)).time_limit_seconds is None


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"name": None}, "name is missing"),
        ({"name": " "}, "name is empty"),
        ({"name": 7}, "name must be text, not a number"),
        ({"description": ["x"]}, "description must be text, not a list"),
        ({"public_tests": {"input": ["1", "2"], "output": ["1"]}}, "has 2 of input but 1 of output"),
        ({"public_tests": {"inputs": ["1"], "output": ["1"]}}, "unknown key 'inputs' (did you mean 'input'?)"),
        ({"public_tests": {"input": [1], "output": ["1"]}}, "public_tests.input[0] must be text, not a number"),
        ({"public_tests": [{"input": "1"}]}, "public_tests[0] must be an object with input and output"),
        ({"public_tests": "1"}, "public_tests must be a list, not text"),
        ({"private_tests": {"input": "1", "output": ["1"]}}, "private_tests.input must be a list, not text"),
        ({"source": "codeforces"}, "source must be a number, not text"),
        ({"difficulty": 1.5}, "difficulty must be a whole number"),
        ({"cf_rating": 10**400}, "cf_rating must fit into 64 bits"),
        ({"cf_points": float("nan")}, "cf_points must be a finite number"),
        ({"solutions": {"language": ["pyton3"], "solution": [""]}}, "'pyton3' is unknown (did you mean 'python3'?)"),
        ({"solutions": {"language": [99], "solution": [""]}}, "99 is unknown: it goes from 0 to 13"),
        ({"time_limit": {"seconds": -1}}, "time_limit is below 0"),
        ({"time_limit": "2 s"}, "time_limit must be a number, not text"),
        ({"memory_limit_bytes": -1}, "memory_limit_bytes is below 0"),
        ({"checker": "float"}, "checker must be an object"),
        ({"checker": {"name": "float", "arguments": "{"}}, "checker can't be read"),
        ({"checker": {"type": "default", "flags": "float_tolerance x"}}, "needs a number"),
        ({"checker": {"type": "default", "flags": "loose"}}, "unknown flag 'loose'"),
        ({"is_description_translated": "no"}, "must be true or false"),
        ({"execution": "call"}, "execution must be an object"),
        ({"execution": {"kind": "cal"}}, "execution.kind 'cal' is unknown (did you mean 'call'?)"),
        ({"execution": {"entrypoint": "f"}}, "unknown key 'entrypoint' (did you mean 'entry_point'?)"),
        ({"execution": {"kind": "call", "entry_point": 1}}, "execution.entry_point must be text"),
        ({"execution": {"kind": "call"}}, "execution.entry_point must be the name of the function to call, not ''"),
        ({"description": "\ud800"}, "invalid Unicode"),
    ],
)
def test_a_malformed_field_is_named_with_its_record(fields, complaint):
    for read in (problem_from_record, stored_record):
        with pytest.raises(DatasetError) as caught:
            read(record(**fields), "problems.jsonl, line 3")
        assert str(caught.value).startswith("problems.jsonl, line 3")
        assert complaint in str(caught.value)
        assert "\n" not in str(caught.value)


def test_a_record_of_another_schema_is_told_what_it_has():
    with pytest.raises(DatasetError, match=r"CodeContests schema \(it has: prompt, task_id\)"):
        problem_from_record({"task_id": "HumanEval/0", "prompt": "def f():"})


def test_difficulties_have_the_names_of_the_proto():
    assert (DIFFICULTY_NAMES[1], DIFFICULTY_NAMES[6], DIFFICULTY_NAMES[7], DIFFICULTY_NAMES[28]) == (
        "easy",
        "external",
        "A",
        "V",
    )
    stored = stored_record(record(source=2, difficulty=8, solutions={"language": [3, 4], "solution": ["a", "b"]}))
    assert (stored["source_name"], stored["difficulty_name"]) == ("codeforces", "B")
    assert stored["solutions"]["language_name"] == ["python3", "java"]
