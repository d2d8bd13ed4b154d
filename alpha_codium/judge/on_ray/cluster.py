"""The executor `ray`: hands batches to the nodes of a cluster, and again when they are lost."""

import asyncio
import contextlib
import functools
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from loguru import logger

from alpha_codium.coroutines import in_thread
from alpha_codium.errors import UserError, some_of
from alpha_codium.judge.executors import Executor, Task
from alpha_codium.judge.on_ray.connection import Connection
from alpha_codium.judge.on_ray.node import Group, NodeJudge, Packing, current
from alpha_codium.program import PYTHON
from alpha_codium.sandbox import Sandbox
from alpha_codium.values import JsonValue, named
from alpha_codium.verdict import Judgement
from alpha_codium.wording import counted

if TYPE_CHECKING:
    from alpha_codium.config import Settings

# A test of a short program takes 2 to 10 ms of a core, so that a batch takes about a second.
TESTS_IN_BATCH = 200
# How often a batch may be lost before its programs are judged one by one, and how often a program then.
MOST_LOSSES = 3
# Seconds between two looks at the nodes, and until a run without any node says so and ends.
LOOK_EVERY, SAY_AFTER, PATIENCE = 3.0, 30.0, 600.0


class Lost(Exception):
    """The worker or the node was lost that judged a batch."""


@dataclass(eq=False)
class Node(JsonValue):
    """A node of the cluster with its actor.

    `answers` is false from when the actor is lost until it answers again, `left` true if the node left the cluster.
    `alone`: whether it judges a program with nothing beside it. `lost` counts batches.
    """

    in_json: ClassVar[Mapping[str, str]] = named("address", "cpus", "batches", "programs", "lost", node="key")

    key: str
    address: str
    cpus: int
    actor: Any
    answers: bool = False
    left: bool = False
    alone: bool = False
    running: int = 0
    batches: int = 0
    programs: int = 0
    lost: int = 0

    @property
    def most(self) -> int:
        """How many batches it gets at a time: one more than it can run, so that it never waits."""
        return self.cpus + 1

    @property
    def takes_more(self) -> bool:
        """Whether it takes another batch."""
        return self.running < self.most and not self.alone

    def refusal(self, why: object) -> UserError:
        """Return the error for why it can't judge."""
        return UserError(f"node {self.address} of the Ray cluster: {why}")


