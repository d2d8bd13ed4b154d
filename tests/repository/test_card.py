"""The card of a dataset of tasks."""

from dataclasses import replace

from alpha_codium.repository.building import LabelTasks
from alpha_codium.repository.card import card_of
from alpha_codium.repository.checkout import Checkout
from tests.repository.shop import NET, task_of_shop


def test_the_card_names_the_repository_the_licence_the_counts_and_the_certificate(checkout: Checkout) -> None:
    task = replace(task_of_shop("Sale.net", (NET,)), bug="operator")
    licensed = replace(checkout, recipe=replace(checkout.recipe, licence="MIT"))
    built = [LabelTasks("test_prices", (task, task), {"its tests find no bug": 3}, 1.0)]
    card = card_of(licensed, built, 10, "3.11.7")
    for text in (
        "license: mit\n",
        "# Methods of shop 1\n",
        "| `completion` | 2 | ",
        "Bugs: operator 2.",
        "10 times each",
        "8 times beside",
        "Python 3.11.7, TZ=UTC",
        "| test_prices | 2 | its tests find no bug: 3 |",
    ):
        assert text in card
    assert "license: unknown" in card_of(checkout, built, 10, "3.11.7")
