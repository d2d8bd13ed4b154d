"""What known-correct programs say of expected outputs: which are wrong, and which inputs have several right answers.

On each test the known-correct programs that finished fall into three: *accepted* by the checker in force; *explained*,
rejected by it, but accepted by another checker of ours (so the expected output is right, and the checker too strict);
and *dissenting*.

1. A test is wrong where at least two independent programs, more than half of those that finished it, dissent and agree
   with each other. Not where the checker in force knows one answer only, and the statement allows several, or another
   test of the problem shows several.
2. An input has several right answers where two known-correct programs differ on it, one of them dissenting; where one
   dissents and the statement allows several; where the checker in force accepts what none of our pure ones does; or
   where only the order of lines differs. Case and a tolerance of floats make no second answer.
3. Tests found wrong say nothing of that, and leave it undecided: what all programs agree on may be another answer.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from alpha_codium.checkers import PROGRAM
from alpha_codium.eval.validation.alternatives import ORDER_FREE
from alpha_codium.eval.validation.case import Case, Known
from alpha_codium.eval.validation.findings import Finding, Reason, first_difference, plural
from alpha_codium.eval.validation.observation import NO
from alpha_codium.eval.validation.wording import LONGEST_QUOTE
from alpha_codium.verdict import Verdict

LEAST_WITNESSES = 2


@dataclass(frozen=True, slots=True)
class Standing:
    """How the known-correct programs stand to one test; `explained` names the checker that accepts."""

    accepted: tuple[Known, ...]
    explained: tuple[tuple[Known, str], ...]
    dissenting: tuple[Known, ...]

    @property
    def finished(self) -> int:
        """How many programs finished the test."""
        return len(self.accepted) + len(self.explained) + len(self.dissenting)


@dataclass(frozen=True, slots=True)
class Answers:
    """`wrong` and `right` are places of tests; those in neither are undecided. `several` is None where undecided."""

    wrong: frozenset[int]
    right: frozenset[int]
    several: bool | None
    findings: tuple[Finding, ...]


def examine_answers(case: Case) -> Answers:
    """What the known-correct programs of a problem say of its expected outputs."""
    standings = {place: _standing(place, case.correct) for place in case.usable}
    wrong = {place: found for place in case.usable if (found := _wrong_test(case, place))}
    several, evidence = _several(case, _without(standings, wrong))
    if wrong and not _by_program(case) and any("agree" in entry for entry in evidence):
        wrong = {}
        several, evidence = _several(case, standings)
    left = _without(standings, wrong)
    right = {place for place, standing in left.items() if standing.accepted or standing.explained}
    if wrong and several is False:
        several = None
    findings = [*wrong.values(), *_several_findings(case, several, evidence)]
    return Answers(frozenset(wrong), frozenset(right), several, tuple(findings))


def _without(standings: Mapping[int, Standing], wrong: Mapping[int, Finding]) -> dict[int, Standing]:
    return {place: standing for place, standing in standings.items() if place not in wrong}


def comparable_tests(case: Case) -> int:
    """On how many tests enough independent programs finished to show that the expected output is wrong."""
    return sum(_standing(p, case.independent).finished >= LEAST_WITNESSES for p in case.usable)


def _standing(place: int, programs: Iterable[Known]) -> Standing:
    accepted, explained, dissenting = [], [], []
    for known in programs:
        verdict = known.seen.verdicts[place]
        if verdict is Verdict.ACCEPTED:
            accepted.append(known)
        elif verdict is Verdict.WRONG_ANSWER and (key := known.seen.accepting(place)):
            explained.append((known, key))
        elif verdict is Verdict.WRONG_ANSWER:
            dissenting.append(known)
    return Standing(tuple(accepted), tuple(explained), tuple(dissenting))


def _wrong_test(case: Case, place: int) -> Finding | None:
    standing = _standing(place, case.independent)
    largest = max(_alike(case, place, standing.dissenting), key=len, default=[])
    if len(largest) < LEAST_WITNESSES or 2 * len(largest) <= standing.finished:
        return None
    if _may_vary(case):
        return None
    text = f"{case.places[place]}: {len(largest)} of {standing.finished} known-correct programs agree on another output"
    return Finding(Reason.WRONG_TEST, text, tuple(dissent(case, known, place) for known in largest))


def _may_vary(case: Case) -> bool:
    """Whether an output beside the expected one may be right, and the checker in force wouldn't know."""
    return bool(case.wording) and not _by_program(case)


