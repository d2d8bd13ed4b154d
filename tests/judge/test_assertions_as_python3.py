"""What passes in python3 passes as a pair: each thing of Python's that programs and their tests may be made of."""

import asyncio
import importlib.util

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alpha_codium.judge.assertions import AssertionResult, AssertionsKind
from alpha_codium.judge.drivers.changes import apply_changes, changes_among, containers_in, copies_of
from alpha_codium.limits import Limits
from alpha_codium.problem import ExecutionSpec
from alpha_codium.program import as_program
from alpha_codium.sandbox import Sandbox
from alpha_codium.verdict import IN_PROCESS as WITHIN
from alpha_codium.verdict import OUTSIDE, Status, Verdict
from tests.judge.python_oddities import FAILING, IN_PROCESS, ODDITIES

LIMITS = Limits(cpu_seconds=4.0)
POSSIBLE = {
    name: case
    for name, case in ODDITIES.items()
    if "numpy" not in case[0] + case[1] or importlib.util.find_spec("numpy") is not None
}


async def results(sandbox: Sandbox, names: list[str]) -> dict[str, AssertionResult]:
    kind = AssertionsKind(sandbox, LIMITS, ExecutionSpec("assertions"))
    cases = ODDITIES | FAILING
    gathered = await asyncio.gather(*(kind.judge(as_program(cases[name][0]), cases[name][1]) for name in names))
    return dict(zip(names, gathered, strict=True))


@pytest.mark.thorough
async def test_each_cheat_passes_in_one_process(both: Sandbox) -> None:
    reports = await asyncio.gather(
        *(both.run("\n".join(case), [""], limits=LIMITS) for case in list(POSSIBLE.values())[::3])
    )
    assert [report for report in reports if report.executions[0].status is not Status.FINISHED] == []


@pytest.mark.thorough
async def test_what_passes_in_python3_is_accepted(both: Sandbox) -> None:
    told = await results(both, list(POSSIBLE))
    assert {name: result for name, result in told.items() if result.verdict is not Verdict.ACCEPTED} == {}
    trusts = {name: result.trust for name, result in told.items()}
    assert trusts == {name: WITHIN if name in IN_PROCESS else OUTSIDE for name in trusts}


async def test_what_fails_in_python3_for_an_alias_a_type_or_a_method_fails(both: Sandbox) -> None:
    for program, test in FAILING.values():
        with pytest.raises(AssertionError):
            exec(f"{program}\n{test}", {})
    told = await results(both, list(FAILING))
    assert {result.verdict for result in told.values()} == {Verdict.WRONG_ANSWER}


CONTAINERS = st.recursive(
    st.integers(0, 3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.integers(0, 3), inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(CONTAINERS, min_size=1, max_size=3), st.data())
def test_changes_made_to_one_copy_are_made_to_the_other(values: list[object], data: st.DataObject) -> None:
    import copy

    here, there = tuple(values), copy.deepcopy(tuple(values))
    mine, theirs = containers_in(here, {}), containers_in(there, {})
    before = copies_of(theirs)
    for container in theirs:
        other = data.draw(st.sampled_from(theirs)) if data.draw(st.booleans()) else 7
        if other is container or not data.draw(st.booleans()):
            continue
        if isinstance(container, list):
            container.insert(0, other if containers_in((other,), {}) == [] else 7)
            container.reverse()
        else:
            container.clear()
            container["new"] = 7
    apply_changes(changes_among(theirs, before), mine)
    assert here == there
    assert [id(each) for each in containers_in(here, {})] == [
        id(mine[theirs_index]) for theirs_index in places(theirs, containers_in(there, {}))
    ]


def places(before: list[object], after: list[object]) -> list[int]:
    """Where those of `after` stood in `before`."""
    return [next(i for i, one in enumerate(before) if one is each) for each in after]
