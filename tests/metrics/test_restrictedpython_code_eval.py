"""The metric restrictedpython_code_eval: its arguments, and what each of them does to a candidate."""

# ruff: noqa: E501 - a program stands on one line beside its test

import asyncio
import math
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from alpha_codium.errors import UserError
from alpha_codium.metrics import restrictedpython_code_eval as metric
from tests.metrics.restricted import results_of, text_of, texts_of
from tests.support import ROOT

pytest.importorskip("RestrictedPython", reason="RestrictedPython isn't installed: pip install alpha_codium[metrics]")
pytestmark = pytest.mark.usefixtures("shared_sandbox")
ADD = ("def add(a, b): return a + b", "assert add(2, 3) == 5")
SELF_MADE = "def f(x): return sorted(x)"


def test_the_documented_example_gives_a_half_and_one() -> None:
    scores, results = metric.compute(
        references=["assert add(2,3)==5"],
        predictions=[["def add(a,b): return a*b", "def add(a, b): return a+b"]],
        k=[1, 2],
        use_safe_builtins=True,
    )
    assert scores == {"pass@1": 0.5, "pass@2": 1.0}
    (first, wrong), (second, right) = results[0]
    assert (first, second) == (0, 1)
    assert right == {"task_id": 0, "passed": True, "result": "passed", "completion_id": 1}
    assert not wrong["passed"]
    assert wrong["result"].startswith("failed")


@pytest.mark.thorough
def test_the_sandbox_is_that_of_the_argument() -> None:
    program, reference = ADD
    for name in ("local", "portable"):
        assert metric.compute([[program]], [reference], k=[1], tester_type=name)[0] == {"pass@1": 1.0}
    with pytest.raises(UserError, match="did you mean 'portable'"):
        metric.compute([[program]], [reference], k=[1], tester_type="portabel")


def test_the_example_of_the_page_prints_what_the_page_says(capsys: pytest.CaptureFixture[str]) -> None:
    _, _, page = (ROOT / "docs" / "metrics.md").read_text("utf-8").partition("\n## restrictedpython_code_eval\n")
    page, _, _ = page.partition("\n## ")
    [code] = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    exec(compile(code, "page", "exec"), {})
    printed = capsys.readouterr().out
    assert printed.startswith("{'pass@1': 0.333")
    assert "'pass@3': 1.0}" in printed
    [shown] = re.findall(r"^`(failed: .*)`\. The metric needs", page, re.MULTILINE)
    assert shown.removeprefix("failed: ") in printed


def test_it_asks_for_permission(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HF_ALLOW_CODE_EVAL")
    with pytest.raises(ValueError, match="HF_ALLOW_CODE_EVAL"):
        metric.compute([["x = 1"]], ["assert x"])


@pytest.mark.thorough
def test_evaluate_loads_it_by_its_folder(tmp_path: Path) -> None:
    pytest.importorskip("evaluate", reason="evaluate isn't installed: pip install alpha_codium[metrics]")
    script = (
        "import evaluate\n"
        f"metric = evaluate.load({str(Path(metric.__file__).parent)!r})\n"
        "scores, results = metric.compute(references=['assert f(2) == 4.0'], predictions=[['import math\\ndef f(x): return math.pow(x, 2)']],\n"
        "    k=[1], allowed_imports=['math'], additional_globals={'double': lambda x: 2 * x})\n"
        "print(scores['pass@1'], results[0][0][1]['result'])\n"
    )
    env = os.environ | {"HF_HOME": str(tmp_path), "HF_HUB_OFFLINE": "1", "PYTHONPATH": str(ROOT)}
    ended = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=240, env=env, check=False
    )
    assert ended.stdout.splitlines()[-1:] == ["1.0 passed"], ended.stderr


def test_it_runs_inside_a_running_event_loop() -> None:
    async def within() -> str:
        return text_of(*ADD)

    assert asyncio.run(within()) == "passed"


