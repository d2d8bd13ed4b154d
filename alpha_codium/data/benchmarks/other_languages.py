"""MultiPL-E and HumanEval-X in other languages than Python: functions that code in their language tests.

Sources: Cassano et al. 2022, arXiv:2208.08227 (github.com/nuprl/MultiPL-E); Zheng et al. 2023, arXiv:2303.17568
(github.com/THUDM/CodeGeeX). The statement is the prompt. A program is the prompt with a completion, or the whole
function; the includes and imports of the prompt run before it, so that whole functions needn't repeat them. The tests
are appended (see `judge.appended_tests`). `example_test` of HumanEval-X may be shown to models.
"""

import re
from typing import Any

from alpha_codium.data.benchmarks.benchmark import Benchmark
from alpha_codium.data.fields import Fields
from alpha_codium.languages.names import canonical

# The lines of a prompt that may be repeated.
HEADS = {
    "cpp": re.compile(r"^[ \t]*(?:#[ \t]*include\b.*|using namespace std;)[ \t]*$", re.MULTILINE),
    "java": re.compile(r"^import .*;[ \t]*$", re.MULTILINE),
}
# The headers that evaluations of HumanEval-X add.
CPP_HEADERS = ("stdlib.h", "algorithm", "math.h", "stdio.h", "vector", "string", "climits", "cstring", "iostream")
# In JavaScript, a failed `console.assert` prints a line, and the program goes on.
FAILING_ASSERT = 'console.assert = require("node:assert");'
# Other languages need more than a compiler: test runners and packages, or, for Java in MultiPL-E, javatuples.
X_LANGUAGES, E_LANGUAGES = ("cpp", "java", "javascript"), ("cpp", "javascript", "rust")


def multipl_e(fields: Fields, language: str) -> dict[str, Any]:
    """Return a problem of MultiPL-E in a language other than Python."""
    if language not in E_LANGUAGES:
        fields.fail("language", f"is {language!r}: tests of MultiPL-E can be run in python3, {', '.join(E_LANGUAGES)}")
    prompt = fields.needed("prompt")
    return _problem(fields.needed("name"), prompt, language, fields.needed("tests"), _head(prompt, language))


def _humaneval_x(fields: Fields) -> dict[str, Any]:
    name, prompt, solution = fields.needed("task_id"), fields.needed("prompt"), fields.text("canonical_solution")
    language = canonical(name.partition("/")[0])
    if language not in X_LANGUAGES:
        fields.fail("task_id", f"is {name!r}: tests of HumanEval-X can be run in {', '.join(X_LANGUAGES)}")
    head = _head(prompt, language)
    if language == "cpp":
        head = "\n".join([*(f"#include <{header}>" for header in CPP_HEADERS), head])
    if language == "javascript":
        head = FAILING_ASSERT
    problem = _problem(name, prompt, language, fields.needed("test"), head)
    examples = fields.text("example_test")
    return problem | {
        "public_tests": [{"input": examples, "output": ""}] if examples.strip() else [],
        "solutions": [{"language": language, "solution": prompt + solution}] if solution.strip() else [],
    }


def _problem(name: str, prompt: str, language: str, test_code: str, setup_code: str) -> dict[str, Any]:
    execution = {"kind": "assertions", "test_code": test_code, "setup_code": setup_code, "language": language}
    return {"name": name, "description": prompt, "execution": execution}


def _head(prompt: str, language: str) -> str:
    return "\n".join(line.strip() for line in HEADS[language].findall(prompt)) if language in HEADS else ""


HUMANEVAL_X = Benchmark(
    "humaneval_x",
    frozenset({"task_id", "prompt", "declaration", "canonical_solution", "test", "example_test"}),
    _humaneval_x,
    hub_id="THUDM/humaneval-x",
    only_split="test",
)
