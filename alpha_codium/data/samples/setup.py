"""What of a prompt's own code a whole program may count on: published runs differ, and so do their scores.

A prompt of HumanEval begins with imports, and in three problems with helper functions. A completion goes on from both.
A whole program was asked to repeat them. `imports` gives it what the prompt imports and nothing else, which is how the
published runs at hand were judged; `all` gives it the helpers, too; `none` nothing.

Helpers that the program doesn't get it must define itself. Tests that use one fail where it isn't there, as in the
published runs; where it is there, they use the benchmark's own, so that no program decides what it is compared with.
"""

import ast
from dataclasses import replace

from alpha_codium.data.load import ProblemSet
from alpha_codium.languages.python.syntax import UNPARSABLE, parse
from alpha_codium.problem import ExecutionSpec, Problem

ALL, IMPORTS, NONE = "all", "imports", "none"
SETUPS = (ALL, IMPORTS, NONE)


class WithSetup(ProblemSet):
    """The problems of a split, judged with a part of their setup code; everything else is as it was."""

    def __init__(self, problems: ProblemSet, setup: str) -> None:
        super().__init__(problems.records, problems.dataset_name, problems.split_name)
        self.setup = setup

    def _problem(self, place: int) -> Problem:
        return with_setup(super()._problem(place), self.setup)


def with_setup(problem: Problem, setup: str) -> Problem:
    """The problem with `all`, the `imports` or `none` of its setup code.

    One without assertions stays as it is; so does one whose code isn't Python, which the judge says of it.
    """
    spec = problem.execution
    if setup == ALL or spec.kind != "assertions" or not spec.setup_code.strip():
        return problem
    try:
        tree, test = parse(spec.setup_code), parse(spec.test_code)
    except UNPARSABLE:
        return problem
    imports = "\n".join(ast.unparse(node) for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom))
    own = replace(spec, setup_code=imports if setup == IMPORTS else "", test_code=_with_helpers(spec, tree, test))
    return replace(problem, execution=own)


def _with_helpers(spec: ExecutionSpec, setup: ast.Module, test: ast.Module) -> str:
    """The test with the helpers that it uses: each must be there in the program, and is then the benchmark's own."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    defined = {node.name for node in setup.body if isinstance(node, kinds)}
    used = {node.id for node in ast.walk(test) if isinstance(node, ast.Name)}
    helpers = sorted(defined & used)
    if not helpers:
        return spec.test_code
    # The names stand alone to be asked of the program. What `exec` defines isn't seen to be defined by the test.
    return "\n".join((*helpers, f"exec({spec.setup_code!r}, globals())", spec.test_code))
