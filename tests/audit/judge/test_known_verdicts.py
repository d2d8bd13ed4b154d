"""Files of submissions with known verdicts: read, judged in a real sandbox, and counted."""

import asyncio
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alpha_codium.audit.judge.known_verdicts import (
    CLASSES,
    KnownReport,
    KnownResult,
    KnownSubmission,
    KnownVerdicts,
    table,
)
from alpha_codium.errors import DatasetError
from alpha_codium.eval.languages import Languages
from alpha_codium.eval.results import CandidateResult
from alpha_codium.eval.running import run_evaluation
from alpha_codium.judge import Judge, Rules
from alpha_codium.sandbox import open_sandbox
from alpha_codium.verdict import Verdict
from tests.data.records import record, write_jsonl

DOUBLE = {"input": ["1\n", "2\n", "3\n"], "output": ["2\n", "4\n", "6\n"]}
RIGHT = "print(2 * int(input()))"
LOOP = "n = int(input())\nwhile n == 1: pass\nprint(2 * n)"
BROKEN_CHECKER = {"name": "program", "arguments": {"protocol": "icpc", "files": {"check.py": "def check("}}}


def submission(file: str, label: str, code: str, **more: object) -> dict:
    return {"file": file, "language": 3, "expected_verdict": label, "code": code} | more


def contest(name: str, *submissions: dict, **fields: object) -> dict:
    tests = {"public_tests": {"input": [], "output": []}, "private_tests": DOUBLE, "time_limit": {"seconds": 1}}
    return record(name, **tests | {"checker": {"type": "default", "flags": ""}} | fields) | {
        "submissions": list(submissions)
    }


ROWS = [
    contest(
        "double",
        submission("right.py", "AC", RIGHT),
        submission("right.?", "AC", "main", language=0),
        submission("wrong.py", "WA", "print(2)"),
        submission("crash.py", "RTE", "1 / 0"),
        submission("memory.py", "RTE", "bytearray(1 << 36)"),
        submission("loop.py", "TLE", LOOP),
        submission("partly.py", "PARTIAL", "n = int(input())\nprint(2 * n if n < 3 else 1 / 0)"),
        submission("other_class.py", "WA", "1 / 0", agrees=True),
        submission("too_quick.py", "TLE", RIGHT, agrees=False),
    ),
    contest("checked", submission("any.py", "AC", RIGHT), checker=BROKEN_CHECKER),
]


async def report_of(path: Path) -> KnownReport:
    known = KnownVerdicts(path)
    rules = Rules(time_limit_factor=1.0)
    async with open_sandbox("local", workers=2) as sandbox:
        languages = Languages(sandbox=sandbox)
        results = await run_evaluation(known.judged_in(languages), Judge(sandbox, rules))
    return known.report(results, languages, rules)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> KnownReport:
    return asyncio.run(report_of(write_jsonl(tmp_path_factory.mktemp("known") / "known.jsonl", ROWS)))


def by_file(report: KnownReport) -> dict[str, KnownResult]:
    return {result.submission.file: result for result in report.results}


@pytest.mark.thorough
def test_each_label_meets_the_verdict_of_a_real_judge(report: KnownReport) -> None:
    assert table(report.confirmed) == {
        "AC": {"accepted": 1, "internal_error": 1},
        "WA": {"runtime_error": 1, "wrong_answer": 1},
        "TLE": {"time_limit_exceeded": 1},
        "RTE": {"memory_limit_exceeded": 1, "runtime_error": 1},
        "PARTIAL": {"runtime_error": 1},
    }
    assert table(report.unconfirmed) == {"TLE": {"accepted": 1}}
    assert report.class_share == (5, 6)
    assert report.not_run == {"unknown": 1}
    assert not report.faultless, "one accepted program got no verdict"


def test_the_json_is_what_was_promised(report: KnownReport) -> None:
    values = report.to_json()
    assert set(values) == {"by_expected", "submissions", "confirmed", "not_run"}
    assert values["by_expected"]["TLE"] == {"accepted": 1, "time_limit_exceeded": 1}
    first, second, *_ = values["submissions"]
    assert first.pop("cpu_seconds") > 0
    assert first == {
        "problem": "double", "file": "right.py", "language": 3, "expected_verdict": "AC", "verdict": "accepted",
        "tests_passed": 3, "tests_total": 3,
    }  # fmt: skip
    assert (second["verdict"], second["reason"], second["tests_total"]) == (None, "not supported", None)
    assert [s["file"] for s in values["submissions"]] == [s["file"] for r in ROWS for s in r["submissions"]]


def test_what_differs_is_told_with_what_the_judge_saw(report: KnownReport) -> None:
    results = by_file(report)
    assert "its checker doesn't compile" in results["any.py"].reason
    assert results["other_class.py"].reason.startswith("test 1 of 3 is the first to fail; 0 passed; slowest test 0.")
    assert results["too_quick.py"].reason.startswith("passes all tests (3); slowest test 0.")
    assert results["partly.py"].reason == ""
    lines = list(report.lines())
    assert "the right class of rejection: 5 of 6 (83.3%)" in lines
    assert "not run: 1 in unknown: not supported" in lines
    assert sum(line.startswith("  other class: double: other_class.py (WA): runtime_error; ") for line in lines) == 1
    assert sum(line.startswith("  otherwise: double: too_quick.py (TLE, not confirmed): ") for line in lines) == 1
    assert sum(line.startswith("  not judged: checked: any.py (AC): ") for line in lines) == 1


