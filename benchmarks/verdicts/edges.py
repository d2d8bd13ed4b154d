"""Programs for cases that are rare in published ones: every status, and tests that can't be judged."""

from collections.abc import Iterator
from pathlib import Path

from benchmarks.verdicts.rows import FULL, STOP_EARLY, Job, Row


def edges(_data: Path) -> Iterator[Job]:
    """Yield jobs for rare cases: every status, every kind of tests, invalid tests and problems."""
    for mode in (FULL, STOP_EARLY):
        for problem, programs in (
            (ADDING, (*PRINTING, *ANYWHERE)),
            (UNORDERED, PRINTING),
            (FILES, (*FILING, *PRINTING[:2])),
            (CALLS, (*DEFINING, *ANYWHERE)),
            (ASSERTIONS, (*DEFINING, *ANYWHERE)),
            (TOGETHER, NAMING),
            (FAULTY_CALLS, DEFINING[:3]),
            (FAULTY_ASSERTIONS, DEFINING[:3]),
            (OTHER_CHECKER, DEFINING[:2]),
            (NO_TESTS, PRINTING[:2]),
        ):
            for index, program in enumerate(programs):
                yield Job("edges", problem["name"], problem, ((index, program),), mode)


def _tests(*pairs: tuple[str, str]) -> Row:
    return {"input": [pair[0] for pair in pairs], "output": [pair[1] for pair in pairs]}


SUMS = _tests(("1 2\n", "3\n"), ("2 2\n", "4\n"), ("-1 1\n", "0\n"), ("10 -3\n", "7\n"))
# Limits that are reached quickly, and far enough apart that a program always reaches the same one.
TIGHT = {"time_limit": 0.3, "memory_limit_bytes": 1 << 28}
ADDING = {"name": "adding", "public_tests": _tests(("0 0\n", "0\n")), "private_tests": SUMS, **TIGHT}
UNORDERED = {
    "name": "unordered",
    "private_tests": _tests(("1 2\n", "3\n"), ("a b\n", "b\na\n")),
    "checker": {"name": "unordered_lines"},
}
FILES = {"name": "files", "private_tests": SUMS, "input_file": "sum.in", "output_file": "sum.out"}
CALLING = {"kind": "call", "entry_point": "add", "setup_code": "import math\nHELPER = 0\n"}
ASSERTING = CALLING | {"kind": "assertions"}
CALLS = {
    "name": "calls",
    "private_tests": _tests(("[1, 2]", "3"), ("[2, 2]", "[4]"), ("[-1, 1]", "0.0"), ("[[1], [2]]", "[1, 2]")),
    "execution": CALLING,
    **TIGHT,
}
ASSERTIONS = {
    "name": "assertions",
    "private_tests": _tests(
        ("assert add(1, 2) == 3", ""),
        ("for i in range(5):\n    assert add(i, i) == 2 * i, i", ""),
        ("assert isinstance(add([1], [2]), list)\nassert add([1], [2]) == [1, 2]", ""),
        ("try:\n    add(1, None)\nexcept TypeError:\n    pass\nelse:\n    assert False", ""),
        ("class Mine(int):\n    pass\nassert add(Mine(1), 2) == 3", ""),
    ),
    "execution": ASSERTING | {"test_code": "def check(candidate):\n    assert candidate(2, 2) == 4\n"},
    **TIGHT,
}
# Assertions that have to run in the program's process, or trust comparisons by its objects.
TOGETHER = {
    "name": "together",
    "private_tests": _tests(
        ("class Mine(Name):\n    pass\nassert Mine('a').text == 'a'", ""),
        ("from unittest.mock import patch\nwith patch('builtins.len', lambda x: 7):\n    assert size('a') == 7", ""),
        ("assert Name('a') == Name('a')\nassert Name('a') != Name('b')", ""),
    ),
    "execution": {"kind": "assertions", "entry_point": "size"},
}
FAULTY_CALLS = {
    "name": "faulty calls",
    "private_tests": _tests(("[1, 2]", "3"), ("no JSON", "3"), ('{"a": 1}', "1"), ("[1, 1]", "none")),
    "execution": CALLING,
}
FAULTY_ASSERTIONS = {
    "name": "faulty assertions",
    "private_tests": _tests(("assert add(1, 2) == 3", ""), ("assert (", ""), ("add(1, 2)", "")),
    "execution": ASSERTING,
}
OTHER_CHECKER = CALLS | {"name": "other checker", "checker": {"name": "exact"}}
NO_TESTS = {"name": "no tests"}

PRINTING = (
    "print(sum(map(int, input().split())))",
    "print(3)",
    "import sys\nprint(sum(map(int, input().split())))\nsys.exit(3)",
    "import os\nprint(sum(map(int, input().split())), flush=True)\nos._exit(0)",
    "import sys\nprint(*reversed(input().split()), sep='\\n')\nprint('noise', file=sys.stderr)",
    "import sys\nsys.stdout.buffer.write(b'\\xff\\xfe3\\n')",
    "print(sum(map(int, input().split())), end='\\0')",
    "print('3.0')",
    "print(float(sum(map(int, input().split()))))",
    "input()\ninput()",
)
FILING = (
    "with open('sum.in') as i, open('sum.out', 'w') as o:\n    o.write(str(sum(map(int, i.read().split()))))",
    "open('sum.out', 'w').write('3')\nprint(4)",
)
DEFINING = (
    "def add(a, b):\n    return a + b",
    "def add(a, b):\n    return 3",
    "class Solution:\n    def add(self, a, b):\n        return a + b",
    "add = lambda a, b: math.fsum((a, b)) + HELPER",
    "def add(a, b):\n    print('noise')\n    return (a + b,)",
    "def add(a, b):\n    return object()",
    "def add(a, b):\n    yield a + b",
    "class Equal:\n    def __eq__(self, other):\n        return True\ndef add(a, b):\n    return Equal()",
    "import os\ndef add(a, b):\n    print('passed', flush=True)\n    os._exit(0)",
    "def add(a):\n    return a",
    "def other(a, b):\n    return a + b",
    "def add(a, b):\n    return add(a, b)",
    "def add(a, b):\n    while True:\n        pass",
    "def add(a, b):\n    raise AssertionError('mine')",
)
NAMING = (
    """\
class Name:
    def __init__(self, text):
        self.text = text
    def __eq__(self, other):
        return self.text == other.text
def size(text):
    return len(text)""",
    "class Name:\n    def __init__(self, text):\n        self.text = text\n        print(text)\nsize = str.__len__",
    "def Name(text):\n    return text\ndef size(text):\n    return 7",
    """\
class Name(str):
    text = 'a'
    def __init__(self, text):
        raise SystemExit
def size(text):
    return 1""",
)
ANYWHERE = (
    "",
    " \n\n",
    "def add(a, b:\n    return",
    "x = '\0'",
    "raise ValueError('mine')",
    "import sys\nsys.exit(0)",
    "import sys\nsys.exit('why')",
    "while True:\n    pass",
    "x = bytearray(3 << 30)",
    "x = []\nwhile True:\n    x.append(bytearray(1 << 24))",
    "while True:\n    print('x' * 65536)",
    "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)",
    "import os\nos.abort()",
    "import socket\nsocket.create_connection(('192.0.2.1', 80), 1)",
    "import numpy\nprint(int(numpy.int64(3)))\ndef add(a, b):\n    return int(numpy.add(a, b))",
    "import no_such_module",
    "f = lambda n: f(n + 1)\nf(0)",
    "open('left', 'x').write('here')\nprint(3)\ndef add(a, b):\n    return a + b",
)