def _by_program(case: Case) -> bool:
    """Whether a checker program judges the answers, which may know more than one."""
    return case.checker is not None and case.checker.name == PROGRAM


def _alike(case: Case, place: int, programs: Sequence[Known]) -> list[list[Known]]:
    """The programs in groups that agree with the first of the group."""
    groups: list[list[Known]] = []
    for known in programs:
        for group in groups:
            if _agree(case, place, group[0], known):
                group.append(known)
                break
        else:
            groups.append([known])
    return groups


def _agree(case: Case, place: int, one: Known, other: Known) -> bool:
    """Whether two programs printed the same, as any of our checkers sees it; nothing agrees with nothing."""
    a, b = one.seen.outputs[place], other.seen.outputs[place]
    if case.checker is not None and not (a.text.strip() and b.text.strip()):
        return False
    if a.digest == b.digest:
        return True
    if not (a.whole and b.whole) or case.problem.execution.kind != "stdin":
        return False
    test = case.tests[place].input
    return any(alternative.checker(test, a.text, b.text) for alternative in case.alternatives)


def _several(case: Case, standings: Mapping[int, Standing]) -> tuple[bool | None, list[dict[str, Any]]]:
    """Whether there are several right answers, and the evidence; None where that is undecided."""
    evidence = [entry for place, standing in standings.items() for entry in _second_answers(case, place, standing)]
    if evidence:
        return True, evidence
    dissented = any(standing.dissenting for standing in standings.values())
    finished = any(standing.finished for standing in standings.values())
    return (None if dissented or case.wording or not finished else False), []


def _second_answers(case: Case, place: int, standing: Standing) -> list[dict[str, Any]]:
    found = []
    groups = _alike(case, place, standing.dissenting)
    others = len(standing.accepted) + len(standing.explained)
    for group in groups:
        beside = others + sum(map(len, groups)) - len(group)
        if beside or case.wording:
            found.append(dissent(case, group[0], place) | {"agree": len(group), "differ": beside})
    by_order = [known for known, key in standing.explained if key == ORDER_FREE]
    found += [dissent(case, known, place) | {"only_the_order": True} for known in by_order[:1]]
    return found + [
        _accepted_beside(case, known, place) for known in standing.accepted if _is_second(case, known, place)
    ]


def _is_second(case: Case, known: Known, place: int) -> bool:
    """Whether the checker in force, a program or a plug-in, accepts what none of our pure ones does."""
    keys = {alternative.spec.name for alternative in case.alternatives}
    if case.checker is None or case.checker.name in keys | {"exact", "lines"} or not case.alternatives:
        return False
    return all(by_test[place] == NO for by_test in known.seen.accepted_by.values())


def _accepted_beside(case: Case, known: Known, place: int) -> dict[str, Any]:
    name = case.checker.name if case.checker else ""
    return known.evidence() | case.places[place].evidence() | {"verdict": "accepted", "checker": name}


def dissent(case: Case, known: Known, place: int) -> dict[str, Any]:
    """Evidence that a program's output isn't the expected one, with the first token that differs."""
    output = known.seen.outputs.get(place)
    entry = known.evidence() | case.places[place].evidence() | {"verdict": known.seen.verdicts[place].value}
    return entry | (first_difference(case.tests[place].output, output.text) if output else {})


def _several_findings(case: Case, several: bool | None, evidence: list[dict[str, Any]]) -> list[Finding]:
    """One finding where there are several answers; a fault where the checker in force rejected one of them."""
    if not several:
        return []
    rejected = [entry for entry in evidence if entry["verdict"] != Verdict.ACCEPTED.value]
    tests = len({(entry["test_type"], entry["test"]) for entry in evidence})
    says = f"; the statement says {case.wording[:LONGEST_QUOTE]!r}" if case.wording else ""
    how = "known-correct programs give other answers than expected" if rejected else "the checker accepts other answers"
    text = f"{plural(tests, 'test')}: {how}{says}"
    return [Finding(Reason.SEVERAL_ANSWERS, text, tuple(evidence), fault=bool(rejected))]