def test_what_the_guards_allow_passes() -> None:
    cases = {
        "arithmetic": ADD,
        "unpacking": ("def f(p):\n    a, (b, *c) = p\n    return b, a, c", "assert f((1, (2, 3, 4))) == (2, 1, [3, 4])"),
        "unpacking in a loop": ("def f(x): return [a + b for a, b in x]", "assert f([(1, 2), (3, 4)]) == [3, 7]"),
        "swapping": ("def f(a, b):\n    a, b = b, a\n    return [a, b]", "assert f(1, 2) == [2, 1]"),
        "items and slices": ("def f(x):\n    x[0] = x[-1]\n    del x[1]\n    return x[:]", "assert f([1, 2, 3]) == [3, 3]"),
        "augmented names": ("def f(n):\n    n **= 3\n    n //= 2\n    n ^= 1\n    return n", "assert f(3) == 12"),
        "stars": ("def f(*a, **k): return [a, k]\ndef g(x): return f(*x, **{'y': 1})", "assert g([1, 2]) == [(1, 2), {'y': 1}]"),
        "a class": ("class A:\n    def __init__(self, x): self.x = x\n    def twice(self):\n        self.x = 2 * self.x\n        return self.x", "assert A(3).twice() == 6"),
        "a class variable": ("class A:\n    n = 0\n    def count(self):\n        A.n = A.n + 1\n        return A.n", "a = A(); a.count(); assert a.count() == 2"),
        "inheritance": ("class A:\n    def f(self): return 1\nclass B(A):\n    def g(self): return self.f() + 1", "assert B().g() == 2"),
        "exceptions": ("def f(x):\n    try:\n        return 1 / x\n    except ZeroDivisionError as e:\n        return str(e)", "assert f(0) == 'division by zero'"),
        "a missing attribute is an AttributeError": ("def f(x):\n    try:\n        return x.nope\n    except AttributeError:\n        return 'none'", "assert f(1) == 'none'"),
        "getattr with a default": ("def f(x): return getattr(x, 'nope', 7)", "assert f(1) == 7"),
        "limited builtins": ("def f(s): return list(range(s)) + [tuple([1])]", "assert f(2) == [0, 1, (1,)]"),
        "utility builtins": ("def f(x): return set([math.floor(x)]) | frozenset([len(string.digits)])", "assert f(2.5) == {2, 10}"),
        "print is collected": ("def f(x):\n    print(x, x, sep='-')\n    return printed", "assert f(1) == '1-1\\n'"),
        "with": ("def f(): return 1", "import contextlib\nwith contextlib.suppress(ZeroDivisionError):\n    assert f() == 1"),
        "recursion": ("def f(n): return 1 if n < 2 else n * f(n - 1)", "assert f(10) == 3628800"),
        "one function calls another": ("def g(x): return x + 1\ndef f(x): return g(g(x))", "assert f(1) == 3"),
        "a generator": ("def f(n):\n    for i in range(n): yield i * i", "assert list(f(4)) == [0, 1, 4, 9]"),
    }  # fmt: skip
    assert dict(zip(cases, texts_of(cases), strict=True)) == dict.fromkeys(cases, "passed")


def test_what_the_policy_forbids_fails_with_its_own_message() -> None:
    cases = {
        "_x = 1": '"_x" is an invalid variable name because it starts with "_"',
        "def f(x): return x.__class__": '"__class__" is an invalid attribute name because it starts with "_"',
        "def f(x): x.y += 1": "Augmented assignment of attributes is not allowed.",
        "def f(x): x[0] += 1": "Augmented assignment of object items and slices is not allowed.",
        "def f(): exec('1')": "Exec calls are not allowed.",
        "async def f(): pass": "AsyncFunctionDef statements are not allowed.",
        "from math import *": '"*" imports are not allowed.',
        "def f(g): return g.gi_frame": '"gi_frame" is a restricted name, that is forbidden to access',
        "printed = 1": '"printed" is a reserved name.',
        "x: int = 1": "AnnAssign statements are not allowed.",
        "def f(:": "SyntaxError: invalid syntax",
    }
    given = texts_of([(program, "assert f(1) == 1") for program in cases])
    for (program, message), text in zip(cases.items(), given, strict=True):
        assert text.startswith("failed: "), program
        assert message in text, (program, text)


def test_the_builtins_are_those_that_are_asked_for() -> None:
    programs = {
        "safe": ("def f(): return len('ab')", "assert f() == 2"),
        "limited": ("def f(): return list((1, 2))", "assert f() == [1, 2]"),
        "utility": ("def f(): return math.floor(2.5)", "assert f() == 2"),
        "none of them": ("def f(): return sorted([2, 1])", "assert f() == [1, 2]"),
    }
    for name in ("safe", "limited", "utility"):
        flags = {f"use_{each}_builtins": each == name for each in ("safe", "limited", "utility")}
        passed = [result["passed"] for result in results_of(programs, **flags)]
        assert passed == [each == name for each in programs], name
    too_long = ("def f(): return range(2000)", "assert len(f()) == 2000")
    assert "only allow 1000 elements" in text_of(*too_long)
    assert text_of(*too_long, use_limited_builtins=False) == "passed"


def test_only_the_imports_that_are_allowed_can_be_made() -> None:
    cases = [
        ("import math\ndef f(): return math.pi", "assert f() > 3"),
        ("from collections import Counter\ndef f(): return Counter('aab')['a']", "assert f() == 2"),
        ("import collections.abc as abc\ndef f(): return isinstance([], abc.Sequence)", "assert f()"),
        ("import mathematics\ndef f(): return 1", "assert f()"),
        ("import os\ndef f(): return 1", "assert f()"),
        ("def f():\n    import os\n    return 1", "assert f()"),
    ]
    given = texts_of(cases, allowed_imports=["math", "collections"])
    assert given[:3] == ["passed"] * 3
    for text, name in zip(given[3:], ("mathematics", "os", "os"), strict=True):
        assert f"import of {name!r} is not allowed" in text
    assert all("__import__ not found" in text for text in texts_of(cases))
    assert all("is not allowed" in text for text in texts_of(cases, allowed_imports=[]))


