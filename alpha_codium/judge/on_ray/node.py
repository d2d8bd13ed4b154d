"""Judging on one node of a Ray cluster, for `cluster`, and how batches of tasks cross to it."""

import asyncio
import itertools
import pickle
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from alpha_codium.coroutines import in_thread
from alpha_codium.errors import SandboxError
from alpha_codium.judge.executors import LocalPool, Task
from alpha_codium.judge.many import judge_all
from alpha_codium.program import Program
from alpha_codium.sandbox import Sandbox, sandbox_of
from alpha_codium.verdict import JUDGING_RULES, Identity, Judgement

if TYPE_CHECKING:
    from alpha_codium.config import Settings

# Bytes of a problem and its tests that are sent with each batch; larger ones are put into the object store once.
SENT_AT_MOST = 1 << 16
# The last problems, kept for further batches.
KEPT_PROBLEMS = 16


@dataclass(frozen=True, slots=True)
class Group:
    """Tasks of a batch that differ in their programs only.

    `shared` is the rest of a task, pickled, or a reference to that in the object store; `key` identifies it.
    """

    key: int
    shared: Any
    programs: tuple[Program, ...]


class Packing:
    """Turns tasks into groups; each problem is pickled once, as long as its tasks follow each other."""

    def __init__(self) -> None:
        self._last: tuple[Task, int, Any] | None = None

    def groups(self, tasks: Sequence[Task]) -> list[Group]:
        """Return the groups of a batch, in the order of the tasks."""
        found = []
        for _, alike in itertools.groupby(tasks, lambda task: task.batch_key):
            group = list(alike)
            key, shared = self._shared(group[0])
            found.append(Group(key, shared, tuple(task.program for task in group)))
        return found

    def _shared(self, task: Task) -> tuple[int, Any]:
        last = self._last
        if last is not None and last[0].batch_key == task.batch_key:
            return last[1:]
        packed: Any = pickle.dumps((task.problem, task.tests, task.rules, task.output_variable))
        if len(packed) > SENT_AT_MOST:
            import ray

            packed = ray.put(packed)
        key = 0 if last is None else last[1] + 1
        # The task is kept, so that no other one has its `judged_by`.
        self._last = task, key, packed
        return key, packed


class NodeJudge:
    """The actor of a node: judges as the sandbox with `identity` does, in one of its own, opened by the settings."""

    def __init__(self, settings: "Settings", identity: Identity) -> None:
        self.settings, self.identity = settings, identity
        self._opening = asyncio.Lock()
        self._sandbox: Sandbox | None = None
        self._problems: dict[int, tuple[Any, ...]] = {}

    async def open(self) -> Sandbox:
        """Return the open sandbox; raises SandboxError if this node can't provide it, or it judges otherwise."""
        async with self._opening:
            if self._sandbox is None:
                sandbox = sandbox_of(self.settings)
                async with AsyncExitStack() as stack:
                    await stack.enter_async_context(sandbox)
                    refuse_other(self.identity, current(await sandbox.identity()))
                    stack.pop_all()
                self._sandbox = sandbox
            return self._sandbox

    async def is_open(self) -> bool:
        """Open the sandbox; see `open`."""
        return await self.open() is not None

    async def close(self) -> None:
        """End what runs."""
        if self._sandbox is not None:
            await self._sandbox.__aexit__(None, None, None)

    async def judge(self, groups: Sequence[Group], tools: Mapping[str, str]) -> list[Judgement]:
        """Judge a batch; raises SandboxError if the compilers of its languages have other versions than `tools`."""
        sandbox = await self.open()
        for language, version in tools.items():
            here = await in_thread(sandbox.tool_version, language)
            if here != version:
                raise SandboxError(f"it has {here} for {language}, not {version}")
        tasks = [task for group in groups for task in await self.tasks_of(group)]
        # Several batches run at a time, so that each needs one worker only.
        return await judge_all(tasks, LocalPool(sandbox, 1))

    async def tasks_of(self, group: Group) -> list[Task]:
        """Return the tasks of a group, whose problem is kept for further batches."""
        if group.key not in self._problems:
            packed = group.shared if isinstance(group.shared, bytes) else await group.shared
            if len(self._problems) >= KEPT_PROBLEMS:
                del self._problems[next(iter(self._problems))]
            self._problems[group.key] = pickle.loads(packed)  # noqa: S301 - from the process that started this one
        problem, tests, rules, variable = self._problems[group.key]
        return [Task(program, problem, tests, rules, variable) for program in group.programs]


def current(identity: Identity) -> Identity:
    """Return the identity of a sandbox with the version of the judging rules here."""
    return replace(identity, rules=JUDGING_RULES)


def refuse_other(expected: Identity, found: Identity) -> None:
    """Raise SandboxError, which names the first difference, unless both judge alike."""
    for name in (field.name for field in fields(Identity)):
        here, there = getattr(found, name), getattr(expected, name)
        if here == there:
            continue
        if name == "packages":
            here, there = (sorted({*one} - {*other})[:3] for one, other in ((here, there), (there, here)))
        raise SandboxError(f"it judges by another sandbox: {name} {_text(here)}, not {_text(there)}")


def _text(value: Any) -> str:
    return ", ".join(map(str, value)) or "none" if isinstance(value, list | tuple) else str(value)
