"""Selection among several programs by majority behaviour, and by the model's choice between outputs."""

import asyncio
import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from alpha_codium.config import Settings
from alpha_codium.flows.asking import NoAnswer, Question, Reading, ask, ask_all, ask_or_skip
from alpha_codium.flows.clusters import Cluster, clusters_of, distinguishing_input, valid_inputs
from alpha_codium.flows.context import BudgetExhausted, SampleContext, shortened
from alpha_codium.flows.inputs import example_input, inputs_in, mutations, public_inputs
from alpha_codium.flows.stages import prompt_file
from alpha_codium.flows.stages.fixing import failure_of
from alpha_codium.flows.stages.writing import Writer, judge_program, usable_tests
from alpha_codium.flows.state import FlowState, JudgedProgram
from alpha_codium.flows.tasks import CodingTask
from alpha_codium.flows.variables import FAILURE
from alpha_codium.problem import Statement
from alpha_codium.rendering import Prompt

SHOWN = 600
# Only capital letters, since `a` is also an article. A letter after the word "answer" takes precedence.
LETTER = r"(?i:%s)\W{0,6}(?:(?i:is)\W{1,4})?(?:(?i:output)\W{1,3})?([AB])\b"
LETTER_PATTERNS = (re.compile(LETTER % "answer"), re.compile(LETTER % "right|correct|output"))
BOTH = re.compile(r"\banswer:\W{0,6}A\b.{0,20}\banswer:\W{0,6}B\b", re.IGNORECASE)
ALONE = re.compile(r"(?:.*\banswer\W{1,6})?\W*([AB])\W*", re.IGNORECASE)


