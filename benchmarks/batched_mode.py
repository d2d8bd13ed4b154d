"""The most that a batched mode could gain, and why there is none (docs/sandbox.md, "One process for many tests").

    python benchmarks/batched_mode.py            # CPU of 20 tests isolated, and in one process
    python benchmarks/batched_mode.py FILE.jsonl # besides: how many python3 solutions of a CodeContests file a static
                                                 # gate could let share a process

The bound favours the batched mode: all inputs are sent at once, only a new namespace is made between two tests, and
nothing checks what a program left behind. The gate is generous, too: it accepts programs that can leave something
behind through a function of a module.
"""

import ast
import asyncio
import json
import sys
import time
from collections import Counter
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from alpha_codium.sandbox.local.backend import LocalSandbox  # noqa: E402
from benchmarks.sandbox.workloads import WORKLOADS, an_input  # noqa: E402

TESTS, CANDIDATES, ROUNDS = 20, 40, 7
PYTHON3 = 3
LOOP = """\
import sys, io
code = compile({source!r}, "program.py", "exec")
for text in sys.stdin.read().split("\\0"):
    sys.stdin = io.StringIO(text)
    sys.stdout = output = io.StringIO()
    exec(code, {{"__name__": "__main__"}})
    sys.stdout = sys.__stdout__
    print(len(output.getvalue()))
    print(output.getvalue(), flush=True)
"""
PURE = frozenset(
    """sys math collections heapq itertools bisect functools operator string re fractions decimal typing array copy
    statistics cmath numpy""".split()
)
NAMES = frozenset(
    """exec eval open setattr delattr getattr globals vars locals __import__ compile type exit quit super id iter
    breakpoint memoryview atexit threading""".split()
)
ATTRIBUTES = frozenset("setrecursionlimit exit seed settrace setswitchinterval".split())


async def show_cost() -> None:
    """Print the cost of 20 isolated tests, and a lower bound of their cost in one process."""
    program = WORKLOADS["b"].program
    inputs = [an_input(WORKLOADS["b"], str(test)) for test in range(TESTS)]
    async with LocalSandbox(workers=1) as sandbox:
        ratios = []
        for _ in range(ROUNDS):
            isolated = await cpu_of(sandbox, program, inputs)
            together = await cpu_of(sandbox, LOOP.format(source=program), ["\0".join(inputs)])
            ratios.append(isolated / together)
            print(f"{TESTS} tests: isolated {isolated:.1f} ms, in one process at least {together:.1f} ms")
    print(f"at most {median(ratios):.1f} times cheaper")


async def cpu_of(sandbox: LocalSandbox, program: str, inputs: list[str]) -> float:
    """Return the CPU milliseconds of a candidate, on the host and in the worker."""
    await sandbox.run(program, inputs)
    group = sandbox._slots[0].plain.group
    assert group is not None, "this benchmark needs a cgroup that counts CPU time"
    before = time.process_time() + group.cpu_seconds()
    for number in range(CANDIDATES):
        report = await sandbox.run(f"{program}# {number}", inputs)
        assert all(execution.exit_code == 0 for execution in report.executions)
    return (time.process_time() + group.cpu_seconds() - before) / CANDIDATES * 1e3


def obstacle(source: str) -> str:
    """Return the first construct in a program that forbids a second test in its process, or an empty string."""
    try:
        nodes = list(ast.walk(ast.parse(source)))
    except SyntaxError:
        return "it doesn't compile"
    return next((reason for node in nodes if (reason := _obstacle_in(node))), "")


def _obstacle_in(node: ast.AST) -> str:
    if isinstance(node, ast.ClassDef | ast.Yield | ast.YieldFrom | ast.AsyncFunctionDef | ast.With):
        return type(node).__name__
    if isinstance(node, ast.Attribute):
        stored = not isinstance(node.ctx, ast.Load)
        return f".{node.attr}" if stored or node.attr in ATTRIBUTES or node.attr.startswith("__") else ""
    if isinstance(node, ast.Name):
        return node.id if node.id in NAMES else ""
    modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
    modules += [str(node.module)] if isinstance(node, ast.ImportFrom) else []
    return next((f"import {name}" for name in modules if name.partition(".")[0] not in PURE), "")


def show_share(file: Path) -> None:
    """Print how many of a file's python3 solutions the gate accepts, and why it refuses the others."""
    rows = [json.loads(line)["solutions"] for line in file.read_text("utf-8").splitlines()]
    programs = [
        code for row in rows for kind, code in zip(row["language"], row["solution"], strict=True) if kind == PYTHON3
    ]
    reasons = Counter(map(obstacle, programs))
    print(f"{file}: {reasons.pop('', 0)} of {len(programs)} could share a process; not: {reasons.most_common(8)}")


if __name__ == "__main__":
    asyncio.run(show_cost())
    for name in sys.argv[1:]:
        show_share(Path(name))