def test_str_format_is_refused_unless_it_is_allowed() -> None:
    cases = [
        ("def f(x): return '{:03}'.format(x)", "assert f(7) == '007'"),
        ("def f(x): return '{x}'.format_map({'x': x})", "assert f(7) == '7'"),
        ("def f(x): return str.format('{}', x)", "assert f(7) == '7'"),
    ]
    assert all("not safe" in text for text in texts_of(cases))
    assert texts_of(cases, allow_str_format=True) == ["passed"] * 3
    assert text_of("def f(x): return f'{x:03}'", "assert f(7) == '007'") == "passed"


def test_names_with_an_underscore_are_refused_unless_they_are_allowed() -> None:
    cases = [
        ("_x = 1\ndef _g(_y): return _x + _y\ndef f(): return _g(1)", "assert f() == 2"),
        ("class A:\n    def __call__(self, other): return 5", "assert A()(1) == 5"),
        ("def f(): return 1\nif __name__ == '__main__':\n    f(1, 2)", "assert f() == 1"),
        ("def f(x): return [_ for _ in x]", "assert f([1]) == [1]"),
        ("_f = 3", "assert _f == 3"),
    ]
    assert [text == "passed" for text in texts_of(cases)] == [False, False, False, True, False]
    assert texts_of(cases, allow_underscore_variable_names=True) == ["passed"] * 5


@pytest.mark.parametrize("name", ["_getattr_", "_print", "__builtins__", "_write_", "_tmp0", "_print_", "_own_guard_"])
def test_names_of_guards_are_never_a_programs(name: str) -> None:
    program = f"{name} = 1\ndef f(): return 1"
    options: dict[str, Any] = {"additional_globals": {"_own_guard_": len}, "allow_underscore_variable_names": True}
    assert f'"{name}" is an invalid variable name' in text_of(program, "assert f() == 1", **options)


def test_additional_globals_are_there_for_the_candidate_and_unchanged_for_the_test() -> None:
    def double(x: int) -> int:
        return 2 * x

    given = {"sorted": sorted, "double": double, "np_like": math, "limit": 3, "kinds": [1, {"a": (2.5, None)}]}
    cases = [
        (SELF_MADE, "assert f([2, 1]) == sorted([2, 1])"),
        ("def f(x): return double(x)", "assert f(4) == double(4) == 8"),
        ("def f(): return np_like.floor(2.5)", "assert f() == np_like.floor(2.5)"),
        ("def f(): return kinds", "assert f() == kinds == [1, {'a': (2.5, None)}]"),
        ("limit = -1\ndef f(): return 0", "assert f() > limit"),
        ("def double(x): return 0\ndef f(x): return 0", "assert f(4) == double(4)"),
    ]
    assert [text == "passed" for text in texts_of(cases, additional_globals=given)] == [True] * 4 + [False] * 2


def test_a_function_of_the_candidates_may_bear_the_name_of_a_builtin_that_was_given() -> None:
    """As 974 MBPP problems have it: one of them asks for a function `sum`."""
    cases = [
        ("def sum(a, b): return a * b", "assert sum(2, 5) == 10"),
        ("def f(x): return sum(x)", "assert f([2, 5]) == 7"),
    ]
    assert texts_of(cases, additional_globals={"sum": sum, "max": max}) == ["passed", "passed"]


def test_additional_locals_are_what_the_candidate_makes_of_them() -> None:
    cases = [
        ("x = x + 1", "assert x == 2"),
        ("state['seen'] = 1", "assert state == {'seen': 1}"),
        ("def f(): return x", "assert f() == x == 1"),
        ("def g(): return x\ndef f(): return g()", "assert f() == 1"),
    ]
    assert texts_of(cases, additional_locals={"x": 1, "state": {}}) == ["passed"] * 4


def test_guards_of_the_users_own_are_taken() -> None:
    def refusing(target: Any) -> Any:
        raise ValueError("nothing may be written to")

    program = ("def f():\n    x = [1]\n    x[0] = 2\n    return x", "assert f() == [2]")
    assert text_of(*program) == "passed"
    assert "nothing may be written to" in text_of(*program, additional_globals={"_write_": refusing})
    builtins = {"len": len, "__build_class__": __build_class__}
    own = {"additional_globals": {"__builtins__": builtins}, "use_safe_builtins": False}
    cases = [("def f(): return len([1])", "assert f() == 1"), ("def f(): return abs(1)", "assert f() == 1")]
    assert [text == "passed" for text in texts_of(cases, **own)] == [True, False]


def test_writing_to_a_module_is_refused_and_to_containers_allowed() -> None:
    cases = [
        ("def f():\n    math.pi = 3\n    return 1", "assert f() == 1"),
        ("def f():\n    f.x = 3\n    return 1", "assert f() == 1"),
        (
            "import collections\ndef f():\n    d = collections.defaultdict(list)\n    d['a'] = 1\n    return d['a']",
            "assert f() == 1",
        ),
    ]
    assert [text == "passed" for text in texts_of(cases, allowed_imports=["collections"])] == [False, False, True]
