"""An audit: the kit's cases, asked of a grader; what it gets wrong is asked again at rest, with python3 as the witness.

1. The cases are asked several at a time. Those with a wrong answer are asked again, one at a time.
2. An answer that is right at rest is asked for a third time: if it is right again, the first was due to load (`load`),
   otherwise to chance (`races`).
3. The witness is a plain run of the program by the grader's interpreter, enclosed in the same way.
"""

import asyncio
import sys
from collections.abc import Callable, Collection, Sequence
from contextlib import AsyncExitStack

from alpha_codium.audit.graders.asking import (
    ACCEPTED,
    ANY_ANSWER,
    REFUSED,
    REJECTED,
    arguments_of,
    right_answer,
)
from alpha_codium.audit.graders.finding import find_grader
from alpha_codium.audit.graders.process import Grader, GraderAnswer, GraderProcess
from alpha_codium.audit.graders.report import Audit, Disagreement
from alpha_codium.audit.kit.cases import Case
from alpha_codium.errors import UserError

# The modules that programs of the kit import; those that an interpreter lacks are found by a program with the import.
NEEDS_PROGRAM = "import {}\nprint(1)"
MODULE_SECONDS = 60.0
ASKING, AT_REST = "cases", "asked again at rest"


def is_right(case: Case, answer: GraderAnswer) -> bool:
    """Whether a grader's answer is right; raising an error is right where nothing can be accepted."""
    right = right_answer(case)
    if right == ANY_ANSWER:
        return answer.seen in (ACCEPTED, REJECTED)
    return answer.seen == right or (right == REFUSED and answer.seen in (REJECTED, "error"))


def kind_of(case: Case, answer: GraderAnswer) -> str:
    """Return the list in which a wrong answer stands."""
    if answer.seen == "hang":
        return "hangs"
    if answer.seen in ("crash", "error"):
        return "crashes"
    if case.choice:
        return "choices"
    return "false_accepts" if answer.seen == ACCEPTED else "false_rejects"


async def run_audit(
    grader: Grader,
    cases: Sequence[Case],
    *,
    parallel: int = 2,
    deadline: float = 30.0,
    on_planned: Callable[[str, int], None] = lambda *_: None,
    on_answer: Callable[[bool], None] = lambda _: None,
) -> Audit:
    """Audit a grader by those of the cases that it grades, several at a time; each may take `deadline` seconds.

    `on_planned` is called before the cases are asked, and before some are asked again, with their number; `on_answer`
    says of each whether the answer was right. Raises UserError if the grader can't be loaded, or grades none of them.
    """
    async with AsyncExitStack() as stack:
        pool = [await stack.enter_async_context(GraderProcess(grader)) for _ in range(parallel)]
        python = grader.python if not grader.network else sys.executable
        witness = await stack.enter_async_context(GraderProcess(find_grader("plain", python)))
        asked_for = sorted({case.form for case in cases})
        cases = [case for case in cases if case.form in pool[0].forms]
        if not cases:
            grades, wanted = ", ".join(sorted(pool[0].forms)), ", ".join(asked_for)
            why = f"{grader.label} grades {grades}, and the chosen cases are for {wanted}"
            raise UserError(f"there is nothing to ask: {why}")
        # Programs that are run only where they can do no harm.
        attacks = [case for case in cases if case.dangerous or case.section == "cheats"]
        left_out = [] if pool[0].enclosed or grader.isolates else attacks
        cases = [case for case in cases if case not in left_out]
        missing = await missing_modules(witness, {case.needs for case in cases if case.needs})
        cases = [case for case in cases if case.needs not in missing]
        on_planned(ASKING, len(cases))
        answers = await ask_all(pool, cases, deadline, on_answer)
        doubtful = [(case, answer) for case, answer in zip(cases, answers, strict=True) if not is_right(case, answer)]
        on_planned(AT_REST, len(doubtful))
        found = []
        for case, answer in doubtful:
            found.append(await at_rest(pool[0], witness, case, answer, deadline))
            on_answer(True)
    return Audit(
        grader.label,
        forms=tuple(sorted(pool[0].forms)),
        asked=tuple(cases),
        disagreements=tuple(found),
        left_out=len(left_out),
        missing=tuple(sorted(missing)),
    )


async def ask_all(
    pool: Sequence[GraderProcess], cases: Sequence[Case], deadline: float, on_answer: Callable[[bool], None]
) -> list[GraderAnswer]:
    """Return the answers of the pool's processes, which take one case after the other."""
    answers: dict[int, GraderAnswer] = {}
    rest = iter(enumerate(cases))

    async def take(process: GraderProcess) -> None:
        for place, case in rest:
            answers[place] = await process.ask(case.form, arguments_of(case), deadline)
            on_answer(is_right(case, answers[place]))

    async with asyncio.TaskGroup() as group:
        for process in pool:
            group.create_task(take(process))
    return [answers[place] for place in range(len(cases))]


async def at_rest(
    process: GraderProcess, witness: GraderProcess, case: Case, first: GraderAnswer, deadline: float
) -> Disagreement:
    """Return a wrong answer, asked again while nothing else runs."""
    again = await process.ask(case.form, arguments_of(case), deadline)
    kind, seen = kind_of(case, again), again
    if is_right(case, again):
        third = await process.ask(case.form, arguments_of(case), deadline)
        kind, seen = "load" if is_right(case, third) else "races", first
    plain = GraderAnswer("not run")
    if case.form in witness.forms:
        plain = await witness.ask(case.form, arguments_of(case), deadline)
    return Disagreement(kind, case, seen.seen, right_answer(case), plain.seen, seen.message)


async def missing_modules(witness: GraderProcess, names: Collection[str]) -> set[str]:
    """Return the modules that the interpreter of the witness, which is the grader's, doesn't have."""
    found = set()
    for name in sorted(names):
        answer = await witness.ask("stdin", [NEEDS_PROGRAM.format(name), [""], ["1"]], MODULE_SECONDS)
        found |= {name} if answer.seen != ACCEPTED else set()
    return found
