"""The checker that fits the known programs, and the known-incorrect programs that the tests don't catch.

A checker fits if it accepts every output of every known-correct program, except on tests found wrong, and rejects no
fewer known-incorrect programs than the one in force. The one in force is preferred, then the strictest. A checker that
ignores the order of lines also requires that the statement allows any order: if any of several answers is accepted, it
may fit the known programs by accident.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from alpha_codium.audit.datasets.alternatives import ORDER_FREE
from alpha_codium.audit.datasets.answers import Answers, dissent
from alpha_codium.audit.datasets.findings import Finding, Reason
from alpha_codium.audit.datasets.observation import COMPARED, Known, ObservedProblem, rejections
from alpha_codium.problem import CheckerSpec
from alpha_codium.verdict import Verdict
from alpha_codium.wording import counted


@dataclass(frozen=True, slots=True)
class Checking:
    """The checker to suggest (None if none fits or nothing is known), with the scores as evidence, and the findings.

    `undetected` is the number of known-incorrect programs accepted on every test that isn't wrong; None if none ran.
    """

    suggested: CheckerSpec | None
    evidence: dict[str, Any]
    undetected: int | None
    findings: tuple[Finding, ...]


def examine_checking(observed: ObservedProblem, answers: Answers) -> Checking:
    """Find the checker that fits a problem's known programs, and the programs that it and the tests misjudge."""
    places = [place for place in observed.usable if place not in answers.wrong]
    suggested, evidence = _suggest(observed, places)
    undetected = [known for known in observed.incorrect if places and not rejections(known, places)]
    findings = [
        *_strict_checker(observed, places, suggested),
        *_rejected_solutions(observed, places, answers),
        *_weak_tests(observed, places, undetected),
    ]
    return Checking(suggested, evidence, len(undetected) if observed.incorrect else None, tuple(findings))


def _suggest(observed: ObservedProblem, places: Sequence[int]) -> tuple[CheckerSpec | None, dict[str, Any]]:
    compared = [known for known in observed.correct if any(known.seen.verdicts[p] in COMPARED for p in places)]
    if observed.checker is None or not compared:
        return None, {}

    def score(key: str | None) -> dict[str, int]:
        """Return known-correct programs without a rejected output, known-incorrect ones with a failed test."""
        fits = [all(k.seen.accepts(key, p) for p in places if k.seen.verdicts[p] in COMPARED) for k in compared]
        rejects = [not all(known.seen.accepts(key, p) for p in places) for known in observed.incorrect]
        return {
            "correct_accepted": sum(fits),
            "correct_total": len(compared),
            "incorrect_rejected": sum(rejects),
            "incorrect_total": len(rejects),
        }

    now = score(None)
    any_order = "order" in observed.wording.lower()
    choices: list[tuple[CheckerSpec, str | None]] = [(observed.checker, None)]
    choices += [(a.spec, a.key) for a in observed.alternatives if a.key != ORDER_FREE or any_order]
    for spec, key in choices:
        then = score(key)
        fits_all = then["correct_accepted"] == then["correct_total"]
        if fits_all and then["incorrect_rejected"] >= now["incorrect_rejected"]:
            return spec, {"in_force": now, "suggested": then}
    return None, {"in_force": now}


def _strict_checker(observed: ObservedProblem, places: Sequence[int], suggested: CheckerSpec | None) -> list[Finding]:
    """Return findings on known-correct outputs that only another built-in checker accepts."""
    evidence = []
    for known in observed.correct:
        for place in places:
            key = known.seen.accepting(place)
            if known.seen.verdicts[place] is Verdict.WRONG_ANSWER and key:
                evidence.append(dissent(observed, known, place) | {"accepted_by": key})
    if not evidence:
        return []
    programs = len({entry["solution"] for entry in evidence})
    keys = ", ".join(sorted({entry["accepted_by"] for entry in evidence}))
    text = f"{counted(programs, 'known-correct program')} rejected by the problem's checker, accepted by {keys}"
    if suggested is None:
        text += "; no checker of ours fits all known programs"
    return [Finding(Reason.STRICT_CHECKER, text, tuple(evidence))]


def _rejected_solutions(observed: ObservedProblem, places: Sequence[int], answers: Answers) -> list[Finding]:
    """Return known-correct programs that were rejected with no other finding to explain it.

    A fault if no known-correct program is accepted on all tests: then nothing shows that the problem can be solved.
    """
    explained = {Verdict.TIME_LIMIT_EXCEEDED, Verdict.MEMORY_LIMIT_EXCEEDED}
    explained |= {Verdict.WRONG_ANSWER} if answers.several else set()
    evidence = []
    for known in observed.correct:
        failed = [p for p in rejections(known, places) if not known.seen.accepting(p)]
        left = [place for place in failed if known.seen.verdicts[place] not in explained]
        if left:
            entry = dissent(observed, known, left[0]) | {"tests_failed": len(left)}
            evidence.append(entry | ({"says": known.seen.message} if known.seen.message else {}))
    if not evidence:
        return []
    some_accepted = any(not rejections(known, places) for known in observed.correct)
    counts = Counter(entry["verdict"].replace("_", " ") for entry in evidence)
    how = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
    text = f"{len(evidence)} of {counted(len(observed.correct), 'known-correct program')} rejected ({how})"
    return [Finding(Reason.REJECTED_SOLUTION, text, tuple(evidence), fault=not some_accepted)]


def _weak_tests(observed: ObservedProblem, places: Sequence[int], undetected: Sequence[Known]) -> list[Finding]:
    if not undetected:
        return []
    text = (
        f"{len(undetected)} of {counted(len(observed.incorrect), 'known-incorrect program')} "
        f"accepted on {counted(len(places), 'test')}"
    )
    evidence = tuple(known.evidence() | {"verdict": "accepted", "tests": len(places)} for known in undetected)
    return [Finding(Reason.WEAK_TESTS, text, evidence)]
