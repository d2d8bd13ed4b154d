"""What crosses to a node, and which nodes are refused."""

import pickle
from dataclasses import replace

import pytest

from alpha_codium.errors import SandboxError
from alpha_codium.judge import Rules
from alpha_codium.judge.executors import Task
from alpha_codium.judge.on_ray.node import NodeJudge, Packing, refuse_other
from alpha_codium.problem import Problem, TestCase
from alpha_codium.program import as_program
from alpha_codium.verdict import Identity

HERE = Identity("local", "1", "CPython 3.11.7", packages=("numpy==2.0", "pytest==9.0"), rules=1)
RULES = Rules()


def tasks_of(name: str, *programs: str) -> list[Task]:
    problem = Problem(name, private_tests=(TestCase("1\n", "2\n"),))
    return [Task(as_program(program), problem, problem.private_tests, RULES) for program in programs]


async def test_a_batch_arrives_as_the_tasks_that_it_was_made_of() -> None:
    tasks = tasks_of("one", "a", "b") + tasks_of("two", "a") + tasks_of("three", "c", "c")
    node = NodeJudge(None, HERE)  # type: ignore[arg-type]
    sent = pickle.loads(pickle.dumps(Packing().groups(tasks)))
    assert [task for group in sent for task in await node.tasks_of(group)] == tasks
    assert [len(group.programs) for group in sent] == [2, 1, 2]


async def test_a_problem_in_several_batches_is_the_same_object_so_that_its_checker_is_made_once() -> None:
    tasks, packing = tasks_of("one", "a", "b"), Packing()
    node = NodeJudge(None, HERE)  # type: ignore[arg-type]
    first, second = [await node.tasks_of(packing.groups([task])[0]) for task in tasks]
    assert first[0].problem is second[0].problem


def test_two_problems_have_different_keys() -> None:
    packing = Packing()
    keys = [packing.groups(tasks_of("same", "a"))[0].key for _ in range(3)]
    assert len(set(keys)) == 3


@pytest.mark.parametrize(
    ("other", "says"),
    [
        (replace(HERE, backend="gvisor"), "backend gvisor, not local"),
        (replace(HERE, interpreter="CPython 3.12.1"), "interpreter CPython 3.12.1, not CPython 3.11.7"),
        (replace(HERE, isolation=("seccomp",)), "isolation seccomp, not none"),
        (replace(HERE, packages=("numpy==2.1", "pytest==9.0")), "packages numpy==2.1, not numpy==2.0"),
        (replace(HERE, packages=("pytest==9.0",)), "packages none, not numpy==2.0"),
        (replace(HERE, rules=2), "rules 2, not 1"),
    ],
)
def test_another_sandbox_is_refused_with_the_first_difference(other: Identity, says: str) -> None:
    with pytest.raises(SandboxError, match=f"it judges by another sandbox: {says}$"):
        refuse_other(HERE, other)


def test_the_same_sandbox_is_accepted() -> None:
    refuse_other(HERE, replace(HERE))
