"""The part of the prompt's code that whole programs may use; published scores depend on it.

A prompt of HumanEval begins with imports, and in three problems with helper functions, which a whole program should
repeat. `imports` runs only the prompt's imports before the program, as in most published runs; `all` also runs the
helpers; `none` runs nothing. Tests that use a helper fail if the program doesn't define it, but always call the
benchmark's helper, so that a program can't change the tests.
"""

import ast
from collections.abc import Sequence
from dataclasses import replace

from alpha_codium.data.load import ProblemSet
from alpha_codium.languages.python.syntax import UNPARSABLE, parse
from alpha_codium.problem import ExecutionSpec, Problem
from alpha_codium.program import PYTHON

ALL, IMPORTS, NONE = "all", "imports", "none"
# The traceback shows this line to whoever asks why such a program failed.
MISSING = "# a helper of the prompt that the program doesn't define: setup = all adds it"


class WithSetup(ProblemSet):
    """The problems of a split, with only a part of their setup code."""

    def __init__(self, problems: ProblemSet, setup: str) -> None:
        super().__init__(problems.records, problems.dataset_name, problems.split_name, problems._known_fingerprint)
        self.setup = setup

    def select(self, positions: Sequence[int]) -> "WithSetup":
        """Return the problems at these indices."""
        return WithSetup(super().select(positions), self.setup)

    def _problem(self, position: int) -> Problem:
        return with_setup(super()._problem(position), self.setup)


def with_setup(problem: Problem, setup: str) -> Problem:
    """Return the problem with `all`, the `imports` or `none` of its setup code.

    Problems without assertions aren't changed, nor those whose code isn't Python, which the judge reports.
    """
    spec = problem.execution
    if setup == ALL or spec.has_outputs or spec.language != PYTHON or not spec.setup_code.strip():
        return problem
    try:
        tree, test = parse(spec.setup_code), parse(spec.test_code)
    except UNPARSABLE:
        return problem
    imports = "\n".join(ast.unparse(node) for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom))
    own = replace(spec, setup_code=imports if setup == IMPORTS else "", test_code=_with_helpers(spec, tree, test))
    return replace(problem, execution=own)


def _with_helpers(spec: ExecutionSpec, setup: ast.Module, test: ast.Module) -> str:
    """Return the test with the helpers that it uses. The program must define each, but the benchmark's is called."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    defined = {node.name for node in setup.body if isinstance(node, kinds)}
    used = {node.id for node in ast.walk(test) if isinstance(node, ast.Name)}
    helpers = sorted(defined & used)
    if not helpers:
        return spec.test_code
    # The bare names fail if the program lacks them. `exec` hides from the judge that the test defines them.
    required = [f"{name}  {MISSING}" for name in helpers]
    return "\n".join((*required, f"exec({spec.setup_code!r}, globals())", spec.test_code))
