"""Wrong expected outputs, and inputs with several right answers, by the outputs of known-correct programs.

On each test the known-correct programs that finished are of three kinds: *accepted* by the checker in force;
*explained*, rejected by it, but accepted by another built-in checker (so the expected output is right, and the checker
too strict); and *dissenting*.

1. A test is wrong if at least two independent programs, more than half of those that finished it, dissent and agree
   with each other. It isn't if the checker in force knows only one answer, but the statement allows several, or another
   test of the problem shows that there are several.
2. An input has several right answers if two known-correct programs differ on it, one of them dissenting; if one
   dissents and the statement allows several; if the checker in force accepts an output that no built-in checker does;
   or if only the order of lines differs. A difference in case, or within a float tolerance, is no second answer.
3. If tests were found wrong, this is undecided: the output on which the programs agree may be another right answer.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from alpha_codium.audit.datasets.alternatives import ORDER_FREE
from alpha_codium.audit.datasets.findings import Finding, Reason, first_difference
from alpha_codium.audit.datasets.observation import NO, Known, ObservedProblem
from alpha_codium.audit.datasets.wording import LONGEST_QUOTE
from alpha_codium.checkers import PROGRAM
from alpha_codium.verdict import Verdict
from alpha_codium.wording import counted

LEAST_AGREEING = 2


@dataclass(frozen=True, slots=True)
class Standing:
    """The known-correct programs on one test, by kind; `explained` names the checker that accepts."""

    accepted: tuple[Known, ...]
    explained: tuple[tuple[Known, str], ...]
    dissenting: tuple[Known, ...]

    @property
    def finished(self) -> int:
        """The number of programs that finished the test."""
        return len(self.accepted) + len(self.explained) + len(self.dissenting)


@dataclass(frozen=True, slots=True)
class Answers:
    """`wrong` and `right` are places of tests; those in neither are undecided. `several` is None if undecided."""

    wrong: frozenset[int]
    right: frozenset[int]
    several: bool | None
    findings: tuple[Finding, ...]


def examine_answers(observed: ObservedProblem) -> Answers:
    """Examine the expected outputs of a problem by its known-correct programs."""
    standings = {place: _standing(place, observed.correct) for place in observed.usable}
    wrong = {place: found for place in observed.usable if (found := _wrong_test(observed, place))}
    several, evidence = _several(observed, _without(standings, wrong))
    if wrong and not _by_program(observed) and any("agree" in entry for entry in evidence):
        wrong = {}
        several, evidence = _several(observed, standings)
    left = _without(standings, wrong)
    right = {place for place, standing in left.items() if standing.accepted or standing.explained}
    if wrong and several is False:
        several = None
    findings = [*wrong.values(), *_several_findings(observed, several, evidence)]
    return Answers(frozenset(wrong), frozenset(right), several, tuple(findings))


def _without(standings: Mapping[int, Standing], wrong: Mapping[int, Finding]) -> dict[int, Standing]:
    return {place: standing for place, standing in standings.items() if place not in wrong}


def comparable_tests(observed: ObservedProblem) -> int:
    """Count the tests that enough independent programs finished to show that the expected output is wrong."""
    return sum(_standing(p, observed.independent).finished >= LEAST_AGREEING for p in observed.usable)


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


def _wrong_test(observed: ObservedProblem, place: int) -> Finding | None:
    standing = _standing(place, observed.independent)
    largest = max(_alike(observed, place, standing.dissenting), key=len, default=[])
    if len(largest) < LEAST_AGREEING or 2 * len(largest) <= standing.finished:
        return None
    if observed.wording and not _by_program(observed):
        return None
    counts = f"{len(largest)} of {counted(standing.finished, 'known-correct program')}"
    text = f"{observed.places[place]}: {counts} agree on another output"
    return Finding(Reason.WRONG_TEST, text, tuple(dissent(observed, known, place) for known in largest))


def _by_program(observed: ObservedProblem) -> bool:
    """Whether a checker program judges the outputs, which may know several answers."""
    return observed.checker is not None and observed.checker.name == PROGRAM


def _alike(observed: ObservedProblem, place: int, programs: Sequence[Known]) -> list[list[Known]]:
    """Return the programs in groups that agree with the first of the group."""
    groups: list[list[Known]] = []
    for known in programs:
        for group in groups:
            if _agree(observed, place, group[0], known):
                group.append(known)
                break
        else:
            groups.append([known])
    return groups


def _agree(observed: ObservedProblem, place: int, one: Known, other: Known) -> bool:
    """Whether two outputs are the same by any built-in checker; empty outputs agree with nothing."""
    a, b = one.seen.outputs[place], other.seen.outputs[place]
    if observed.checker is not None and not (a.text.strip() and b.text.strip()):
        return False
    if a.digest == b.digest:
        return True
    if not (a.whole and b.whole) or observed.problem.execution.is_function:
        return False
    test = observed.tests[place].input
    return any(alternative.checker(test, a.text, b.text) for alternative in observed.alternatives)


def _several(observed: ObservedProblem, standings: Mapping[int, Standing]) -> tuple[bool | None, list[dict[str, Any]]]:
    """Whether there are several right answers (None: undecided), and the evidence."""
    evidence = [entry for place, standing in standings.items() for entry in _second_answers(observed, place, standing)]
    if evidence:
        return True, evidence
    dissented = any(standing.dissenting for standing in standings.values())
    finished = any(standing.finished for standing in standings.values())
    return (None if dissented or observed.wording or not finished else False), []


def _second_answers(observed: ObservedProblem, place: int, standing: Standing) -> list[dict[str, Any]]:
    found = []
    groups = _alike(observed, place, standing.dissenting)
    others = len(standing.accepted) + len(standing.explained)
    for group in groups:
        beside = others + sum(map(len, groups)) - len(group)
        if beside or observed.wording:
            found.append(dissent(observed, group[0], place) | {"agree": len(group), "differ": beside})
    by_order = [known for known, key in standing.explained if key == ORDER_FREE]
    found += [dissent(observed, known, place) | {"only_the_order": True} for known in by_order[:1]]
    pure = {alternative.spec.name for alternative in observed.alternatives} | {"exact", "lines"}
    checker = observed.checker.name if observed.checker else ""
    if observed.alternatives and checker and checker not in pure:
        # The checker in force, a program or a plug-in, accepts an output that none of our pure ones does.
        second = [k for k in standing.accepted if all(by_test[place] == NO for by_test in k.seen.accepted_by.values())]
        found += [observed.evidence(known, place) | {"checker": checker} for known in second]
    return found


def dissent(observed: ObservedProblem, known: Known, place: int) -> dict[str, Any]:
    """Return evidence that a program's output isn't the expected one, with the first token that differs."""
    output = known.seen.outputs.get(place)
    difference = first_difference(observed.tests[place].output, output.text) if output else {}
    return observed.evidence(known, place) | difference


def _several_findings(observed: ObservedProblem, several: bool | None, evidence: list[dict[str, Any]]) -> list[Finding]:
    """Return one finding if there are several answers; a fault if the checker in force rejected one of them."""
    if not several:
        return []
    rejected = [entry for entry in evidence if entry["verdict"] != Verdict.ACCEPTED.value]
    tests = len({(entry["test_type"], entry["test"]) for entry in evidence})
    says = f"; the statement says {observed.wording[:LONGEST_QUOTE]!r}" if observed.wording else ""
    how = "known-correct programs give other answers than expected" if rejected else "the checker accepts other answers"
    text = f"{counted(tests, 'test')}: {how}{says}"
    return [Finding(Reason.SEVERAL_ANSWERS, text, tuple(evidence), fault=bool(rejected))]
