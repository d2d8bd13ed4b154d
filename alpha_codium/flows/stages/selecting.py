"""Several programs side by side, each repaired a little; then the one that behaves as most do, or answers better."""

import asyncio
import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from alpha_codium.config import Settings
from alpha_codium.flows.asking import NoAnswer, Question, Reading, ask_all, ask_question
from alpha_codium.flows.clusters import Cluster, clusters_of, telling_input, valid_inputs
from alpha_codium.flows.context import BudgetExhausted, SampleContext, shortened
from alpha_codium.flows.inputs import example_input, inputs_in, mutations, public_inputs
from alpha_codium.flows.stages.fixing import failure_of, first_failed
from alpha_codium.flows.stages.parameters import prompt_file
from alpha_codium.flows.stages.writing import Writer, judge_program
from alpha_codium.flows.state import FlowState, JudgedProgram
from alpha_codium.flows.tasks import CodingTask
from alpha_codium.languages.python.examples import examples_in
from alpha_codium.problem import Statement
from alpha_codium.rendering import Prompt

SHOWN = 600
# Capitals only: `a` is an article. What follows the word "answer" goes before all else that names an output.
LETTER = r"(?i:%s)\W{0,6}(?:(?i:is)\W{1,4})?(?:(?i:output)\W{1,3})?([AB])\b"
SAID = (re.compile(LETTER % "answer"), re.compile(LETTER % "right|correct|output"))
ALONE = re.compile(r"(?:.*\banswer\W{1,6})?\W*([AB])\W*", re.IGNORECASE)


