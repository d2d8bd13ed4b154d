"""The turns of one item."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
import pytest_asyncio

from alpha_codium.llm.errors import ContentFiltered, ContextOverflow
from alpha_codium.llm.messages import Answer, ChatRequest
from alpha_codium.repository.checkout import Checkout
from alpha_codium.repository.harness import Edit, RepositoryTestResult, SuiteRun
from alpha_codium.repository.methods import stubbed
from alpha_codium.repository.providers import LocalProvider, ProviderError, TestProvider
from alpha_codium.repository.running.benchmarks import BENCHMARKS, whole_method
from alpha_codium.repository.running.conversation import Manner
from alpha_codium.repository.running.loop import LoopItem, LoopRules, TestsNotRun
from alpha_codium.repository.running.prompts import load_prompts
from alpha_codium.repository.running.turns import ItemRun, TurnStatus
from alpha_codium.repository.tasks import RepositoryTask
from alpha_codium.runs.events import event_from_json, event_to_json
from tests.repository.shop import FREE, GROSS, NET, SOURCE, task_of_shop

pytestmark = pytest.mark.asyncio(loop_scope="module")
TASK = task_of_shop("Sale.net", (NET,), (GROSS, FREE))
TASK = RepositoryTask.from_json(TASK.to_json() | {"buggy_text": stubbed(SOURCE, TASK.method), "test_error": "net: no"})
RIGHT = f"```python\n{whole_method(TASK)}```"
WRONG = "```python\ndef net(self):\n    return 1\n```"
PROSE = "I don't know."


class Model:
    """Gives these answers, or raises these errors, in turn; remembers what it was asked."""

    name = "scripted"

    def __init__(self, *answers: str | Exception) -> None:
        self.answers, self.asked = list(answers), list[ChatRequest]()

    def supports_json_schema(self, model: str = "") -> bool:
        return False

    def supports_n(self, model: str = "") -> bool:
        return False

    async def ask(self, request: ChatRequest) -> Answer:
        self.asked.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return Answer(answer, self.name)

    async def ask_many(self, request: ChatRequest, n: int) -> list[Answer]:
        return [await self.ask(request)]

    def shown(self, number: int = -1) -> list[tuple[str, str]]:
        return [(message.role, message.content) for message in self.asked[number].messages]


class Tests:
    """A provider that gives these results, or raises these errors, in turn."""

    __test__ = False

    def __init__(self, *runs: SuiteRun | Exception) -> None:
        self.runs = list(runs)

    async def run(self, task: RepositoryTask, edit: Edit) -> SuiteRun:
        run = self.runs.pop(0)
        if isinstance(run, Exception):
            raise run
        return run


FAILED = SuiteRun((RepositoryTestResult(NET, "failed", "1 != 5"), RepositoryTestResult(FREE, "passed")), 0.5)
PASSED = SuiteRun((RepositoryTestResult(NET, "passed"),), 0.5)


def rules(benchmark: str = "method_gen_multiturn", **changes: Any) -> LoopRules:
    return replace(LoopRules(BENCHMARKS[benchmark], load_prompts(benchmark), max_iter=4), **changes)


async def item_after(model: Model | None, tests: Any, followed: LoopRules | None = None) -> LoopItem:
    task, followed = TASK, followed or rules()
    item = LoopItem(task, followed, tests, model)
    await item.run()
    for event in item.events:
        assert event_from_json(event_to_json(event)) == event
    run = ItemRun(1, task.dp_id, 0, task.file_path, task.method.name, tuple(item.turns))
    assert ItemRun.from_json(run.to_json()) == run
    return item


def statuses(item: LoopItem) -> list[TurnStatus]:
    return [turn.status for turn in item.turns]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def local(checkout: Checkout) -> AsyncIterator[TestProvider]:
    async with LocalProvider(lambda _: checkout, workers=1) as provider:
        yield provider


async def test_the_model_gets_the_results_of_tests_until_they_pass(local: TestProvider) -> None:
    model = Model(PROSE, WRONG, RIGHT, "never asked")
    item = await item_after(model, local)
    assert statuses(item) == [TurnStatus.NOT_RUN, TurnStatus.FAILED, TurnStatus.OK]
    roles = [role for role, _ in model.shown()]
    assert roles == ["system", "user", "assistant", "user", "assistant", "user"]
    told = [text for role, text in model.shown() if role == "user"]
    assert "must begin with `def net`" in told[1]
    assert f"{NET}: failed" in told[2] and "AssertionError: 1 != 5" in told[2] and GROSS not in told[2]
    first, second, third = item.turns
    assert (first.share_passed, second.share_passed, third.share_passed) == (0.0, 2 / 3, 1.0)
    assert third.measures.exact_match == third.measures.method_name == 1.0 and third.feedback == ""
    assert [event.kind for event in item.events] == ["answer", "step"] * 3


@pytest.mark.parametrize("benchmark", BENCHMARKS)
async def test_the_right_answer_passes_without_a_model(local: TestProvider, benchmark: str) -> None:
    item = await item_after(None, local, rules(benchmark, max_iter=1))
    assert statuses(item) == [TurnStatus.OK]


async def test_a_repair_of_the_wrong_method_is_tested_and_counted(local: TestProvider) -> None:
    answer = "```python\ndef free(cls):\n    return cls(0)\n```"
    item = await item_after(Model(answer), local, rules("program_repair", max_iter=1))
    (turn,) = item.turns
    assert (turn.status, turn.method, turn.measures.method_name) == (TurnStatus.FAILED, "Price.free", 0.0)
    failed = {test.name for test in turn.tests if test.status != "passed"}
    assert failed == {NET}, "the bug is still there, and the decorator of the other method, too"


async def test_the_turns_end_after_max_iter() -> None:
    item = await item_after(Model(WRONG, WRONG), Tests(FAILED, FAILED), rules(max_iter=2))
    assert statuses(item) == [TurnStatus.FAILED] * 2


@pytest.mark.parametrize(
    ("manner", "answers_shown", "told"),
    [
        (Manner(), ["A", "B", "C"], True),
        (Manner(no_feedback=True), ["A", "B", "C"], False),
        (Manner(no_history=True), ["C"], True),
        (Manner(repair_sampling=True), ["A"], True),
        (Manner(no_multiturn=True), [], False),
    ],
)
async def test_each_manner_shows_other_turns_again(manner: Manner, answers_shown: Sequence[str], told: bool) -> None:
    model = Model(*(f"{WRONG}\n{letter}" for letter in "ABCD"))
    await item_after(model, Tests(*[FAILED] * 4), rules(manner=manner))
    shown = model.shown()
    assert [text[-1] for role, text in shown if role == "assistant"] == answers_shown
    assert any("1 != 5" in text for _, text in shown) == told


async def test_thinking_is_switched_off_by_a_word() -> None:
    for think in (True, False):
        model = Model(RIGHT)
        await item_after(model, Tests(PASSED), rules(manner=Manner(think=think)))
        assert model.shown()[-1][1].endswith(" /no_think") != think


async def test_the_oldest_answer_is_left_out_where_all_do_not_fit() -> None:
    model = Model(f"{WRONG}\nA", f"{WRONG}\nB", ContextOverflow("too long"), RIGHT)
    item = await item_after(model, Tests(FAILED, FAILED, PASSED))
    assert [text[-1] for role, text in model.shown() if role == "assistant"] == ["B"]
    assert statuses(item)[-1] is TurnStatus.OK


async def test_a_question_that_does_not_fit_ends_the_item() -> None:
    item = await item_after(Model(ContextOverflow("4097 tokens")), Tests())
    assert statuses(item) == [TurnStatus.NOT_RUN]
    assert item.turns[0].reason == "the model gave no answer: 4097 tokens"


async def test_a_refusal_is_a_turn() -> None:
    item = await item_after(Model(ContentFiltered("a filter"), RIGHT), Tests(PASSED))
    assert statuses(item) == [TurnStatus.NOT_RUN, TurnStatus.OK]


async def test_the_end_of_the_tests_process_is_told() -> None:
    crash = SuiteRun((RepositoryTestResult(NET, "not_run"),), 60.0, crash="time_limit_exceeded")
    model = Model(WRONG, RIGHT)
    item = await item_after(model, Tests(crash, PASSED))
    assert statuses(item) == [TurnStatus.CRASHED, TurnStatus.OK]
    assert item.turns[0].to_json()["status"] == "CRUSHED"
    assert "ended early: time_limit_exceeded" in model.shown()[-1][1]


async def test_tests_run_again_after_faults_of_the_sandbox(warnings: list[str]) -> None:
    item = await item_after(Model(RIGHT), Tests(ProviderError("gone"), ProviderError("no memory"), PASSED))
    assert statuses(item) == [TurnStatus.OK]
    assert "gone: attempt 2" in warnings[0] and "no memory: attempt 3" in warnings[1]


async def test_a_program_can_not_choose_a_fault_of_the_sandbox_by_what_it_prints() -> None:
    printed = SuiteRun((RepositoryTestResult(NET, "not_run"),), 0.0, crash="internal_error no memory")
    item = await item_after(Model(WRONG, RIGHT), Tests(printed, PASSED))
    assert statuses(item) == [TurnStatus.CRASHED, TurnStatus.OK]


async def test_an_item_whose_tests_can_never_run_has_no_verdict() -> None:
    with pytest.raises(TestsNotRun, match="the tests could not be run: gone"):
        await item_after(Model(RIGHT), Tests(*[ProviderError("gone")] * 3), rules(max_retries=2))


async def test_each_turn_and_replica_has_a_seed_of_its_own() -> None:
    seeds = set()
    for replica in range(2):
        model = Model(WRONG, WRONG)
        seeded = rules(max_iter=2, request=ChatRequest((), seed=5))
        await LoopItem(TASK, seeded, Tests(FAILED, FAILED), model, replica).run()
        seeds |= {request.seed for request in model.asked}
    assert seeds == {5, 6, 1005, 1006}


async def test_a_task_has_as_many_tests_as_allowed_first_those_that_decide() -> None:
    item = LoopItem(TASK, rules(max_tests=2), Tests(), None)
    assert item.task.tests == (NET, GROSS)
