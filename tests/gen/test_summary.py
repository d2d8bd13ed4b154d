"""The numbers of a run so far."""

from alpha_codium.gen.budgets import Account, Usage
from alpha_codium.gen.sample import StageProgress
from alpha_codium.gen.summary import RunProgress
from alpha_codium.solution import BudgetOwner


def test_answers_of_samples_that_are_not_finished_count():
    account = Account(BudgetOwner.RUN, running=[Usage(2, 100, 20, cost=0.5)])
    assert RunProgress(2, account).status().endswith("120 tokens, cost $0.5000")


def test_unfinished_samples_are_counted_by_their_stages():
    progress = RunProgress(2, Account(BudgetOwner.RUN))
    for sample, kind in ((("a", 0), "reflect"), (("a", 1), "reflect"), (("a", 0), "write_code")):
        progress.begin(StageProgress(sample, kind, 1, 2))
    assert progress.status().endswith("; 1 in write_code, 1 in reflect")
