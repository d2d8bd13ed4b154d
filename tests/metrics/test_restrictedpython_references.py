"""The metric restrictedpython_code_eval: references, the output that is returned, and mistakes of its user's."""

import collections
import math
import sys
import threading
import types
from typing import Any

import pytest

from alpha_codium.errors import UserError
from alpha_codium.metrics import restrictedpython_code_eval as metric
from tests.metrics.restricted import results_of, text_of, texts_of

pytest.importorskip("RestrictedPython", reason="RestrictedPython isn't installed: pip install alpha_codium[metrics]")
pytestmark = pytest.mark.usefixtures("shared_sandbox")
ADD = ("def add(a, b): return a + b", "assert add(2, 3) == 5")


def test_a_reference_sees_what_was_printed() -> None:
    cases = [
        ("print('a')\nprint('b', end='')", "assert printed == 'a\\nb'"),
        ("x = 1", "assert printed == ''"),
        ("print('a')", "print('b'); print(1, 2, sep='-', end='!')\nassert printed == 'a\\nb\\n1-2!'"),
        ("def f(): return 3", "print(f())\nassert printed == '3\\n'"),
        ("print('a')", "assert printed == 'b\\n'"),
    ]
    assert [text == "passed" for text in texts_of(cases)] == [True, True, True, True, False]


def test_the_output_is_returned_as_a_value_or_as_its_repr() -> None:
    cases = {
        "the reference sets it": ("def add(a, b): return a + b", "output = add(2, 3)"),
        "the candidate sets it": ("output = [1, {'a': (2, None)}, {3}, 1.5, b'x']", "output"),
        "the reference makes it of the candidate's": ("x = 4", "output = x"),
        "it is none": ("def f(): return 1", "assert f() == 1"),
        "an object": ("class Point:\n    def __init__(self): self.x = 1\n\ndef f(): return Point()", "output = f()"),
    }
    given = results_of(cases, return_output=True)
    assert [each["result"] for each in given] == ["passed"] * 5
    outputs = [each["output"] for each in given]
    assert outputs[:4] == [5, [1, {"a": (2, None)}, {3}, 1.5, b"x"], 4, None]
    assert "Point object" in outputs[4]


@pytest.mark.parametrize("reference", ["", "patch = None\n"])
def test_the_output_is_what_the_candidate_has_in_the_end(reference: str) -> None:
    """Also where the reference has to run in the candidate's process, as one that may replace parts of it has."""
    program = "output = 0\ndef count():\n    global output\n    output = output + 1\n    print('x')"
    reference += "count(); count()\nassert sorted([2, 1]) == [1, 2] and printed == '' and output == 2"
    [result] = results_of([(program, reference)], return_output=True)
    assert (result["result"], result["output"]) == ("passed", 2)


def test_the_output_variable_may_have_another_name() -> None:
    [result] = results_of([("answer = 42", "assert answer")], return_output=True, output_variable="answer")
    assert result["output"] == 42
    [result] = results_of([("answer = 42", "assert answer")])
    assert "output" not in result


def test_a_reference_that_asserts_nothing_is_an_error() -> None:
    for reference in ("", "  \n", "# nothing", "x = 1"):
        with pytest.raises(UserError, match=r"references\[0\]"):
            metric.compute([["x = 1"]], [reference], k=[1])
    for reference in ("", "  \n", "# nothing", "output = ("):
        with pytest.raises(UserError, match=r"references\[0\]"):
            metric.compute([["output = 1"]], [reference], k=[1], return_output=True)


def test_an_empty_candidate_never_passes() -> None:
    assert not any(
        result["passed"] for result in results_of([("", ADD[1]), ("pass", ADD[1]), ("def add(a, b): ...", ADD[1])])
    )


def test_a_candidate_that_does_not_load_fails_whatever_the_reference_uses() -> None:
    assert not any(
        result["passed"]
        for result in results_of([("1 / 0", "assert 1"), ("_x = 1", "assert 1"), ("raise SystemExit(0)", "assert 1")])
    )


def test_a_candidate_that_goes_on_for_ever_is_timed_out() -> None:
    assert (
        texts_of([("def f():\n    while True: pass", "assert f()"), ("while True: pass", "assert 1")], timeout=0.3)
        == ["timed out"] * 2
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"policy": "RestrictingNodeTransformer"}, "policy must be a subclass"),
        ({"policy": int}, "policy must be a subclass"),
        ({"allowed_imports": "math"}, "allowed_imports must be a list"),
        ({"allowed_imports": [math]}, "allowed_imports must be a list"),
        ({"additional_globals": ["x"]}, "additional_globals must be a mapping"),
        ({"additional_locals": {"not a name": 1}}, "must be the name of a variable"),
        ({"additional_locals": {"if": 1}}, "must be the name of a variable"),
        ({"return_output": True, "output_variable": "a b"}, "output_variable must be"),
        ({"k": 1}, "k must be a list"),
        ({"num_workers": -1}, "num_workers"),
        ({"additional_globals": {"frame": sys._getframe()}}, "'frame' can't be sent"),
        ({"additional_globals": {"other": threading.Lock()}}, "'other' can't be sent"),
    ],
)
def test_a_mistake_is_told_in_one_line(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message.replace("[", r"\[")) as raised:
        metric.compute(**{"predictions": [[ADD[0]]], "references": [ADD[1]], "k": [1]} | options)
    assert "\n" not in str(raised.value)


def test_what_the_sandbox_cannot_load_is_the_users_error_and_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    class Vanishing:
        def __reduce__(self) -> Any:
            return (getattr, (sys.modules["math"], "no_such_function"))

    with pytest.raises(UserError, match=r"doesn't load in the sandbox.*no_such_function"):
        metric.compute([[ADD[0]]], [ADD[1]], k=[1], additional_locals={"x": Vanishing()})


def test_predictions_and_references_must_pair_up() -> None:
    with pytest.raises(UserError, match="the numbers are 1 and 2"):
        metric.compute([[ADD[0]]], [ADD[1]] * 2, k=[1])
    with pytest.raises(UserError):
        metric.compute([], [], k=[1])


def test_values_of_many_kinds_reach_the_program() -> None:
    def spelt(value: Any) -> str:
        return (
            f"assert isinstance(value, {type(value).__name__})"
            if type(value).__module__ == "builtins"
            else "assert value"
        )

    values = [
        1.5,
        float("inf"),
        {1: {2: [3]}},
        {3},
        collections.Counter("aab"),
        types.SimpleNamespace(a=1),
        b"x\0",
        "ž\ud800'\"\n",
    ]
    for value in values:
        same = ("def f(): return value == value", f"assert f()\n{spelt(value)}")
        assert text_of(*same, additional_globals={"value": value}) == "passed", value