class RayCluster(Executor):
    """Judges on all nodes of a Ray cluster as the open sandbox here does, which the settings describe."""

    tests_in_batch = TESTS_IN_BATCH

    def __init__(self, sandbox: Sandbox, workers: int, settings: "Settings") -> None:
        self.sandbox, self.settings = sandbox, settings
        self.nodes: dict[str, Node] = {}
        self._packing = Packing()
        self._changed = asyncio.Condition()
        self._alone = asyncio.Lock()
        self._helpers: set[asyncio.Task[None]] = set()
        self._failed: Exception | None = None
        self._started = time.monotonic()

    async def __aenter__(self) -> Self:
        """See `Executor`: connect to the cluster, and wait for the actor of one node at least."""
        self.identity = current(await self.sandbox.identity())
        self._connection = Connection(self.settings.code_tester.ray_address)
        await asyncio.wrap_future(self._connection.opened)
        try:
            await self._look()
            if not self.nodes:
                raise UserError("no node of the Ray cluster has CPUs")
            self._help(self._keep_looking())
            await self._node(alone=True)
        except BaseException:
            await self.__aexit__()
            raise
        self._started = time.monotonic()
        return self

    async def __aexit__(self, *_exc: object) -> None:
        """End the actors and what they run, and leave the cluster."""
        import ray

        for helper in self._helpers:
            helper.cancel()
        await asyncio.gather(*self._helpers, return_exceptions=True)
        closing = [asyncio.wait_for(_answer(node.actor.close.remote()), 5) for node in self.nodes.values()]
        await asyncio.gather(*closing, return_exceptions=True)
        for node in self.nodes.values():
            ray.kill(node.actor)
        await in_thread(self._connection.close)

    @property
    def in_flight(self) -> int:
        """See `Executor`."""
        return max(1, sum(node.most for node in self.nodes.values() if node.answers))

    async def judge(self, tasks: Sequence[Task]) -> Sequence[Judgement]:
        """See `Executor`; raises UserError if no node is left, or one can't judge as the sandbox here does."""
        groups = await in_thread(self._packing.groups, tasks)
        programs = counted(len(tasks), "program")
        tools = {name: self.sandbox.tool_version(name) for name in {task.program.language for task in tasks} - {PYTHON}}
        for _ in range(MOST_LOSSES):
            node = await self._node()
            with contextlib.suppress(Lost):
                return await self._ask(node, groups, tools)
        names = some_of({task.problem.name for task in tasks})
        logger.warning("a batch of {} was lost {} times, so each is judged alone: {}", programs, MOST_LOSSES, names)
        return [await self._judge_alone(task, tools) for task in tasks]

    async def _judge_alone(self, task: Task, tools: dict[str, str]) -> Judgement:
        """Judge a program with nothing else on the node."""
        groups = self._packing.groups([task])
        async with self._alone:
            for _ in range(MOST_LOSSES):
                node = await self._node(alone=True)
                node.alone = True
                try:
                    await self._wait_until(functools.partial(_is_idle, node))
                    with contextlib.suppress(Lost):
                        return (await self._ask(node, groups, tools))[0]
                finally:
                    node.alone = False
        why = f"the worker of a node was lost {MOST_LOSSES} times while it judged nothing but this program"
        logger.warning("program {} of {}: {}", task.program.digest[:16], task.problem.name, why)
        return task.unjudged(why)

    async def _ask(self, node: Node, groups: list[Group], tools: dict[str, str]) -> list[Judgement]:
        """Judge a batch on a node; raises Lost if the worker or the node is."""
        import ray

        node.running += 1
        try:
            judgements: list[Judgement] = await _answer(node.actor.judge.remote(groups, tools))
        except ray.exceptions.RayTaskError as error:
            if isinstance(error.cause, UserError):
                raise node.refusal(error.cause) from None
            raise
        except (ray.exceptions.RayActorError, ray.exceptions.RaySystemError, ray.exceptions.ObjectLostError) as error:
            node.lost += 1
            if node.answers:
                node.answers = False
                logger.warning(
                    "the worker on node {} was lost ({}): what it judged is judged again",
                    node.address,
                    type(error).__name__,
                )
                self._help(self._await_answer(node))
            raise Lost from error
        finally:
            node.running -= 1
            await self._notify()
        node.batches += 1
        node.programs += len(judgements)
        return judgements

    async def _node(self, *, alone: bool = False) -> Node:
        """Wait for a node that takes a batch, or one to be `alone` on, and return the one with the least to do."""
        found: list[Node] = []

        def is_there() -> bool:
            found[:] = (node for node in self.nodes.values() if node.answers and (alone or node.takes_more))
            return bool(found)

        await self._wait_until(is_there)
        return min(found, key=lambda node: node.running / node.cpus)

    async def _wait_until(self, condition: Callable[[], bool]) -> None:
        async with self._changed:
            await self._changed.wait_for(lambda: self._failed is not None or condition())
        if self._failed is not None:
            raise self._failed

    async def _notify(self) -> None:
        async with self._changed:
            self._changed.notify_all()

    def _help(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something beside the judging; its error ends that."""

        async def helped() -> None:
            try:
                await work
            except Exception as error:  # noqa: BLE001 - raised by those who wait
                self._failed = self._failed or error
                await self._notify()

        helper = asyncio.create_task(helped())
        self._helpers.add(helper)
        helper.add_done_callback(self._helpers.discard)

    async def _keep_looking(self) -> None:
        """Give nodes that join an actor, forget those that left, and end the run if none answers for long."""
        seen, said = time.monotonic(), False
        while self._failed is None:
            await asyncio.sleep(LOOK_EVERY)
            await self._look()
            silent = time.monotonic() - seen
            if any(node.answers for node in self.nodes.values()):
                seen, said = time.monotonic(), False
            elif silent > PATIENCE:
                raise UserError("no node of the Ray cluster answers, or all CPUs are taken (see `ray status`)")
            elif silent > SAY_AFTER and not said:
                said = True
                logger.warning(
                    "no node of the Ray cluster answers, or all CPUs are taken (see `ray status`): waiting {} minutes",
                    round(PATIENCE / 60),
                )

    async def _look(self) -> None:
        import ray

        try:
            nodes = await in_thread(ray.nodes)
        except ray.exceptions.RayError as error:
            raise UserError(f"the Ray cluster doesn't answer any more: {error}") from error
        alive = {each["NodeID"]: each for each in nodes if each["Alive"]}
        for key, node in self.nodes.items():
            if key not in alive:
                node.left, node.answers = True, False
        for key, each in alive.items():
            cpus = int(each["Resources"].get("CPU", 0))
            if cpus and key not in self.nodes:
                cpus = min(self.settings.code_tester.workers or cpus, cpus)
                self.nodes[key] = Node(key, each["NodeManagerAddress"], cpus, self._actor(key, cpus))
                self._help(self._await_answer(self.nodes[key]))

    def _actor(self, node: str, cpus: int) -> Any:
        import ray
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        # A lost batch is counted here, so Ray repeats none.
        options = {"num_cpus": cpus, "max_restarts": -1, "max_task_retries": 0}
        there = NodeAffinitySchedulingStrategy(node, soft=False)
        actor = ray.remote(NodeJudge).options(**options, scheduling_strategy=there)
        return actor.remote(_for_nodes(self.settings, cpus), self.identity)

    async def _await_answer(self, node: Node) -> None:
        """Wait until an actor is open, and again after each failure; a node that judges otherwise ends the run."""
        import ray

        while not node.answers and not node.left:
            try:
                await _answer(node.actor.is_open.remote())
            except ray.exceptions.RayTaskError as error:
                raise node.refusal(error.cause) from error
            except ray.exceptions.RayError:
                await asyncio.sleep(1)
            else:
                node.answers = True
                await self._notify()

    def status(self) -> str:
        """See `Executor`."""
        nodes = self.nodes.values()
        batches, lost = sum(node.batches for node in nodes), sum(node.lost for node in nodes)
        rate = sum(node.programs for node in nodes) / max(0.001, time.monotonic() - self._started)
        again = f" ({lost} repeated)" if lost else ""
        here = counted(sum(node.answers for node in nodes), "node")
        return f"{here}, batches: {batches}{again}, {rate:.0f} programs/s"

    def machines(self) -> list[dict[str, Any]]:
        """See `Executor`."""
        return [node.to_json() for node in self.nodes.values()]


def _is_idle(node: Node) -> bool:
    return not node.running or not node.answers


async def _answer(reference: Any) -> Any:
    """Wait for the answer of an actor; what it does is cancelled if nobody waits any more."""
    import ray

    try:
        return await reference
    except asyncio.CancelledError:
        ray.cancel(reference)
        raise


def _for_nodes(settings: "Settings", workers: int) -> "Settings":
    """Return what a node needs of the settings: nothing about models."""
    tester = settings.code_tester.model_copy(update={"workers": workers, "executor": "local"})
    return type(settings)(code_tester=tester, sandbox=settings.sandbox, languages=settings.languages)
