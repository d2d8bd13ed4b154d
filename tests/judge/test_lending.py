"""What the assertions lend a program doesn't open their process to it."""

import asyncio

import pytest

from alpha_codium.judge.assertions import AssertionsKind
from alpha_codium.judge.drivers.assertion_side import LeftPeer
from alpha_codium.judge.drivers.lending import is_lendable, lend
from alpha_codium.limits import Limits
from alpha_codium.problem import ExecutionSpec
from alpha_codium.program import as_program
from alpha_codium.sandbox import Sandbox
from alpha_codium.verdict import Verdict

PEER = """
import gc, os
def peer():
    return next(each for each in gc.get_objects() if type(each).__name__ == "RightPeer")
def reach(*steps):
    value = lent
    for what, *rest in steps:
        value = peer().request(what, value, *rest)
    return value
def f(given):
    global lent
    lent = given
    for steps in STEPS:
        try:
            value = reach(*steps)
        except BaseException as error:
            continue
        return [str(steps), str(value)]
    return "held"
"""
STEPS = [
    [("get", "__globals__")],
    [("get", "__code__")],
    [("get", "__class__")],
    [("get", "__call__"), ("get", "__self__")],
    [("get", "gi_frame")],
    [("get", "__self__")],
    [("set", "__code__", 1)],
    [("delete", "__code__")],
    [("item", "__globals__")],
    [("copy",)],
    [("content",)],
    [("class",), ("get", "__subclasses__")],
    [("class",), ("get", "mro")],
    [("next_async",)],
]


@pytest.mark.parametrize("lent", ["lambda: 1", "(x for x in [1])", "open_it", "[].append", "iter([1])", "O()"])
async def test_lent_objects_lead_to_nothing_else(both: Sandbox, lent: str) -> None:
    test = f"secret = 3\nclass O: pass\ndef open_it(): return 4\nassert f({lent}) == 'held', f({lent})\n"
    result = await AssertionsKind(both, Limits(cpu_seconds=2.0), ExecutionSpec("assertions")).judge(
        as_program(f"STEPS = {STEPS!r}\n{PEER}"), test
    )
    assert (result.verdict, result.failure) == (Verdict.ACCEPTED, None)


@pytest.mark.parametrize(
    "request_",
    [
        ("get", ("", "__class__")),
        ("get", (str, "mro")),
        ("call", (len, "a")),
        ("operate", ("methodcaller", "x")),
        ("compare", ("attrgetter", "lent", "x")),
        ("operate", ("attrgetter", "__globals__")),
        ("load", (["os"],)),
        ("call", ()),
    ],
)
def test_only_lent_objects_can_be_used(request_: tuple[str, tuple[object, ...]]) -> None:
    peer = LeftPeer()

    def lent() -> int:
        return 3

    peer.refer(lent)
    what, arguments = request_
    with pytest.raises((TypeError, AttributeError)):
        lend(peer)(what, tuple(lent if each == "lent" else each for each in arguments), {})
    assert lend(peer)("call", (lent,), {}) == 3


def test_modules_and_classes_of_others_are_not_lent() -> None:
    assert not any(map(is_lendable, (asyncio, pytest, AssertionsKind)))
