"""The judge's error rate, reported with every score, on programs of the same problems whose verdict is known.

1. A problem's first few known-correct and known-incorrect programs are judged with its candidates, by the same judge,
   tests and limits. They have separate groups, also in the journal, and never count in a score. A program that is in
   both lists is skipped.
2. If a correct program is rejected or an incorrect one accepted, the judge, the tests or the label is wrong. The error
   rate limits how far a score can be trusted, but doesn't show which of them is at fault.
3. If human solutions are scored, nothing runs twice: their verdicts give the error rate.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from alpha_codium.eval.prepare import CORRECT, INCORRECT, EvaluationTask, entries_of_solutions
from alpha_codium.eval.results import ProblemResult
from alpha_codium.problem import Problem
from alpha_codium.values import JsonValue
from alpha_codium.verdict import Verdict

DEFAULT_KNOWN = 2
KNOWN_CORRECT, KNOWN_INCORRECT = "known_correct", "known_incorrect"
KNOWN_GROUPS = (KNOWN_CORRECT, KNOWN_INCORRECT)
NO_VERDICT = (Verdict.INTERNAL_ERROR, Verdict.NO_TESTS)
NONE_KNOWN = "the problems with candidates have no known solutions in the candidates' languages"
TURNED_OFF = "turned off: known_solutions = 0"


@dataclass(frozen=True, slots=True)
class JudgeError(JsonValue):
    """How often the judge was wrong on programs of known verdict; `not_judged` are in neither total.

    `reason` says why nothing is known, if nothing is.
    """

    optional: ClassVar[tuple[str, ...]] = ("reason",)

    backend: str
    correct_rejected: int = 0
    correct_total: int = 0
    incorrect_accepted: int = 0
    incorrect_total: int = 0
    not_judged: int = 0
    reason: str = ""

    @property
    def agreement(self) -> dict[str, int]:
        """The same counts as agreement between the judge and the labels."""
        return {
            "correct_accepted": self.correct_total - self.correct_rejected,
            "correct_total": self.correct_total,
            "incorrect_rejected": self.incorrect_total - self.incorrect_accepted,
            "incorrect_total": self.incorrect_total,
        }

    def __str__(self) -> str:
        if self.reason:
            return f"n/a ({self.reason})"
        none = "program judged" if self.not_judged else "program"
        correct = _share(self.correct_rejected, self.correct_total, "known-correct rejected", none)
        incorrect = _share(self.incorrect_accepted, self.incorrect_total, "known-incorrect accepted", none)
        unjudged = f", {self.not_judged} got no verdict" if self.not_judged else ""
        return f"{correct}, {incorrect}{unjudged} ({self.backend})"


def with_known(tasks: Iterable[EvaluationTask], most: int = DEFAULT_KNOWN) -> Iterator[EvaluationTask]:
    """Each task with its problem's first `most` correct and first `most` incorrect programs in its entries' languages.

    Nothing is added to a problem without candidates or without tests.
    """
    for task in tasks:
        problem, both = task.problem, disputed(task.problem)
        languages = {entry.language for entry in task.entries}
        groups = zip(KNOWN_GROUPS, (problem.solutions, problem.incorrect_solutions), strict=True)
        known = [
            entry
            for group, solutions in groups
            for entry in entries_of_solutions(group, (s for s in solutions if s.code not in both), languages)[:most]
        ]
        yield replace(task, entries=(*task.entries, *known)) if task.tests and task.entries else task


def split_known(
    problems: Sequence[ProblemResult], backend: str, most: int = DEFAULT_KNOWN
) -> tuple[list[ProblemResult], JudgeError]:
    """The results without the known programs that `with_known` added, and the judge's error on those."""
    scored = [replace(p, candidates=tuple(c for c in p.candidates if c.group not in KNOWN_GROUPS)) for p in problems]
    return scored, judge_error(problems, backend, KNOWN_GROUPS, "" if most else TURNED_OFF)


def disputed(problem: Problem) -> frozenset[str]:
    """Return the programs that a problem lists as both correct and incorrect, so that their verdict is unknown."""
    return frozenset({s.code for s in problem.solutions} & {s.code for s in problem.incorrect_solutions})


def without_disputed(problems: Sequence[ProblemResult], tasks: Iterable[EvaluationTask]) -> list[ProblemResult]:
    """The results of `tasks`, in the same order, without those of programs that are in both lists."""
    left = []
    for problem, task in zip(problems, tasks, strict=True):
        both = disputed(task.problem)
        pairs = zip(problem.candidates, task.entries, strict=True)
        left.append(replace(problem, candidates=tuple(c for c, entry in pairs if entry.program not in both)))
    return left


def judge_error(
    problems: Sequence[ProblemResult], backend: str, groups: tuple[str, str] = (CORRECT, INCORRECT), reason: str = ""
) -> JudgeError:
    """The judge's error on the programs of two groups, known to be correct and to be incorrect: by default, humans'."""
    known = [c for problem in problems for c in problem.candidates if c.group in groups]
    judged = [c for c in known if c.verdict not in NO_VERDICT]
    correct, incorrect = ([c.verdict is Verdict.ACCEPTED for c in judged if c.group == group] for group in groups)
    return JudgeError(
        backend=backend,
        correct_rejected=correct.count(False),
        correct_total=len(correct),
        incorrect_accepted=incorrect.count(True),
        incorrect_total=len(incorrect),
        not_judged=len(known) - len(judged),
        reason=reason or ("" if known else NONE_KNOWN),
    )


def _share(count: int, total: int, what: str, none: str) -> str:
    """`1 of 50 known-correct rejected`, or `no known-correct program`."""
    return f"{count} of {total} {what}" if total else f"no {what.rpartition(' ')[0]} {none}"
