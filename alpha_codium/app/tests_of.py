"""The tests of a program, in any shape that callers and training datasets give them, as a problem.

1. `[[input, output], ...]`: what a program reads and prints.
2. `["assert f(1) == 2", ...]`: assertions, each a test.
3. `[{"input", "output"}, ...]`, perhaps with the function to call: `fn_name`, or `metadata.func_name`.
4. `{"inputs": [...], "outputs": [...]}` of APPS, TACO and verl, perhaps with `fn_name`; or verl's `assert_case`.
5. `{"input": [...], "output": [...]}` of CodeContests.
6. `{"test_cases": ...}` with any of these, such as a column `verification_info`.
7. Code with assertions, such as a file of tests for pytest or unittest (KodCode, BigCodeBench), which is one test.

All but the last may also be a string of JSON, or of a Python literal; lists may be arrays of NumPy or Arrow. The name
of a function may be in `fn_name`, `func_name`, `function_name` or `entry_point`. In shapes 3 and 4, the imports of
APPS run before each program, which published solutions need. The input of a call is a list of arguments, or JSON with
an argument on each line. Rows with `metadata.func_name` are LiveCodeBench's, and are judged as its problems are: `[3]`
isn't 3.
"""

import ast
import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from alpha_codium.data.schema import problem_from_record
from alpha_codium.errors import DatasetError, UserError
from alpha_codium.judge import Rules, kind_of
from alpha_codium.languages.python.beginnings import parsed
from alpha_codium.languages.python.syntax import UNPARSABLE
from alpha_codium.limits import too_little_memory
from alpha_codium.problem import ExecutionSpec, Problem, TestCase, TestType
from alpha_codium.values import parse_json, shown

Shape = Problem | Sequence[Any] | Mapping[str, Any] | str
NO_TESTS = "there are no tests"
# How datasets name the function that tests call, and the kinds of tests.
NAMES = ("fn_name", "func_name", "function_name", "entry_point")
CALLED, READ = {"functional", "function_call"}, {"stdin", "stdin_stdout"}


def problem_of(tests: Shape | None, function: str = "") -> Problem:
    """Return a problem with these tests as private ones; raises TypeError if they have none of the shapes above.

    `function` is the name of the function that they call, if they don't say so themselves.
    """
    if isinstance(tests, Problem):
        return tests
    if isinstance(tests, str) and _is_code(tests):
        return _assertions([tests])
    return _problem_of(_plain(tests), function)


def _problem_of(value: Any, function: str) -> Problem:
    try:
        if isinstance(value, Mapping):
            return _of_columns(value, function)
        if isinstance(value, list) and (not value or all(isinstance(each, Mapping) for each in value)):
            return _of_rows(value, function)
    except DatasetError as error:
        raise TypeError(str(error)) from error
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return _assertions(value)
    if isinstance(value, list):
        return Problem("row", private_tests=tuple(_pair(place, each) for place, each in enumerate(value)))
    raise TypeError(f"tests must be a list of tests, or an object with them, not {shown(value)}")


def why_not(problem: Problem, rules: Rules, language: str) -> str:
    """Return why programs in a language can't be judged by the tests of a problem; empty if they can."""
    try:
        kind = kind_of(problem, rules)
    except UserError as error:
        return str(error)
    memory = too_little_memory(language, rules.limits_for(problem, language).memory_bytes)
    faults = map(kind.fault_of, problem.tests(tuple(TestType)))
    return memory or kind.why_not(language) or next(filter(None, faults), "")


def _is_code(text: str) -> bool:
    """Whether a text is Python that asserts something, or calls what does."""
    tree = parsed(text)
    nodes = ast.walk(tree) if tree is not None else ()
    return any(isinstance(n, ast.Assert | ast.Raise) or isinstance(getattr(n, "value", None), ast.Call) for n in nodes)


def _plain(tests: Any) -> Any:
    """Return the value of JSON (even twice encoded) or of a Python literal in a text; other values as `listed`."""
    if not isinstance(tests, str):
        return listed(tests)
    try:
        return _plain(parse_json(tests))
    except (ValueError, RecursionError) as error:
        with suppress(ValueError, *UNPARSABLE):
            return listed(ast.literal_eval(tests))
        raise TypeError(f"tests in a string must be JSON: {error}") from error


def listed(value: Any) -> Any:
    """Return a value with lists in place of tuples and arrays (of NumPy, Arrow, PyTorch), nested ones too."""
    for method in ("as_py", "to_pylist", "tolist"):
        if hasattr(value, method):
            value = getattr(value, method)()
    if isinstance(value, Mapping):
        return {key: listed(each) for key, each in value.items()}
    return [listed(each) for each in value] if isinstance(value, list | tuple) else value


def _pair(place: int, values: Any) -> TestCase:
    if isinstance(values, TestCase):
        return values
    if isinstance(values, list) and len(values) == 2 and all(isinstance(text, str) for text in values):
        return TestCase(*values)
    raise TypeError(f"tests[{place}] must be a pair of texts, input and output, not {shown(values)}")


def _assertions(codes: Sequence[Any]) -> Problem:
    return Problem(
        "row", private_tests=tuple(TestCase(code, "") for code in codes), execution=ExecutionSpec("assertions")
    )


