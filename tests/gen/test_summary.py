"""The numbers of a run so far."""

from alpha_codium.gen.budgets import Account, Usage
from alpha_codium.gen.summary import RunProgress
from alpha_codium.solution import BudgetOwner


def test_answers_of_samples_that_are_not_finished_count():
    account = Account(BudgetOwner.RUN, running=[Usage(2, 100, 20, cost=0.5)])
    assert RunProgress(2, account).status().endswith("120 tokens, cost $0.5000")