@dataclass(frozen=True)
class Select(Writer):
    """Writes `candidates` programs and chooses one.

    1. All are asked for at once, from the statement alone; each that fails a public test is repaired `fixes` times,
       and a repair is kept if it comes nearer. What is the same text is judged and repaired once.
    2. Of those that pass most public tests, each runs on inputs of which nobody knows the output: half of them the
       model's, the others small changes of the public ones. What hardly any program can take is left out.
    3. Those that do the same on all make a cluster, the largest comes first. A crash agrees with nothing.
       Where no input is left, the nearest to passing is the choice.
    4. The first cluster is compared with the next ones, if those are more than half as large: the model is shown an
       input on which two differ and both outputs, not the programs, and says which is right.
    """

    repair_prompt: Prompt = field(**prompt_file("repair", code=True))
    inputs_prompt: Prompt = field(**prompt_file("new_inputs"))
    compare_prompt: Prompt = field(**prompt_file("which_output"))

    async def run(self, state: FlowState, context: SampleContext) -> None:
        """Write and choose; the state has the best program so far at any time."""
        attempts = await self._candidates(state, context)
        most = max((_rank(attempt) for attempt in attempts), default=None)
        pool = [attempt.program for attempt in attempts if _rank(attempt) == most]
        if not pool:
            return
        state.program = max(attempts, key=lambda attempt: attempt.nearness).program
        if len(set(pool)) > 1 and context.settings.select.inputs:
            inputs = await self._inputs(state, context)
            await self._choose(state, pool, inputs, context)

    async def _candidates(self, state: FlowState, context: SampleContext) -> list[JudgedProgram]:
        """The programs with what the public tests say of them, after repairs, in the order in which they were asked."""
        settings = context.settings.select
        questions = [self.question(state, context, number) for number in range(settings.candidates)]
        readings = await ask_all(questions, context)
        judged: dict[str, JudgedProgram] = {}
        texts = [reading.code for reading in readings if isinstance(reading, Reading)]
        for text in dict.fromkeys(texts):
            judged[text] = await judge_program(text, state, context)
        ended = next((reading for reading in readings if isinstance(reading, BudgetExhausted)), None)
        if ended is not None and not texts:
            raise ended
        _note(context, readings)
        attempts = [judged[text] for text in texts]
        for number in range(settings.fixes if state.statement.public_tests else 0):
            attempts = await self._repaired(attempts, number, state, context)
        return attempts

    async def _repaired(
        self, attempts: list[JudgedProgram], number: int, state: FlowState, context: SampleContext
    ) -> list[JudgedProgram]:
        """The attempts, each that fails in its repaired form where that is nearer to passing."""
        task, tests = CodingTask.of(state, context), state.statement.public_tests
        failing = {each.program: each for each in attempts if not each.judgement.accepted}
        questions = []
        for attempt in failing.values():
            failed = first_failed(attempt.judgement, tests) or tests[0]
            told = await failure_of(attempt.program, failed, attempt.judgement, context)
            questions.append(Question(self.repair_prompt, task.variables | told, task.form, number))
        readings = await ask_all(questions, context)
        _note(context, readings)
        better: dict[str, JudgedProgram] = {}
        for program, reading in zip(failing, readings, strict=True):
            if isinstance(reading, Reading):
                repaired = await judge_program(reading.code, state, context)
                kept = repaired.nearness > failing[program].nearness
                context.record("repair", verdict=repaired.judgement.verdict.value, kept=kept)
                better |= {program: repaired} if kept else {}
        return [better.get(attempt.program, attempt) for attempt in attempts]

    async def _inputs(self, state: FlowState, context: SampleContext) -> list[str]:
        """Inputs to tell programs apart by: half of them the model's, as far as there are others."""
        most, task = context.settings.select.inputs, CodingTask.of(state, context)
        fit = (text for text in mutations(task) if not context.judge.kind.input_fault(text))
        # Of a long input this takes a while: not in the event loop.
        changed = await asyncio.to_thread(lambda: list(itertools.islice(fit, most)))
        number = max(most - most // 2, most - len(changed))
        thought_of = [text for text in await self._thought_of(task, number, context) if text not in changed]
        return [*thought_of[:number], *changed][:most]

    async def _thought_of(self, task: CodingTask, number: int, context: SampleContext) -> list[str]:
        public = public_inputs(task)
        example = example_input(task)
        if not example:
            return []
        variables = task.variables | {"kind": task.kind, "number": number, "example": example.strip()}
        try:
            answer = await ask_question(Question(self.inputs_prompt, variables, may_be_last=True), context)
        except (NoAnswer, BudgetExhausted) as error:
            context.skip("new_inputs", error)
            return []
        found = await asyncio.to_thread(inputs_in, answer.values["text"], task)
        return [text for text in found if text not in public and not context.judge.kind.input_fault(text)]

    async def _choose(
        self, state: FlowState, pool: Sequence[str], inputs: Sequence[str], context: SampleContext
    ) -> None:
        """Cluster the programs of the pool, and give the state that of the cluster which wins."""
        votes = {pool.index(text): [n for n, other in enumerate(pool) if other == text] for text in dict.fromkeys(pool)}
        behaviours = {place: await context.behaviour(pool[place], inputs) for place in votes}
        valid = valid_inputs(list(behaviours.values()))
        if not valid:
            context.skip("clusters", "no input tells the programs apart")
            return
        inputs = [inputs[place] for place in valid]
        behaviours = {place: tuple(each[n] for n in valid) for place, each in behaviours.items()}
        clusters = clusters_of(behaviours, votes)
        context.record("clusters", inputs=inputs, sizes=[len(cluster.members) for cluster in clusters])
        champion = clusters[0]
        state.program = pool[champion.members[0]]
        for number, other in enumerate(clusters[1 : 1 + context.settings.select.max_comparisons]):
            if 2 * len(other.members) > len(champion.members):
                champion = await self._winner(champion, other, number, inputs, state, context)
                state.program = pool[champion.members[0]]

    async def _winner(
        self,
        champion: Cluster,
        other: Cluster,
        number: int,
        inputs: Sequence[str],
        state: FlowState,
        context: SampleContext,
    ) -> Cluster:
        """The cluster whose output is right on an input that tells them apart; the first where nobody knows."""
        place = telling_input(champion, other, inputs)
        if place is None:
            return champion
        # Models prefer one of two places: each cluster that wins stands in both.
        pair = (champion, other) if number % 2 == 0 else (other, champion)
        outputs = [cluster.behaviour[place].shown for cluster in pair]
        question = compare_question(self.compare_prompt, CodingTask.of(state, context), inputs[place], *outputs)
        try:
            right = first_is_right((await ask_question(question, context)).values["text"])
        except NoAnswer as error:
            context.skip("which_output", error)
            return champion
        context.record("which_output", input=inputs[place], right={True: "A", False: "B", None: ""}[right])
        return champion if right is None else pair[0 if right else 1]

    def calls(self, settings: Settings, statement: Statement) -> tuple[int, int]:
        """The least and the most calls, without those for answers that can't be read."""
        select, tested = settings.select, bool(statement.public_tests or examples_in(statement))
        repairs = select.candidates * select.fixes if tested else 0
        choosing = 1 + min(select.max_comparisons, select.candidates - 1) if select.inputs else 0
        return select.candidates, select.candidates + repairs + (choosing if select.candidates > 1 else 0)


def _rank(attempt: JudgedProgram) -> tuple[bool, int]:
    return attempt.nearness.ran, attempt.judgement.tests_passed


def _note(context: SampleContext, readings: Sequence[Reading | NoAnswer | BudgetExhausted]) -> None:
    for reading in readings:
        if not isinstance(reading, Reading):
            context.skip("select", reading)


def compare_question(prompt: Prompt, task: CodingTask, input: str, first: str, second: str) -> Question:
    """The question which of two outputs for an input is right; it may be the budget's last."""
    shown = {"input": input, "first": first, "second": second}
    variables = {name: shortened(text.strip(), SHOWN) or "(nothing)" for name, text in shown.items()}
    return Question(prompt, task.variables | variables, may_be_last=True)


def first_is_right(answer: str) -> bool | None:
    """Whether an answer takes A; None where it takes neither. Of what is said in the same way the last counts."""
    lines = [line for line in answer.splitlines() if line.strip()]
    alone = ALONE.fullmatch(lines[-1]) if lines else None
    said = next((found for each in SAID if (found := each.findall(answer))), [])
    letter = alone[1] if alone else said[-1] if said else ""
    return letter.upper() == "A" if letter else None