def test_a_label_that_is_none_of_a_contest_leaves_out_its_submission_only(tmp_path: Path) -> None:
    rows = [contest("a", submission("x", "OTHER:TIME_LIMIT", RIGHT), submission("y", "AC", RIGHT))]
    known = KnownVerdicts(write_jsonl(tmp_path / "known.jsonl", rows))
    (task,) = known.judged_in(Languages())
    assert [entry.index for entry in task.entries] == [1]
    (line,) = (line for line in known.report([], Languages(), Rules()).lines() if "OTHER" in line)
    assert line.startswith("not run: 1 in python3: its expected_verdict 'OTHER:TIME_LIMIT' is none of AC, WA, ")


@pytest.mark.parametrize(
    ("submissions", "said"),
    [
        ("x", "must be a list"),
        ([3], r"submissions\[0\] must be an object"),
        ([submission("a", "AC", "") | {"code": None}], "code is missing"),
        ([submission("a", "AC", "", agrees="yes")], "agrees must be true, false or null, not 'yes'"),
        (
            [submission("a", "AC", "", language=99)],
            r"language 99 is unknown \(known: 0 unknown, .*, 3 python3, 4 java",
        ),
        ([submission("a", "AC", "", language=True)], "language True is unknown"),
        ([submission("a", "AC", "", language="Python 3")], r"'Python 3' is unknown \(did you mean 'python3'\?\)"),
        ([submission("a", "AC", "", language="pyhton3")], r"'pyhton3' is unknown \(did you mean 'python3'\?\)"),
        ([], "holds no submissions"),
    ],
)
def test_a_file_that_is_none_is_one_clear_line(tmp_path: Path, submissions: object, said: str) -> None:
    path = write_jsonl(tmp_path / "known.jsonl", [contest("a") | {"submissions": submissions}])
    with pytest.raises(DatasetError, match=said):
        KnownVerdicts(path)


def test_languages_are_read_by_number_and_by_name(tmp_path: Path) -> None:
    rows = [contest("a", *(submission("x", "AC", "", language=name) for name in (3, "python3", "Python3", 0, "ada")))]
    known = KnownVerdicts(write_jsonl(tmp_path / "known.jsonl", rows))
    (task,) = known.judged_in(Languages())
    assert [entry.index for entry in task.entries] == [0, 1, 2]


def test_other_languages_are_listed_with_their_word(tmp_path: Path) -> None:
    rows = [contest("a", *(submission("x", "AC", "", language=name) for name in ("cobol", "Fortran", "ada", "ada")))]
    report = KnownVerdicts(write_jsonl(tmp_path / "known.jsonl", rows)).report([], Languages(), Rules())
    assert report.not_run == {"cobol": 1, "fortran": 1, "ada": 2}
    assert not report.faultless
    assert "not run: 2 in ada: not supported" in report.lines()


@pytest.mark.parametrize(("agrees", "confirmed"), [({}, True), ({"agrees": True}, True), ({"agrees": False}, False),
                                                   ({"agrees": None}, False)])  # fmt: skip
def test_a_label_is_confirmed_where_agrees_is_true_or_absent(tmp_path: Path, agrees: dict, confirmed: bool) -> None:
    known = KnownVerdicts(write_jsonl(tmp_path / "known.jsonl", [contest("a", submission("x", "AC", "", **agrees))]))
    assert [s.confirmed for s in known.submissions["a"]] == [confirmed]


def test_problems_that_can_not_be_read_or_told_apart_are_refused_at_once(tmp_path: Path) -> None:
    one = contest("a", submission("x", "AC", RIGHT))
    with pytest.raises(DatasetError, match="two problems of the split are called 'a'"):
        KnownVerdicts(write_jsonl(tmp_path / "twins.jsonl", [one, one]))
    with pytest.raises(DatasetError, match="checker"):
        KnownVerdicts(write_jsonl(tmp_path / "checker.jsonl", [one | {"checker": 3}]))


RESULTS = st.lists(
    st.builds(
        lambda label, verdict, confirmed: KnownResult(
            KnownSubmission("p", "f", 3, label, "", confirmed),
            None if verdict is None else CandidateResult(0, "submission", verdict, 0, 0),
        ),
        st.sampled_from(sorted(CLASSES)),
        st.sampled_from([None, *Verdict]),
        st.booleans(),
    ),
    max_size=12,
)


@pytest.mark.thorough
@given(RESULTS)
def test_every_submission_is_counted_once(results: list[KnownResult]) -> None:
    report = KnownReport(tuple(results))
    counted = sum(n for row in report.to_json()["by_expected"].values() for n in row.values())
    assert counted + sum(report.not_run.values()) == len(results)
    assert len(report.confirmed) + len(report.unconfirmed) == counted
    right, total = report.class_share
    assert 0 <= right <= total <= len(report.confirmed)
    assert report.faultless == (all(result.right for result in report.confirmed) and len(report.confirmed) > 0)
    lines = list(report.lines())
    assert lines
    assert ("no submission with a confirmed label can be run: nothing was shown" in lines) == (not report.confirmed)


@given(RESULTS)
def test_no_verdict_is_right_for_no_label_and_a_right_class_is_right(results: list[KnownResult]) -> None:
    for result in results:
        if not result.judged:
            assert not result.right and result.reason
        elif result.right_class:
            assert result.right
