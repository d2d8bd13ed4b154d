"""Tests that nobody calls, in the forms of KodCode, BigCodeBench, Exercism and pytest's own docs, and two programs."""

RIGHT = """
import math
class Stack:
    def __init__(self): self.items = []
    def push(self, x): self.items.append(x)
    def pop(self):
        if not self.items: raise IndexError("pop from empty stack")
        return self.items.pop()
def add(a, b):
    print("adding")
    return a + b
def fetch(path):
    with open(path) as file: return file.read()
class Money:
    def __init__(self, x): self.x = x
    def __add__(self, y): return Money(self.x + y)
    def __str__(self): return str(self.x)
def filter(f, items): return [x for x in items if f(x)][::1]
"""
WRONG = (
    RIGHT.replace("a + b", "a - b")
    .replace("x + y", "x - y")
    .replace("self.items.pop()", "0")
    .replace("file.read()", "''")
    .replace("::1", "1:")
)
FORMS = {
    "a class that a suite runs": """
import sys, unittest
class TestIt(unittest.TestCase):
    def test_it(self): self.assertEqual(add(1, 2), 3)
if __name__ == "__main__":
    suite = unittest.TestSuite()
    suite.addTest(TestIt("test_it"))
    runner = unittest.TextTestRunner(verbosity=2)
    result = runner.run(suite)
    if result.failures:
        print("failed")
    sys.exit(not result.wasSuccessful())
""",
    "a class with a setting": """
import unittest
class TestIt(unittest.TestCase):
    def test_it(self): self.assertEqual(add(1, 2), 3)
TestIt.maxDiff = None
""",
    "functions in a list that is not run": """
def test_it():
    assert add(1, 2) == 3
tests = [test_it]
print(test_it.__name__)
""",
    "a main function whose result is the exit status": """
import sys
def main():
    assert add(1, 2) == 3
    return 0
if __name__ == "__main__":
    sys.exit(main())
""",
    "an exit status by what failed": """
import sys
failed = [n for n in range(3) if add(n, 1) != n + 1]
sys.exit(1 if failed else 0)
""",
    "a function that is called where its failure is caught": """
def test_it():
    assert add(1, 2) == 3
try:
    test_it()
except AssertionError:
    print("failed")
""",
    "arithmetic with an object of an imported class": """
from solution import Money
def test_it():
    assert str(Money(2) + 1) == "3"
""",
    "fixtures that are kept for a class": """
import pytest
from solution import Stack, add
ends = []
class TestKept:
    @pytest.fixture(scope='class')
    def stack(self):
        yield Stack()
        ends.append(1)
    def test_push(self, stack): stack.push(add(1, 2))
    def test_pop(self, stack): assert stack.pop() == 3 and not ends
class TestAgain(TestKept):
    def test_pop(self, stack): assert stack.pop() == 3 and ends == [1]
def test_end(): assert ends == [1, 1]
""",
    "functions of KodCode": """
from solution import add

def test_one():
    assert add(1, 2) == 3
def test_two():
    assert add(-1, 1) == 0
""",
    "an import in a function": """
def test_add():
    from your_module import add as plus
    assert plus(1, 2) == 3
""",
    "an import in parentheses": """
from main import (
    add,
    Stack as S,
)
def test_it():
    assert add(1, 2) == 3
    s = S()
    s.push(5)
    assert s.pop() == 5
""",
    "everything imported": """
from solution import *
def test_it():
    assert add(1, 2) == 3
""",
    "a module": """
import solution
def test_it():
    assert solution.add(1, 2) == 3
""",
    "a module under another name": """
import solution as s, math
def test_it():
    assert s.add(1, math.floor(2.5)) == 3
""",
    "a name that Python has, too": """
from list_ops import filter as list_ops_filter
def test_it():
    assert list_ops_filter(lambda x: x > 1, [1, 2, 3]) == [2, 3]
""",
    "a relative import": """
from .exercise import add
def test_it():
    assert add(1, 2) == 3
""",
    "a module with the exercise's name": """
from two_fer_adding import add
def test_it():
    assert add(1, 2) == 3
""",
    "an import without functions": """
from solution import add
assert add(1, 2) == 3
""",
    "a class of BigCodeBench": """
import unittest
class TestCases(unittest.TestCase):
    def test_case_1(self):
        self.assertEqual(add(1, 2), 3)
    def test_case_2(self):
        self.assertTrue(add(1, 1) == 2)
""",
    "a class of unittest with all its hooks": """
from unittest import TestCase
import unittest
from solution import Stack
class StackTest(TestCase):
    @classmethod
    def setUpClass(cls): cls.first = 7
    def setUp(self):
        self.s = Stack()
        self.s.push(self.first)
    def tearDown(self): del self.s
    def test_pop(self):
        self.assertEqual(self.s.pop(), 7)
    def test_empty(self):
        self.s.pop()
        with self.assertRaises(IndexError):
            Stack().pop()
    @unittest.skip('later')
    def test_later(self): self.fail('no')
    @unittest.expectedFailure
    def test_no(self): self.fail('no')
    def test_many(self):
        for x in (1, 2):
            with self.subTest(x=x):
                self.s.push(x)
                self.assertEqual(self.s.pop(), x)
if __name__ == '__main__':
    unittest.main()
""",
    "a class of unittest below one without tests": """
import unittest
class Base(unittest.TestCase):
    def of(self, x): self.assertEqual(add(x, 1), x + 1)
class TestIt(Base):
    def test_it(self): self.of(4)
""",
    "asynchronous unittest": """
import unittest
class T(unittest.IsolatedAsyncioTestCase):
    async def test_it(self): self.assertEqual(add(1, 2), 3)
""",
    "unittest.main at the end": """
import unittest
class T(unittest.TestCase):
    def test_it(self): self.assertEqual(add(1, 2), 3)
unittest.main()
""",
    "a suite of unittest": """
import unittest
class T(unittest.TestCase):
    def test_it(self): self.assertEqual(add(1, 2), 3)
def run_tests():
    suite = unittest.TestSuite()
    suite.addTest(unittest.makeSuite(T))
    unittest.TextTestRunner().run(suite)
if __name__ == '__main__':
    run_tests()
""",
    "parametrize": """
import pytest
@pytest.mark.parametrize('a, b, expected', [(1, 2, 3), pytest.param(0, 5, 5, id='zero')])
@pytest.mark.parametrize('more', [0, 1])
def test_add(a, b, expected, more):
    assert add(a, b) + more == expected + more
""",
    "parametrize, one name": """
import pytest
@pytest.mark.parametrize('x', range(1, 4))
def test_add(x):
    assert add(x, x) == 2 * x
""",
    "parametrize, names in a list": """
import pytest
ROWS = [[1, 2]]
@pytest.mark.parametrize(['a', 'b'], ROWS, ids=['x'])
def test_add(a, b):
    assert add(a, b) == 3
""",
    "a class of pytest": """
from solution import Stack
class TestStack:
    def setup_method(self):
        self.s = Stack()
    def test_push(self):
        self.s.push(3)
        assert self.s.pop() == 3
""",
    "fixtures": """
import pytest
from solution import Stack
@pytest.fixture
def three():
    return 3
@pytest.fixture(scope='module')
def stack(three):
    s = Stack()
    s.push(three)
    yield s
def test_pop(stack, three):
    assert stack.pop() == three
""",
    "fixtures with values, and for all": """
import pytest
SEEN = []
@pytest.fixture(autouse=True)
def note():
    SEEN.append(1)
@pytest.fixture(params=[1, 2])
def x(request):
    return request.param
def test_it(x):
    assert add(x, 1) == x + len(SEEN[:1])
""",
    "a fixture that a class names": """
import pytest
SEEN = []
@pytest.fixture
def note():
    SEEN.append(1)
@pytest.mark.usefixtures("note")
class TestIt:
    def test_it(self):
        assert add(len(SEEN), 2) == 3
""",
    "a fixture of a class": """
import pytest
class TestIt:
    @pytest.fixture(autouse=True)
    def prepare(self):
        self.x = 4
    def test_it(self):
        assert add(self.x, 1) == 5
""",
    "pytest.raises and approx": """
import pytest
from solution import Stack
def test_it():
    with pytest.raises(IndexError, match='empty') as info:
        Stack().pop()
    assert 'pop' in str(info.value)
    assert add(0.1, 0.2) == pytest.approx(0.3)
""",
    "capsys": """
def test_it(capsys):
    assert add(1, 2) == 3
    assert capsys.readouterr().out == 'adding\\n'
    assert capsys.readouterr().out == ''
""",
    "an asynchronous function": """
import pytest
@pytest.mark.asyncio
async def test_it():
    assert add(1, 2) == 3
""",
    "what is skipped": """
import pytest
@pytest.mark.skip(reason='no')
def test_no():
    assert False
@pytest.mark.xfail
def test_no_either():
    assert False
@pytest.mark.skipif(True, reason='no')
def test_nor_this():
    assert False
def test_it():
    assert add(1, 2) == 3
""",
    "tests that the code calls": """
def test_it(a, b):
    assert add(a, b) == 3
test_it(1, 2)
""",
    "tests that a test calls": """
def test_one(a, b):
    assert add(a, b) == 3
def test_it():
    test_one(1, 2)
""",
    "tests called where a file is run": """
def test_it():
    assert add(1, 2) == 3
if __name__ == '__main__':
    test_it()
    print('all passed')
""",
    "setup_module": """
def setup_module(module):
    global x
    x = 3
def test_it():
    assert add(1, 2) == x
""",
}
# These have to run in the program's process.
TOGETHER = {
    "a patch": """
from unittest.mock import patch
def test_it():
    with patch('builtins.print') as printed:
        assert add(1, 2) == 3
    printed.assert_called_once_with('adding')
""",
    "patch as a decorator": """
import unittest
from unittest.mock import patch
class TestCases(unittest.TestCase):
    @patch('builtins.print')
    def test_it(self, printed):
        self.assertEqual(add(1, 2), 3)
""",
    "a patch of the program": """
from unittest.mock import patch
from solution import add
@patch('solution.fetch', return_value=5)
def test_it(fetching):
    assert fetch('x') == 5
    assert add(1, 2) == 3
""",
    "a patch of what the program imports": """
from unittest.mock import patch
import solution
@patch('solution.math.floor', return_value=3)
@patch('__main__.fetch', return_value=3)
def test_it(fetching, floor):
    assert solution.math.floor(1) == solution.fetch('x') == solution.add(1, 2)
""",
    "a variable of the module that a test sets": """
import solution
def test_it():
    solution.limit = 3
    assert solution.limit == solution.add(1, 2)
""",
    "monkeypatch": """
def test_it(monkeypatch):
    monkeypatch.setattr('builtins.print', lambda *_: None)
    assert add(1, 2) == 3
""",
    "tmp_path": """
def test_it(tmp_path):
    (tmp_path / 'a').write_text('x')
    assert fetch(tmp_path / 'a') == 'x'
""",
}
