"""Bugs that are put into a method."""

import ast
import difflib

from hypothesis import given
from hypothesis import strategies as st

from alpha_codium.repository.methods import find_method
from alpha_codium.repository.mutations import HALFWAY, mutations, no_ops

SOURCE = '''\
def outside(a):
    return a < 1


def clamp(value, low, high, *, strict=True):
    """Keep a value within limits: `low <= value < high`."""
    # Compare "ä" in a comment: a < b.
    name = "ü"; ok = value  not  in (low, high) and not strict
    if not value:
        return clip(low, high)
    while low <= value < high or strict:
        value += low - 1
        log(f"{value + 1} of {high}")
    return value // 2
'''


def changes_of(source: str, name: str) -> list[tuple[str, str, str]]:
    """Return the kind of each mutation, and the part of the line before and after."""
    found = []
    for mutation in mutations(source, find_method(source, name)):
        before, after = source.splitlines(), mutation.source.splitlines()
        removed = [line[2:].strip() for line in difflib.ndiff(before, after) if line.startswith("- ")]
        added = [line[2:].strip() for line in difflib.ndiff(before, after) if line.startswith("+ ")]
        assert len(removed) == len(added) == 1, "only one line changes"
        assert before[mutation.line].strip() == removed[0]
        found.append((mutation.kind, removed[0], added[0]))
    return found


def test_every_kind_of_bug_is_made_where_it_can_be() -> None:
    changes = {(kind, after) for kind, _, after in changes_of(SOURCE, "clamp")}
    assert {
        ("comparison", 'name = "ü"; ok = value  in (low, high) and not strict'),
        ("condition", 'name = "ü"; ok = value  not  in (low, high) or not strict'),
        ("statement", "pass; ok = value  not  in (low, high) and not strict"),
        ("statement", 'name = "ü"; pass'),
        ("condition", "if value:"),
        ("arguments", "return clip(high, low)"),
        ("condition", "while not (low <= value < high or strict):"),
        ("condition", "while low <= value < high and strict:"),
        ("comparison", "while low < value < high or strict:"),
        ("comparison", "while low <= value <= high or strict:"),
        ("operator", "value += low + 1"),
        ("off by one", "value += low - 2"),
        ("statement", "pass"),
        ("operator", "return value * 2"),
        ("off by one", "return value // 3"),
        ("result", "return None"),
    } == changes


def test_the_docstring_the_declaration_and_other_functions_stay_as_they_are() -> None:
    method = find_method(SOURCE, "clamp")
    for mutation in mutations(SOURCE, method):
        changed = find_method(mutation.source, "clamp")
        assert (changed.declaration, changed.docstring) == (method.declaration, method.docstring)
        assert mutation.source.startswith(SOURCE[: SOURCE.index("def clamp")])


def test_bodies_that_do_nothing_return_each_argument_and_do_so_after_the_first_half() -> None:
    texts = no_ops(SOURCE, find_method(SOURCE, "clamp"))
    assert next(iter(texts)) == "raise" and {"pass", "return object()", "return strict", "return []"} <= set(texts)
    ends = {name.removesuffix(HALFWAY) for name in texts if name.endswith(HALFWAY)}
    assert ends == {name for name in texts if not name.endswith(HALFWAY)} - {"raise"}
    assert "yield" not in texts
    for body, text in texts.items():
        method = find_method(text, "clamp")
        assert (method.docstring, text.startswith(SOURCE[:60])) == (
            "Keep a value within limits: `low <= value < high`.",
            True,
        )
        assert body == "raise" or body.removesuffix(HALFWAY) in method.body
        assert method.body.count("if not") == body.endswith(HALFWAY)


def test_a_generator_may_also_yield_once_or_never() -> None:
    source = "class A:\n    async def f(self, *a, **k):\n        def g():\n            yield 2\n        yield g\n"
    texts = no_ops(source, find_method(source, "A.f"))
    assert {"yield", "if False: yield", "return a", "return k", "return self"} <= set(texts)
    for text in texts.values():
        compile(text, "a.py", "exec")


EXPRESSIONS = st.recursive(
    st.sampled_from(["a", "1", "True", "'x'", "f(a, b)", "f(*a, b)", "(a)", "-1", "f'{a+1}'"]),
    lambda inner: st.builds(
        "({} {} {})".format,
        inner,
        st.sampled_from(["<", "<=", "==", "in", "and", "or", "+", "-", "*", "//", "%"]),
        inner,
    ),
    max_leaves=6,
)


@given(EXPRESSIONS)
def test_a_file_with_a_bug_is_valid_and_means_something_else(expression: str) -> None:
    source = f"def f(a, b):\n    if {expression}:\n        return {expression}\n"
    for mutation in mutations(source, find_method(source, "f")):
        assert ast.dump(ast.parse(mutation.source)) != ast.dump(ast.parse(source))
