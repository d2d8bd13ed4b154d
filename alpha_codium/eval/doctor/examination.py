"""The kit before the judge: which verdicts are as they should be.

1. Cases are judged as candidates are: by the judge, in a sandbox of the settings, several at a time. The last case is
   the first one again: whatever was done to the judge, it still has to be right.
2. A verdict that is none (`internal_error`, or a backend that can't run such tests) is not as it should be.
3. Where isolation is off, what would harm the machine isn't run. It counts as not held: nothing holds it.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from alpha_codium.errors import UserError
from alpha_codium.eval.doctor.kit import DoctorCase
from alpha_codium.judge import Judge
from alpha_codium.verdict import Status, Verdict

CHEATS = "cheats"
AFTERWARDS = "after all of these: "


class CaseFinding(StrEnum):
    """What is said of one case."""

    RIGHT = "right"
    WRONG = "wrong"
    NOT_HELD = "not held"
    NOT_JUDGED = "not judged"
    NOT_RUN = "not run"


@dataclass(frozen=True, slots=True)
class CaseResult:
    """What came of one case; `verdict` is None where none was reached, and `reason` says why."""

    case: DoctorCase
    finding: CaseFinding
    verdict: Verdict | None = None
    reason: str = ""

    def to_json(self) -> dict[str, Any]:
        """The result as `--json` writes it."""
        values: dict[str, Any] = {
            "name": self.case.name,
            "section": self.case.section,
            "expected": sorted(self.case.expected),
            "verdict": self.verdict,
            "finding": self.finding.value,
        }
        return values | ({"reason": self.reason} if self.reason else {})


@dataclass(frozen=True, slots=True)
class Examination:
    """The results of the whole kit."""

    results: tuple[CaseResult, ...]

    @property
    def faultless(self) -> bool:
        """Whether every case that could be run came out as it should, and none was left unjudged or not held."""
        return all(result.finding in (CaseFinding.RIGHT, CaseFinding.NOT_RUN) for result in self.results)

    @property
    def sections(self) -> dict[str, Counter[CaseFinding]]:
        """How often what was found, by section."""
        counts: dict[str, Counter[CaseFinding]] = {}
        for result in self.results:
            counts.setdefault(result.case.section, Counter())[result.finding] += 1
        return counts

    def to_json(self) -> dict[str, Any]:
        """The kit's part of `--json`."""
        counts = Counter(result.finding for result in self.results)
        return {
            "faultless": self.faultless,
            "total": len(self.results),
            "findings": {finding.value: counts[finding] for finding in CaseFinding},
            "cases": [result.to_json() for result in self.results],
        }


async def examine(
    judge: Judge,
    kit: Sequence[DoctorCase],
    *,
    isolated: bool = True,
    at_once: int = 2,
    on_result: Callable[[CaseResult], None] = lambda _: None,
) -> Examination:
    """Judge every case, `at_once` at a time; the results stand in the kit's order.

    `isolated` says whether the judge's sandbox keeps programs from the machine.
    """
    missing = await _missing_modules(judge, {case.needs for case in kit if case.needs})
    room = asyncio.Semaphore(at_once)

    async def examined(case: DoctorCase) -> CaseResult:
        async with room:
            if case.needs in missing:
                result = CaseResult(case, CaseFinding.NOT_RUN, reason=f"the interpreter has no {case.needs}")
            elif case.dangerous and not isolated:
                reason = "not run: nothing here would hold it"
                result = CaseResult(case, CaseFinding.NOT_HELD, reason=reason)
            else:
                result = await _judged(judge, case)
        on_result(result)
        return result

    results = list(await asyncio.gather(*map(examined, kit)))
    if kit:
        last = replace(kit[0], name=AFTERWARDS + kit[0].name, section=kit[-1].section)
        results.append(await examined(last))
    return Examination(tuple(results))


async def _judged(judge: Judge, case: DoctorCase) -> CaseResult:
    try:
        judgement = await judge.for_problem(case.problem).judge(case.program, case.tests)
    except UserError as error:
        return CaseResult(case, CaseFinding.NOT_JUDGED, reason=str(error))
    verdict = judgement.verdict
    if verdict in case.expected:
        return CaseResult(case, CaseFinding.RIGHT, verdict)
    if verdict is Verdict.INTERNAL_ERROR:
        lost = [t.execution.stderr for t in judgement.tests if t.execution.status is Status.INTERNAL_ERROR]
        return CaseResult(case, CaseFinding.NOT_JUDGED, verdict, judgement.message or next(iter(lost), ""))
    escaped = case.section == CHEATS and verdict is Verdict.ACCEPTED
    return CaseResult(case, CaseFinding.NOT_HELD if escaped else CaseFinding.WRONG, verdict)


async def _missing_modules(judge: Judge, names: set[str]) -> set[str]:
    """Which of the modules the programs' interpreter doesn't have."""
    missing = set()
    for name in sorted(names):
        report = await judge.sandbox.run(f"import {name}", [""])
        # Whatever else goes wrong here isn't for lack of the module, and shows in the cases.
        missing |= {
            name
            for execution in report.executions
            if execution.status is Status.RUNTIME_ERROR and "ModuleNotFoundError" in execution.stderr
        }
    return missing
