"""Judging of the programs of several runs: each distinct program of a problem once, whichever run or stage wrote it.

1. The candidates are judged, and the programs after each stage.
2. Every verdict is written to `evaluation.jsonl` of each run that contains the program, so that further comparisons,
   also with other runs, reuse it, and an interrupted comparison can be resumed.
3. A line has a digest of the tests and settings; if these change, programs are judged again.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import Any, Self, TypeVar

from alpha_codium.comparison.records import RunRecord
from alpha_codium.eval.known import KNOWN_GROUPS
from alpha_codium.eval.prepare import GENERATED, Entry, EvaluationSet, refuse_language
from alpha_codium.eval.results import CandidateResult, ProblemResult
from alpha_codium.problem import Problem, TestType
from alpha_codium.program import Program
from alpha_codium.runs import Journal
from alpha_codium.verdict import Identity, Verdict

JOURNAL = "evaluation.jsonl"
T = TypeVar("T")
# A verdict's problem, group and program.
Key = tuple[str, str, str]
# Distinct programs by their problem's name, in a fixed order.
Programs = Mapping[str, Sequence[Program]]


def programs_of(record: RunRecord) -> dict[str, tuple[Program, ...]]:
    """The distinct programs of a run: those of finished samples, and those after each stage.

    Raises DatasetError if one is in a language that can't be run.
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
    found: dict[str, list[Program]] = {}
    for of_run in of_runs:
        for name, programs in of_run.items():
            found.setdefault(name, []).extend(programs)
    return {name: tuple(dict.fromkeys(programs)) for name, programs in found.items()}


def tasks_of(problems: Sequence[Problem], programs: Programs, test_types: Sequence[TestType]) -> EvaluationSet:
    """Tasks for the evaluation: every problem with its distinct programs, instead of a run's candidates."""
    entries = {
        name: tuple(Entry(i, GENERATED, p.source, language=p.language) for i, p in enumerate(of_problem))
        for name, of_problem in programs.items()
    }
    return EvaluationSet(problems, entries, test_types)


class Verdicts:
    """The verdict on each program of each problem."""

    def __init__(self, programs: Programs, results: Iterable[ProblemResult]) -> None:
        self._results = {
            (problem.name, programs[problem.name][result.index]): result
            for problem in results
            for result in problem.candidates
            if result.group == GENERATED
        }

    def result(self, problem: str, program: Program) -> CandidateResult:
        """The result of one program; raises KeyError if it wasn't judged."""
        return self._results[problem, program]

    def passes(self, problem: str, program: Program | None) -> bool | None:
        """Whether a program passes; None if that isn't known."""
        result = None if program is None else self._results.get((problem, program))
        if result is None or result.verdict is Verdict.INTERNAL_ERROR:
            return None
        return result.verdict is Verdict.ACCEPTED


def basis_of(
    test_types: Sequence[TestType],
    code_tester: Mapping[str, Any],
    identity: Identity,
    languages: Mapping[str, Any] | None = None,
) -> str:
    """A digest of everything that verdicts depend on: the types of tests, the tester's settings, the sandbox.

    `languages` are the compilers and factors for programs in other languages than Python (`OpenJudge.tools_of`).
    """
    values = [sorted(kind.value for kind in test_types), code_tester, identity.to_json()]
    values += [languages] if languages else []
    text = json.dumps(values, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class SharedJournal(Journal):
    """The journals of all runs combined into one, for `run_evaluation`; a context manager.

    A verdict in one run's journal is used for the others, and written to each that contains the program. Verdicts on
    known solutions, which belong to no run, are written to all.
    """

    def __init__(self, records: Sequence[RunRecord], programs: Programs, basis: str) -> None:
        super().__init__(records[0].path / JOURNAL)
        self._journals = [Journal(record.path / JOURNAL, basis) for record in records]
        self._programs = [
            {(name, program.digest) for name, of_problem in programs_of(record).items() for program in of_problem}
            for record in records
        ]
        self._places = {(name, p.digest): i for name, of_it in programs.items() for i, p in enumerate(of_it)}
        self._known: list[dict[Key, dict[str, Any]]] = []
        self._open = ExitStack()

    def __enter__(self) -> Self:
        """Open all journals, and copy verdicts between those with the same programs."""
        with ExitStack() as opening:
            for journal in self._journals:
                opening.enter_context(journal)
                self._known.append({_key(line): line for line in journal.read(_checked)})
            self._open = opening.pop_all()
        for entry in list(self.entries()):
            self.append(entry)
        return self

    def __exit__(self, *_exc: object) -> None:
        self._open.close()

    def read(self, parse: Callable[[dict[str, Any]], T]) -> Iterator[T]:
        """`parse` applied to each known verdict on a program to be judged, once each."""
        merged = {key: entry for known in reversed(self._known) for key, entry in known.items()}
        for (name, group, program), entry in merged.items():
            if group in KNOWN_GROUPS:
                yield parse(entry)
            elif (name, program) in self._places:
                yield parse(entry | {"result": entry["result"] | {"index": self._places[name, program]}})

    def append(self, *entries: dict[str, Any]) -> None:
        """Write each verdict to the runs that contain the program and lack it; `internal_error` isn't kept."""
        for entry in entries:
            if entry["result"]["verdict"] == Verdict.INTERNAL_ERROR:
                continue
            name, group, program = key = _key(entry)
            line = entry | {"result": entry["result"] | {"tests": []}}
            for journal, known, programs in zip(self._journals, self._known, self._programs, strict=True):
                if key not in known and (group != GENERATED or (name, program) in programs):
                    known[key] = line
                    journal.append(line)


def _checked(line: dict[str, Any]) -> dict[str, Any]:
    """Return the line if it has all keys that are used; raises KeyError or ValueError otherwise."""
    CandidateResult.from_json(line["result"])
    _ = _key(line)
    return line


def _key(line: Mapping[str, Any]) -> Key:
    return line["problem"], line["result"]["group"], line["program"]
