"""A small repository with tests, for the tests of what runs repositories."""

import sys
from pathlib import Path

from alpha_codium.repository.checkout import Checkout
from alpha_codium.repository.methods import find_method
from alpha_codium.repository.recipes import Recipe
from alpha_codium.repository.tasks import RepositoryTask

FILE = "shop/prices.py"
SOURCE = '''\
import functools

RATE = 2


def rounded(function):
    @functools.wraps(function)
    def wrapper(*args):
        return round(function(*args))
    return wrapper


class Price:
    def __init__(self, amount):
        """Keep the amount."""
        self.amount = amount

    @property
    @rounded
    def gross(self):
        """Return the amount with tax."""
        return self.amount * RATE

    @classmethod
    def free(cls):
        """Return a price of nothing."""
        return cls(0)


class Sale(Price):
    def __init__(self, amount, percent=50):
        """Reduce the amount."""
        super().__init__(amount)
        self.percent = percent

    def net(self):
        """Return the reduced amount."""
        return self.amount * self.percent // 100
'''
TESTS = """\
import unittest

from shop.prices import Price, Sale


class PriceTest(unittest.TestCase):
    def test_gross(self):
        print("OK")
        self.assertEqual(Price(3).gross, 6)

    def test_free(self):
        self.assertEqual(Price.free().amount, 0)

    @unittest.skip("not today")
    def test_skipped(self):
        pass


class SaleTest(unittest.TestCase):
    def test_net(self):
        for amount in (10, 20):
            with self.subTest(amount):
                self.assertEqual(Sale(amount).net(), amount // 2)
"""
NAMES = ("PriceTest.test_gross", "PriceTest.test_free", "PriceTest.test_skipped", "SaleTest.test_net")
GROSS, FREE, SKIPPED, NET = (f"test_prices.{name}" for name in NAMES)


def shop_in(folder: Path) -> Checkout:
    """Write the repository into an empty folder."""
    # Programs run as another user.
    folder.chmod(0o755)
    (folder / "shop").mkdir()
    (folder / "shop" / "__init__.py").touch()
    (folder / FILE).write_text(SOURCE)
    (folder / "test_prices.py").write_text(TESTS)
    return checkout_at(folder)


def checkout_at(folder: Path) -> Checkout:
    """Return the repository that is in a folder."""
    recipe = Recipe("shop", "shop", "1", ("shop",), "unittest", ("test_prices",))
    return Checkout(recipe, "1", folder, Path(sys.executable))


def task_of_shop(
    method: str, fail_to_pass: tuple[str, ...], pass_to_pass: tuple[str, ...] = (), label: str = "test_prices"
) -> RepositoryTask:
    """Return a task of the repository."""
    labels = (label,) if label else ()
    return RepositoryTask("shop", "1", FILE, labels, find_method(SOURCE, method), SOURCE, fail_to_pass, pass_to_pass)
