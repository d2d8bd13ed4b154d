"""The numbers of a run so far."""

from alpha_codium.gen.budgets import Account, Usage
from alpha_codium.gen.sample import StageProgress
from alpha_codium.gen.summary import RunProgress
from alpha_codium.solution import BudgetOwner, Candidate, ErrorKind, SampleError


def test_answers_of_samples_that_are_not_finished_count():
    account = Account(BudgetOwner.RUN, running=[Usage(2, 100, 20, cost=0.5)])
    assert RunProgress(2, account).status().endswith("120 tokens, cost $0.5000")


def test_unfinished_samples_are_counted_by_their_stages():
    progress = RunProgress(2, Account(BudgetOwner.RUN))
    for sample, kind in ((("a", 0), "reflect"), (("a", 1), "reflect"), (("a", 0), "write_code")):
        progress.begin(StageProgress(sample, kind, 1, 2))
    assert progress.status().endswith("; 1 in write_code, 1 in reflect")


def test_samples_for_which_no_budget_was_left_are_not_among_the_candidates():
    progress = RunProgress(1, Account(BudgetOwner.RUN))
    progress.add(Candidate("a", 0, "pass", "m", "f"))
    progress.add(Candidate("b", 0, "", "m", "f", error=SampleError(ErrorKind.PROVIDER, "budget.run_calls is spent")))
    assert "done, 1 candidate, 1 to be tried again" in progress.status(), "there were no public tests"
    progress.add(Candidate("c", 0, "pass", "m", "f", public_tests_passed=1, public_tests_total=1))
    assert "1 of 2 candidates passed the public tests, 1 to be tried again" in progress.status()
