"""Judging the programs of several runs: each distinct program of a problem once, whichever run or stage wrote it.

1. What is judged are the candidates, and the programs that stood after each stage.
2. Every verdict is journalled in `evaluation.jsonl` of each run that holds the program, so that comparing again, also
   with other runs, costs nothing, and a comparison that was cut off goes on.
3. A line says by what it was judged (tests and settings, as a digest): other tests or limits judge anew.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, Self, TypeVar

from alpha_codium.eval.comparing.records import RunRecord
from alpha_codium.eval.known import KNOWN_GROUPS
from alpha_codium.eval.prepare import GENERATED, Entry, EvaluationTask, refuse_language
from alpha_codium.eval.results import CandidateResult, ProblemResult
from alpha_codium.problem import Problem, TestType
from alpha_codium.program import Program
from alpha_codium.runs import Journal
from alpha_codium.verdict import Identity, Verdict

JOURNAL = "evaluation.jsonl"
T = TypeVar("T")
# Distinct programs by their problem's name, in a settled order.
Programs = Mapping[str, Sequence[Program]]


def programs_of(record: RunRecord) -> dict[str, tuple[Program, ...]]:
    """Every program of a run that is to be judged, once: those of finished samples, and those on the way to them.

    Raises DatasetError where one is in a language that can't be run.
    """
    found: dict[str, dict[Program, None]] = {}
    for (name, index), candidate in record.candidates.items():
        refuse_language(candidate.language, f"sample {index} of {name!r} in run {record.name!r}")
        if candidate.is_final:
            found.setdefault(name, {})[candidate.to_program()] = None
    for key, steps in record.steps.items():
        programs = [record.program_after(key, step) for step in steps]
        found.setdefault(key[0], {}).update(dict.fromkeys(p for p in programs if p is not None and p.source.strip()))
    return {name: tuple(programs) for name, programs in found.items()}


def all_programs(of_runs: Iterable[Programs]) -> dict[str, tuple[Program, ...]]:
    """The distinct programs of all runs together."""
    found: dict[str, dict[Program, None]] = {}
    for of_run in of_runs:
        for name, programs in of_run.items():
            found.setdefault(name, {}).update(dict.fromkeys(programs))
    return {name: tuple(programs) for name, programs in found.items()}


@dataclass(frozen=True)
class JudgedPrograms:
    """The tasks of judging: every problem with its distinct programs, in place of a run's candidates."""

    problems: Sequence[Problem]
    programs: Programs
    test_types: Sequence[TestType]

    def __iter__(self) -> Iterator[EvaluationTask]:
        for problem in self.problems:
            programs = self.programs.get(problem.name, ())
            entries = tuple(Entry(i, GENERATED, p.source, language=p.language) for i, p in enumerate(programs))
            yield EvaluationTask(problem, problem.tests(self.test_types), entries)


class Verdicts:
    """What judging said of each program of each problem."""

    def __init__(self, programs: Programs, results: Iterable[ProblemResult]) -> None:
        self._results = {
            (problem.name, programs[problem.name][result.index]): result
            for problem in results
            for result in problem.candidates
            if result.group == GENERATED
        }

    def result(self, problem: str, program: Program) -> CandidateResult:
        """The result of one program; raises KeyError where it wasn't judged."""
        return self._results[problem, program]

    def passes(self, problem: str, program: Program | None) -> bool | None:
        """Whether a program passes; None where that isn't known."""
        result = None if program is None else self._results.get((problem, program))
        if result is None or result.verdict is Verdict.INTERNAL_ERROR:
            return None
        return result.verdict is Verdict.ACCEPTED


def basis_of(test_types: Sequence[TestType], code_tester: Mapping[str, Any], identity: Identity) -> str:
    """A digest of everything that verdicts depend on: the types of tests, the tester's settings, the sandbox."""
    basis = [sorted(kind.value for kind in test_types), code_tester, identity.to_json()]
    text = json.dumps(basis, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class SharedJournal(Journal):
    """The journals of all runs as one, for `run_evaluation`; a context manager.

    A verdict that one run knows serves the others, and is written into each that holds the program. Those of known
    solutions, which are no run's, stand in all.
    """

    def __init__(self, records: Sequence[RunRecord], programs: Programs, basis: str) -> None:
        super().__init__(records[0].path / JOURNAL)
        self.basis = basis
        self._journals = [Journal(record.path / JOURNAL) for record in records]
        self._holds = [_keys(programs_of(record)) for record in records]
        self._places = {(name, p.digest): i for name, of_it in programs.items() for i, p in enumerate(of_it)}
        self._known: list[dict[tuple[str, str, str], dict[str, Any]]] = [{} for _ in records]
        self._open = ExitStack()

    def __enter__(self) -> Self:
        """Open all journals, and give each run the verdicts on its programs that another one knows."""
        with ExitStack() as opening:
            for journal, known in zip(self._journals, self._known, strict=True):
                opening.enter_context(journal)
                known.update(self._read(journal))
            self._open = opening.pop_all()
        for entry in list(self.entries()):
            self.append(entry)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close all of them."""
        self._open.close()

    def read(self, parse: Callable[[dict[str, Any]], T]) -> Iterator[T]:
        """What `parse` makes of every verdict that a run knows on a program that is to be judged, once."""
        return map(parse, self._merged())

    def _merged(self) -> Iterator[dict[str, Any]]:
        merged = {key: entry for known in reversed(self._known) for key, entry in known.items()}
        for (name, group, program), entry in merged.items():
            if group in KNOWN_GROUPS:
                yield entry
            elif (name, program) in self._places:
                yield entry | {"result": entry["result"] | {"index": self._places[name, program]}}

    def append(self, entry: dict[str, Any]) -> None:
        """Write a verdict to each run that holds the program and doesn't know it; what is none isn't kept."""
        result = CandidateResult.from_json(entry["result"])
        if result.verdict is Verdict.INTERNAL_ERROR:
            return
        key = entry["problem"], result.group, entry["program"]
        line = entry | {"judged_by": self.basis, "result": replace(result, tests=()).to_json()}
        for journal, known, holds in zip(self._journals, self._known, self._holds, strict=True):
            wanted = result.group != GENERATED or (key[0], key[2]) in holds
            if wanted and key not in known:
                known[key] = line
                journal.append(line)

    def _read(self, journal: Journal) -> Iterator[tuple[tuple[str, str, str], dict[str, Any]]]:
        return (known for known in journal.read(self._known_by_this) if known is not None)

    def _known_by_this(self, line: dict[str, Any]) -> tuple[tuple[str, str, str], dict[str, Any]] | None:
        """A verdict behind what it is known by; None for one that was reached by other tests or settings."""
        if line["judged_by"] != self.basis:
            return None
        return (line["problem"], CandidateResult.from_json(line["result"]).group, line["program"]), line


def _keys(programs: Programs) -> frozenset[tuple[str, str]]:
    return frozenset((name, program.digest) for name, of_problem in programs.items() for program in of_problem)
