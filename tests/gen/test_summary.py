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
    assert "0 of 1 candidate passed the public tests, 1 to be tried again" in progress.status()
