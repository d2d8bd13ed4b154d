"""Comparisons of long outputs, and checkers that fail."""

import json
import threading
import time
from pathlib import Path

import pytest

from alpha_codium import checkers
from alpha_codium.checkers import check_checker
from alpha_codium.data.load import load_problems
from alpha_codium.errors import DatasetError, UserError
from alpha_codium.eval.prepare import prepare_for_evaluation
from alpha_codium.eval.running import run_evaluation
from alpha_codium.judge import Judge, Rules, comparing
from alpha_codium.judge.comparing import NamedChecker, named_checker
from alpha_codium.judge.kinds import CheckerFailed
from alpha_codium.problem import CheckerSpec, Problem, TestCase
from alpha_codium.sandbox import Sandbox
from alpha_codium.verdict import Verdict

LONG = "7 " * 1000


@pytest.fixture
def soon_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have `LONG` compared in another process."""
    monkeypatch.setattr(comparing, "LONG", 1000)


def wrong() -> checkers.Checker:
    """A checker that fails if an output says so."""

    def check(_input: str, _expected: str, actual: str, /) -> bool:
        if "fail" in actual:
            raise KeyError("no such key")
        if "exit" in actual:
            raise SystemExit(0)
        return True

    return check


@pytest.fixture
def plugin(monkeypatch: pytest.MonkeyPatch) -> CheckerSpec:
    monkeypatch.setitem(checkers.BUILT_IN, "wrong", wrong)
    return CheckerSpec("wrong")


@pytest.mark.parametrize("said", ["fail", "exit"])
async def test_a_checker_that_raises_on_the_expected_output_too_gives_no_verdict_and_the_run_goes_on(
    sandbox: Sandbox, plugin: CheckerSpec, said: str
) -> None:
    tests = (TestCase("1", "1"), TestCase(said, said), TestCase("2", "1"))
    problems = [Problem(name, private_tests=tests, checker=plugin) for name in "pq"]
    rows = [{"task_name": name, "solution_candidates": ["print(1)", "print(input())"]} for name in "pq"]
    results = await run_evaluation(prepare_for_evaluation(rows, problems), Judge(sandbox, Rules()))
    for result in results:
        right, failed = result.candidates
        assert right.verdict is Verdict.ACCEPTED
        assert [test["verdict"] for test in failed.tests] == ["accepted", "internal_error", "accepted"]
        for words in (f"problem {result.name!r}", "candidate 1", "the checker 'wrong' raised"):
            assert words in failed.error


@pytest.mark.parametrize("said", ["fail", "exit"])
async def test_an_output_on_which_alone_a_checker_raises_is_wrong_and_says_why(
    sandbox: Sandbox, plugin: CheckerSpec, said: str
) -> None:
    judge = Judge(sandbox, Rules()).for_problem(Problem("p", checker=plugin))
    judgement = await judge.judge(f"print({said!r})", [TestCase("1", "1")])
    assert judgement.verdict is Verdict.WRONG_ANSWER
    assert "the checker 'wrong' raised" in judgement.tests[0].execution.stderr


@pytest.mark.thorough
def test_a_long_output_is_compared_in_another_process_with_the_same_result(soon_long: None) -> None:
    for spec in (CheckerSpec("deepmind"), CheckerSpec("float", {"abs": 1e-6})):
        check = named_checker(spec)
        for actual in (LONG, LONG + "7", LONG.strip() + "\n"):
            assert check("", LONG, actual) == check.checker("", LONG, actual), (spec, actual[-9:])


def test_a_long_comparison_that_reaches_its_limit_rejects_the_output_unless_the_expected_one_reaches_it_too(
    soon_long: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    check = NamedChecker(CheckerSpec("tokens"), checkers.tokens(), 1.0)
    slow = "import os, pickle, signal, sys\nrest = pickle.load(sys.stdin.buffer)\n" + (
        "if {}: os.kill(os.getpid(), signal.SIGXCPU)\nsys.stdout.buffer.write(pickle.dumps(True))"
    )
    monkeypatch.setattr(comparing, "CHILD", slow.format("rest[3] != rest[4]"))
    with pytest.raises(CheckerFailed, match="'tokens' can't compare this output in time") as failed:
        check("", LONG, LONG + "8")
    assert not failed.value.broken
    monkeypatch.setattr(comparing, "CHILD", slow.format("True"))
    with pytest.raises(CheckerFailed, match="'tokens' can't compare") as failed:
        check("", LONG, LONG + "8")
    assert failed.value.broken


def test_a_long_comparison_does_not_hold_the_interpreters_lock() -> None:
    """Whoever waits meanwhile gets on: counted, not timed."""
    turns, done = 0, threading.Event()

    def count() -> None:
        nonlocal turns
        while not done.is_set():
            time.sleep(0.001)
            turns += 1

    other = threading.Thread(target=count)
    other.start()
    named_checker(CheckerSpec("deepmind"))("", "5", "1" * 3_000_000)
    done.set()
    other.join()
    assert turns > 20


@pytest.mark.parametrize(
    ("checker", "said"),
    [
        ({"name": "tokenz"}, "there is no checker 'tokenz': did you mean 'tokens'"),
        ({"name": "float", "arguments": {"abs": "x"}}, "abs must be a number"),
        ({"name": "exact", "arguments": {"case": 1}}, "doesn't take the arguments"),
    ],
)
def test_an_unknown_checker_is_refused_when_problems_are_loaded(
    tmp_path: Path, checker: dict[str, object], said: str
) -> None:
    file = tmp_path / "problems.json"
    tests = {"input": ["1"], "output": ["1"]}
    file.write_text(json.dumps([{"name": "p", "description": "d", "private_tests": tests, "checker": checker}]))
    with pytest.raises(DatasetError) as caught:
        list(load_problems(str(file)))
    assert said.split(":", maxsplit=1)[0] in str(caught.value)
    assert "checker" in str(caught.value)


@pytest.mark.parametrize("name", ["program", "call_result", "tokens"])
def test_known_checkers_are_not_refused(name: str) -> None:
    check_checker(CheckerSpec(name))


@pytest.mark.parametrize("name", ["float", "call_result"])
@pytest.mark.parametrize("value", ["1e-6", -1, [1], float("nan"), float("inf"), True, None])
def test_a_tolerance_that_is_no_number_of_at_least_0_is_refused(name: str, value: object) -> None:
    for tolerance in ("abs", "rel"):
        with pytest.raises(UserError, match=f"{tolerance} must be a number of at least 0"):
            named_checker(CheckerSpec(name, {tolerance: value}))


def test_another_checker_is() -> None:
    with pytest.raises(UserError, match="there is no checker 'x'"):
        check_checker(CheckerSpec("x"))
