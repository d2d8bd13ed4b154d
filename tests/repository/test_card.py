"""The card of a dataset of tasks."""

from dataclasses import replace

from alpha_codium.repository.building import LabelTasks
from alpha_codium.repository.card import card_of
from alpha_codium.repository.checkout import Checkout
from tests.repository.shop import NET, task_of_shop


def test_the_card_names_the_repository_the_licence_the_counts_and_the_certificate(checkout: Checkout) -> None:
    task = replace(
        task_of_shop("Sale.net", (NET,)), bug="operator", bug_crashes=True, mutants=8, survivors=("line 1: a",) * 2
    )
    licensed = replace(checkout, recipe=replace(checkout.recipe, licence="MIT"))
    built = [LabelTasks("test_prices", (task, task), {"its tests find no bug": 3}, 1.0, {"1": 5, "2": 4}, {"4": 3})]
    card = card_of(licensed, built, 7, 10, "CPython 3.11.7")
    for text in (
        "license: mit\n",
        "# Methods of shop 1\n",
        "| `completion` | 2 | ",
        "Bugs: operator 2.",
        "In 2 of 2, no test fails by an assertion",
        "Answers to 0 of 2 are controlled",
        "| mutation score | 0.75 | 0.75 | 0.75 |",
        "as it is was run 10 times, and those without the body, without the completion and with the\nbug 4 times each",
        "In the first 2 runs of each, there were 4 at a time; in the others, 1 to 2 at a time (m",
        f"- SHA-256 of the names and contents of its files: {checkout.digest()}",
        "\nCPython 3.11.7, TZ=UTC",
        "(seed 7)",
        "| test_prices | 2 | its tests find no bug: 3 |",
        "| all | 2 | its tests find no bug: 3 |",
    ):
        assert text in card
    assert "license: unknown" in card_of(checkout, built, 7, 10, "CPython 3.11.7")