def _of_columns(tests: Mapping[str, Any], function: str) -> Problem:
    """Return the problem of an object (4, 5, 6)."""
    function = _function_of(tests, function)
    if "test_cases" in tests:
        return problem_of(tests["test_cases"], function)
    if isinstance(tests.get("input"), str):
        return _of_rows([tests], function)
    assertions = [code for code in _list(tests, "assert_case") if code]
    if assertions and any(_list(tests, "inputs")):
        raise TypeError("tests have both inputs and assert_case: an assertion has no input")
    if assertions:
        return _assertions(assertions)
    if "inputs" in tests:
        return _of_inputs(_list(tests, "inputs"), _list(tests, "outputs"), function)
    if "input" in tests:
        columns = {key: _list(tests, key) for key in ("input", "output")}
        return problem_from_record({"name": "row", "private_tests": columns})
    raise TypeError(f"tests have neither inputs nor input, but {', '.join(sorted(map(str, tests))) or 'nothing'}")


def _list(tests: Mapping[str, Any], key: str) -> list[Any]:
    value = tests.get(key)
    found = [] if value is None else _plain(value)
    if not isinstance(found, list):
        raise TypeError(f"{key} must be a list, not {shown(value)}")
    return found


def _of_rows(rows: Sequence[Mapping[str, Any]], function: str) -> Problem:
    """Return the problem of a list of objects (3)."""
    for place, row in enumerate(rows):
        if "input" not in row or "output" not in row:
            missing = " and no ".join(key for key in ("input", "output") if key not in row)
            raise TypeError(f"tests[{place}] has no {missing} (it has: {', '.join(map(str, row))})")
    names = [_function_of(row, function) for row in rows]
    for place, (row, name) in enumerate(zip(rows, names, strict=True)):
        if not name and CALLED & {row.get("type"), row.get("testtype")}:
            raise TypeError(f"tests[{place}] calls a function, whose name is missing: fn_name or metadata.func_name")
    if any(name != names[0] for name in names):
        raise TypeError("tests must all call the same function, or none")
    inputs, outputs = [row["input"] for row in rows], [row["output"] for row in rows]
    if rows and names[0] and all(map(_is_of_livecodebench, rows)):
        return _of_livecodebench(inputs, outputs, names[0])
    return _of_inputs(inputs, outputs, names[0] if names else "")


def _is_of_livecodebench(row: Mapping[str, Any]) -> bool:
    return isinstance(row["input"], str) and "metadata" in row and not any(row.get(name) for name in NAMES)


def _function_of(row: Mapping[str, Any], default: str) -> Any:
    """Return the name of the function that a test or an object with tests calls; empty if a program reads input."""
    if READ & {row.get("type"), row.get("testtype")}:
        return ""
    metadata = row.get("metadata")
    if isinstance(metadata, str):
        metadata = _plain(metadata) if metadata.strip() else None
    holders = [row, metadata] if isinstance(metadata, Mapping) else [row]
    return next((each[name] for each in holders for name in NAMES if each.get(name)), default)


def _of_livecodebench(inputs: list[str], outputs: list[Any], function: str) -> Problem:
    """Return the problem of rows with `metadata.func_name`, whose arguments and results count as they are."""
    for place, text in enumerate(outputs):
        _value(f"outputs[{place}]", text)
    tests = [{"input": i, "output": o, "testtype": "functional"} for i, o in zip(inputs, outputs, strict=True)]
    record = {"question_id": "row", "question_content": "", "public_test_cases": []}
    return problem_from_record(record | {"private_test_cases": tests, "metadata": {"func_name": function}})


def _of_inputs(inputs: list[Any], outputs: list[Any], function: Any) -> Problem:
    """Return the problem of APPS's columns (4)."""
    for name, values in (("inputs", inputs), ("outputs", outputs)):
        for place, value in enumerate(values):
            if isinstance(value, float) and not math.isfinite(value):
                raise TypeError(f"{name}[{place}] is {value}, which stands for a missing value")
    if function and all(isinstance(value, str) for value in inputs):
        outputs = [_result(f"outputs[{place}]", value) for place, value in enumerate(outputs)]
        inputs = [_arguments(place, value) for place, value in enumerate(inputs)]
    tests = {"inputs": inputs, "outputs": outputs, "fn_name": function}
    return problem_from_record({"problem_id": "row", "question": "", "input_output": tests})


def _arguments(place: int, lines: str) -> list[Any]:
    return [_value(f"inputs[{place}]", line) for line in lines.split("\n") if line.strip()]


def _result(name: str, text: Any) -> Any:
    """Return the value that a call must return: of JSON, else of Python's literals, else the text, as verl's client."""
    try:
        return _value(name, text)
    except TypeError:
        words = text.strip() if isinstance(text, str) else ""
        with suppress(ValueError, *UNPARSABLE):
            return ast.literal_eval(words)
        if not words or words[0] in "[{(\"'":  # a value that was cut
            raise
        return words


def _value(name: str, text: Any) -> Any:
    try:
        return parse_json(text)
    except (ValueError, TypeError, RecursionError) as error:
        raise TypeError(f"{name} of a call must be JSON: {error}") from error
