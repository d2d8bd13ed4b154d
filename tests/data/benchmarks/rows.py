"""Small records of each benchmark, by hand, in its own schema."""

from typing import Any

HUMANEVAL_PROMPT = '''from typing import List


def shifted(n: int) -> int:
    """One more."""
    return n + 1


def total(numbers: List[int]) -> int:
    """ The sum of shifted numbers.
    >>> total([1, 2])
    5
    """
'''
HUMANEVAL_TEST = """

METADATA = {'author': 'us'}


def check(candidate):
    assert candidate([1, 2]) == 5
    assert candidate([]) == 0
"""


def humaneval_row(**fields: Any) -> dict[str, Any]:
    return {
        "task_id": "HumanEval/900",
        "prompt": HUMANEVAL_PROMPT,
        "entry_point": "total",
        "canonical_solution": "    return sum(map(shifted, numbers))\n",
        "test": HUMANEVAL_TEST,
    } | fields


def mbpp_row(**fields: Any) -> dict[str, Any]:
    return {
        "task_id": 900,
        "text": "Write a function to add two numbers.",
        "code": "def helper(a):\r\n\treturn a\r\ndef add(a, b):\r\n\treturn helper(a) + b",
        "test_list": ["assert add(1, 2) == 3", "assert add(0, 0) == 0", "assert set([add(2, 2)]) == set([4])"],
        "test_setup_code": "",
        "challenge_test_list": ["assert add(10**20, 1) == 10**20 + 1"],
    } | fields


def sanitized_row(**fields: Any) -> dict[str, Any]:
    plain = mbpp_row()
    return {
        "source_file": "Benchmark Questions Verification V2.ipynb",
        "task_id": 900,
        "prompt": plain["text"],
        "code": plain["code"],
        "test_imports": ["import math"],
        "test_list": ["assert math.isclose(add(1, 2), 3)", "assert add(0, 0) == 0"],
    } | fields


def multipl_e_row(**fields: Any) -> dict[str, Any]:
    return {
        "name": "mbpp_900_add",
        "language": "py",
        "prompt": 'from typing import List\n\ndef add(a: int, b: int) -> int:\n    """\n\tAdd two numbers.\n\t"""\n',
        "doctests": "transform",
        "original": "/somewhere/mbpp_900_add.py",
        "prompt_terminology": "reworded",
        "tests": "def check(candidate):\n    assert candidate(1, 2) == 3\n\ndef test_check():\n    check(add)\n\n"
        "test_check()\n",
        "stop_tokens": ["\ndef", "\n#"],
    } | fields


def evalplus_row(**fields: Any) -> dict[str, Any]:
    return {
        "task_id": "HumanEval/900",
        "prompt": HUMANEVAL_PROMPT,
        "entry_point": "total",
        "canonical_solution": "    return sum(map(shifted, numbers))\n",
        "contract": "    assert all(type(n) is int for n in numbers)\n",
        "base_input": [[[1, 2]], [[]]],
        "plus_input": [[[-5, 7, 10000000000]], [[0]]],
        "atol": 0,
    } | fields


def mbpp_plus_row(task: int, name: str, code: str, inputs: list[Any], **fields: Any) -> dict[str, Any]:
    return {
        "task_id": f"Mbpp/{task}",
        "prompt": f'"""\nWrite a function {name}.\nassert {name}(...) == ...\n"""\n',
        "entry_point": name,
        "canonical_solution": f"\n{code}\n",
        "contract": "",
        "assertion": "",
        "base_input": inputs[:1],
        "plus_input": inputs[1:],
        "atol": 0,
    } | fields


# Accepts two numbers with the sum of the input, in any order.
CHECKER = """
import sys

n = int(open(sys.argv[1]).read())
try:
    a, b = map(int, open(sys.argv[3]).read().split())
    print(100 if a + b == n else 0)
except ValueError:
    print(0)
"""


def codeforces_row(**fields: object) -> dict:
    """A record in the schema of open-r1/codeforces."""
    row: dict = {
        "id": "9/A", "aliases": None, "contest_id": "9", "contest_name": "Round", "index": "A", "time_limit": 1.5,
        "memory_limit": 64.0, "title": "Two parts", "description": "Write n as a sum of two numbers.",
        "input_format": "The number n.", "output_format": "Two numbers.", "interaction_format": None, "note": None,
        "examples": [{"input": "5", "output": "2 3"}], "rating": 800, "tags": ["math"], "testset_size": 1,
        "official_tests": [{"input": "7", "output": "3 4"}], "official_tests_complete": True, "input_mode": "stdio",
        "generated_checker": CHECKER, "executable": True, "generated_tests": 0,
    }  # fmt: skip
    return row | fields