@dataclass(frozen=True)
class Select(Writer):
    """Writes `candidates` programs and chooses one.

    1. All programs are asked for concurrently, given only the statement. Those that fail a public test are repaired
       `fixes` times; a repair is kept if it is nearer to passing. Equal programs are judged and repaired once.
    2. The programs that pass most public tests are run on inputs without known outputs: half of them from the model,
       the others small changes of public inputs. Inputs on which most programs fail are discarded.
    3. Programs with the same outputs on all inputs form a cluster; the largest wins. Crashes are never equal. If no
       input is left, the program nearest to passing is chosen.
    4. The largest cluster is compared with others that are more than half as large: the model sees an input on which
       the two differ, and both outputs, but not the programs, and says which output is right.
    """

    repair_prompt: Prompt = field(**prompt_file("repair", code=True, variables=FAILURE))
    inputs_prompt: Prompt = field(**prompt_file("new_inputs", variables=("number", "example")))
    compare_prompt: Prompt = field(**prompt_file("which_output", variables=("input", "first", "second")))

    async def run(self, state: FlowState, context: SampleContext) -> None:
        """Write and choose programs; the state always has the best one so far."""
        candidates = await self._candidates(state, context)
        most = max((_rank(candidate) for candidate in candidates), default=None)
        pool = [candidate.program for candidate in candidates if _rank(candidate) == most]
        if not pool:
            return
        state.program = max(candidates, key=lambda candidate: candidate.nearness).program
        if len(set(pool)) > 1 and context.settings.select.inputs:
            inputs = await self._inputs(state, context)
            await self._choose(state, pool, inputs, context)

    async def _candidates(self, state: FlowState, context: SampleContext) -> list[JudgedProgram]:
        """Return the judged programs after repairs, in the order in which they were asked for."""
        settings = context.settings.select
        questions = [self.question(state, context, number) for number in range(settings.candidates)]
        readings = await ask_all(questions, context)
        programs = [reading.code for reading in readings if isinstance(reading, Reading)]
        judged = {program: await judge_program(program, state, context) for program in dict.fromkeys(programs)}
        ended = next((reading for reading in readings if isinstance(reading, BudgetExhausted)), None)
        if ended is not None and not programs:
            raise ended
        _record_skipped(context, readings)
        candidates = [judged[program] for program in programs]
        for number in range(settings.fixes if state.statement.public_tests else 0):
            candidates = await self._repaired(candidates, number, state, context)
        return candidates

    async def _repaired(
        self, candidates: list[JudgedProgram], number: int, state: FlowState, context: SampleContext
    ) -> list[JudgedProgram]:
        """Return the candidates, with failing ones replaced by repairs that are nearer to passing."""
        task, tests = CodingTask.of(state, context), state.statement.public_tests
        failing = {each.program: each for each in candidates if not each.judgement.accepted}
        questions = []
        for program, judged in failing.items():
            failure = await failure_of(program, tests, judged.judgement, context)
            questions.append(Question(self.repair_prompt, task.variables | failure, task.form, number))
        readings = await ask_all(questions, context)
        _record_skipped(context, readings)
        better: dict[str, JudgedProgram] = {}
        for program, reading in zip(failing, readings, strict=True):
            if isinstance(reading, Reading):
                repaired = await judge_program(reading.code, state, context)
                kept = repaired.nearness > failing[program].nearness
                context.record("repair", verdict=repaired.judgement.verdict.value, kept=kept)
                better |= {program: repaired} if kept else {}
        return [better.get(candidate.program, candidate) for candidate in candidates]

    async def _inputs(self, state: FlowState, context: SampleContext) -> list[str]:
        """Return inputs that may distinguish the programs, half of them from the model, or more if there are too few
        changed public inputs.
        """
        most, task = context.settings.select.inputs, CodingTask.of(state, context)
        valid = (text for text in mutations(task) if not context.judge.kind.input_fault(text))
        # In a thread, since it is slow for a long input.
        changed = await asyncio.to_thread(lambda: list(itertools.islice(valid, most)))
        number = max(most - most // 2, most - len(changed))
        from_model = [text for text in await self._inputs_of_model(task, number, context) if text not in changed]
        return [*from_model[:number], *changed][:most]

    async def _inputs_of_model(self, task: CodingTask, number: int, context: SampleContext) -> list[str]:
        example = example_input(task)
        if not example:
            return []
        shown = {text.strip() for text in (*public_inputs(task), example)}
        variables = task.variables | {"number": number, "example": example.strip()}
        try:
            answer = await ask(Question(self.inputs_prompt, variables, may_be_last=True), context)
        except (NoAnswer, BudgetExhausted) as error:
            context.skip("new_inputs", error)
            return []
        found = await asyncio.to_thread(inputs_in, answer.values["text"], task)
        return [text for text in found if text.strip() not in shown and not context.judge.kind.input_fault(text)]

    async def _choose(
        self, state: FlowState, pool: Sequence[str], inputs: Sequence[str], context: SampleContext
    ) -> None:
        """Cluster the programs of the pool, and make one of the winning cluster the state's program."""
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
                # Models tend to prefer A or B, so the champion alternates between them.
                pair = (champion, other) if number % 2 == 0 else (other, champion)
                champion = await self._winner(pair, inputs, state, context) or champion
                state.program = pool[champion.members[0]]

    async def _winner(
        self, pair: tuple[Cluster, Cluster], inputs: Sequence[str], state: FlowState, context: SampleContext
    ) -> Cluster | None:
        """Return the cluster whose output is right, according to the model, on an input on which the two differ; None
        if it doesn't choose one.
        """
        place = distinguishing_input(*pair, inputs)
        if place is None:
            return None
        first, second = (cluster.behaviour[place].shown for cluster in pair)
        shown = {"input": inputs[place], "first": first, "second": second}
        variables = {name: shortened(text.strip(), SHOWN) or "(nothing)" for name, text in shown.items()}
        task = CodingTask.of(state, context)
        question = Question(self.compare_prompt, task.variables | variables, may_be_last=True)
        reading = await ask_or_skip("which_output", question, context)
        if reading is None:
            return None
        right = first_is_right(reading.values["text"])
        context.record("which_output", input=inputs[place], right={True: "A", False: "B", None: ""}[right])
        return None if right is None else pair[0 if right else 1]

    def calls(self, settings: Settings, statement: Statement) -> tuple[int, int]:
        """Return the least and the most calls."""
        select = settings.select
        repairs = select.candidates * select.fixes if usable_tests(statement) else 0
        choosing = 1 + min(select.max_comparisons, select.candidates - 1) if select.inputs else 0
        return select.candidates, select.candidates + repairs + (choosing if select.candidates > 1 else 0)


def _rank(judged: JudgedProgram) -> tuple[bool, int]:
    return judged.nearness.ran, judged.judgement.tests_passed


def _record_skipped(context: SampleContext, readings: Sequence[Reading | NoAnswer | BudgetExhausted]) -> None:
    for reading in readings:
        if not isinstance(reading, Reading):
            context.skip("select", reading)


def first_is_right(answer: str) -> bool | None:
    """Return whether an answer chooses A; None if it chooses neither. Of several choices the last counts."""
    # A line with both choices only repeats the prompt.
    lines = [line for line in answer.splitlines() if line.strip() and not BOTH.search(line)]
    answer = "\n".join(lines)
    alone = ALONE.fullmatch(lines[-1]) if lines else None
    said = next((found for each in LETTER_PATTERNS if (found := each.findall(answer))), [])
    letter = alone[1] if alone else said[-1] if said else ""
    return letter.upper() == "A" if letter else None
