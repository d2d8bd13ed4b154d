"""What is behind each sample: a chunk of long texts for each problem, which the page unpacks when it is looked at."""

import base64
import difflib
import gzip
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from alpha_codium.data.schema import difficulty_name
from alpha_codium.eval.failures import Failure
from alpha_codium.eval.prepare import GENERATED
from alpha_codium.problem import Problem
from alpha_codium.report.completing import with_public_tests, with_source
from alpha_codium.report.hiding import Hiding
from alpha_codium.report.highlighting import MOST_PROGRAMS, colours_of
from alpha_codium.report.labels import Labels, findings_of
from alpha_codium.report.problems import RunProblems
from alpha_codium.report.reading import ReadRun
from alpha_codium.report.samples import StoredSample
from alpha_codium.runs.events import Event, ModelAnswer, StageEnd, Transcript, event_to_json
from alpha_codium.values import JsonValue
from alpha_codium.verdict import Verdict

# The letter of each verdict in the grid.
LETTERS: Mapping[Verdict, str] = {
    Verdict.ACCEPTED: "A",
    Verdict.WRONG_ANSWER: "W",
    Verdict.RUNTIME_ERROR: "R",
    Verdict.TIME_LIMIT_EXCEEDED: "T",
    Verdict.MEMORY_LIMIT_EXCEEDED: "M",
    Verdict.OUTPUT_LIMIT_EXCEEDED: "O",
    Verdict.COMPILATION_ERROR: "C",
    Verdict.SANDBOX_VIOLATION: "S",
    Verdict.INTERNAL_ERROR: "I",
    Verdict.NO_TESTS: "N",
}
# The most tests that a problem shows, and characters of a test's input and output, a statement, a program.
MOST_TESTS, LONGEST_TEST, LONGEST_STATEMENT, LONGEST_PROGRAM = 100, 1_500, 30_000, 60_000


@dataclass
class StageCost:
    """What a stage cost in all samples: calls, tokens, and seconds of waiting for the model."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0

    @property
    def tokens(self) -> int:
        """Tokens read and written."""
        return self.prompt_tokens + self.completion_tokens

    def add(self, answer: ModelAnswer) -> None:
        """Count an answer."""
        self.calls += 1
        self.prompt_tokens += answer.prompt_tokens
        self.completion_tokens += answer.completion_tokens
        self.seconds += answer.latency_seconds

    def to_json(self) -> dict[str, Any]:
        """The sums as JSON."""
        return {"calls": self.calls, "tokens": self.tokens, "seconds": round(self.seconds, 2)}


@dataclass
class Bodies:
    """Makes the chunks of several runs, and sums up their stages: `stages` has those of each run by their names."""

    runs: Sequence[ReadRun]
    hiding: Hiding = field(default_factory=Hiding.here)
    stages: dict[str, dict[str, StageCost]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Find the runs' problems."""
        self.expected = [Labels(run) for run in self.runs]
        self.findings = [findings_of(run) for run in self.runs]
        self.problems = [RunProblems(run.folder, run.judge) for run in self.runs]
        self.coloured = len({sample.result.program for run in self.runs for sample in run.samples}) <= MOST_PROGRAMS

    def problem(self, name: str) -> Problem | None:
        """Return a problem, by the first run whose dataset can be read."""
        return next((found for each in self.problems if (found := each.get(name)) is not None), None)

    def labels(self, name: str) -> dict[str, Any]:
        """Return a problem's difficulty and tags, as far as they are known."""
        problem = self.problem(name)
        if problem is None:
            return {"difficulty": "", "tags": [run.titles[name] for run in self.runs[:1] if name in run.titles]}
        difficulty = difficulty_name(problem.difficulty)
        return {"difficulty": "" if difficulty.startswith("unknown") else difficulty, "tags": list(problem.tags)}

    def chunk(self, name: str) -> str:
        """Return the texts of a problem as base64 of gzip."""
        text = self.hiding.hide(json.dumps(self._body(name), ensure_ascii=False, separators=(",", ":")))
        data = gzip.compress(text.encode("utf-8", "replace"), compresslevel=6, mtime=0)
        return base64.b64encode(data).decode("ascii")

    def _body(self, name: str) -> dict[str, Any]:
        problem = self.problem(name)
        programs: dict[str, Any] = {}
        runs = [self._of_run(place, problem, name, programs) for place in range(len(self.runs))]
        statement = cut(problem.description, LONGEST_STATEMENT) if problem else ""
        why = "" if problem else next((each.missing for each in self.problems if each.missing), "")
        return {"statement": statement, "missing": why, "programs": programs, "runs": runs}

    def _of_run(self, place: int, problem: Problem | None, name: str, programs: dict[str, Any]) -> dict[str, Any]:
        run, problems, expected = self.runs[place], self.problems[place], self.expected[place]
        samples = run.by_problem.get(name, [])
        languages = {sample.language for sample in samples}
        tests = problems.tests_of(problem)[:MOST_TESTS] if problem else []
        return {
            "tests": [
                [kind.value.removesuffix("_tests"), cut(test.input, LONGEST_TEST), cut(test.output, LONGEST_TEST)]
                for kind, test in tests
            ],
            "limits": {
                each: [limits.cpu_seconds, limits.wall_seconds, limits.memory_bytes]
                for each in languages
                if problem and (limits := problems.limits_of(problem, each))
            },
            "findings": self.findings[place].get(name, []),
            "samples": [
                self._sample(run, problems, each, programs) | {"expected": expected.of(each)} for each in samples
            ],
        }

    def _sample(
        self, run: ReadRun, problems: RunProblems, sample: StoredSample, programs: dict[str, Any]
    ) -> dict[str, Any]:
        transcript = run.transcript(sample)
        if not run.judged:
            sample = with_public_tests(sample, transcript, problems)
        elif not sample.source:
            sample = with_source(sample, problems)
        result, digest = sample.result, sample.result.program
        if sample.source and not digest:
            digest = f"{run.name}/{sample.result.index}"
        if sample.source and digest not in programs:
            programs[digest] = self._program(sample)
        return {
            "id": id_of(sample),
            "verdict": LETTERS[result.verdict],
            "passed": result.tests_passed,
            "total": result.tests_total,
            "reason": sample.reason if sample.failed else "",
            "error": result.error,
            "near": result.near_limit,
            "rechecked": result.rechecked,
            "program": digest,
            "tests": [_test(each) for each in result.tests],
            "failure": failure_body(result.failure) if result.failure else None,
            "usage": _usage(sample),
            "stages": self._stages(run, transcript) if transcript else [],
        }

    def _program(self, sample: StoredSample) -> dict[str, Any]:
        source = cut(sample.source, LONGEST_PROGRAM)
        colours = colours_of(source, sample.language) if self.coloured else []
        return {"language": sample.language, "source": source, "colours": colours}

    def _stages(self, run: ReadRun, transcript: Transcript) -> list[dict[str, Any]]:
        costs, found = self.stages.setdefault(run.name, {}), []
        for name, events in stages_of(transcript.events):
            own = StageCost()
            for event in events:
                if isinstance(event, ModelAnswer):
                    own.add(event)
                    costs.setdefault(name, StageCost()).add(event)
            items = [_event(event) for event in events]
            found.append({"name": name, "cost": own.to_json(), "events": items})
        return found


def id_of(sample: StoredSample) -> str:
    """Return how a sample is named in the page's address: its index, after its group unless it is a model's."""
    index, group = sample.result.index, sample.result.group
    return str(index) if group == GENERATED else f"{group}-{index}"


def stages_of(events: Sequence[Event]) -> Iterator[tuple[str, list[Event]]]:
    """Yield each stage with its events; a stage that comes again is numbered, and what follows the last is the end."""
    seen: Counter[str] = Counter()
    own: list[Event] = []
    for event in events:
        if isinstance(event, StageEnd):
            seen[event.stage] += 1
            yield (event.stage if seen[event.stage] == 1 else f"{event.stage} ({seen[event.stage]})"), [*own, event]
            own = []
        else:
            own.append(event)
    if own:
        yield ("end" if seen else "sample"), own


def difference(expected: str, actual: str) -> list[list[str]]:
    """Return the lines of two outputs with ` `, `-` or `+`: in both, only expected, only printed."""
    one, other = expected.splitlines(), actual.splitlines()
    lines: list[list[str]] = []
    for operation, i, j, k, m in difflib.SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
        if operation == "equal":
            lines += [[" ", line] for line in one[i:j]]
        else:
            lines += [["-", line] for line in one[i:j]] + [["+", line] for line in other[k:m]]
    return lines


def failure_body(failure: Failure) -> dict[str, Any]:
    """Return the first failing test of a program, with the difference of its outputs."""
    compared = failure.test is not None and not failure.assertion and bool(failure.expected or failure.actual)
    values = failure.to_json() | {"verdict": LETTERS[failure.verdict]}
    return values | ({"difference": difference(failure.expected, failure.actual)} if compared else {})


def cut(text: str, most: int) -> str:
    """Return the beginning of a text, with the number of characters left out."""
    return text if len(text) <= most else f"{text[:most]}\n[{len(text) - most:,} more characters]"


def _test(test: Mapping[str, Any]) -> list[Any]:
    """Return a test's verdict, CPU and wall time, memory, the limits that were near, and whether it could be forged."""
    near, trust = ",".join(test.get("near_limit", ())), test.get("trust", "")
    used = [test.get("cpu_seconds", 0), test.get("wall_seconds", 0), test.get("max_rss_bytes", 0)]
    return [LETTERS[Verdict(test["verdict"])], *used, near, trust]


def _usage(sample: StoredSample) -> dict[str, Any] | None:
    candidate = sample.candidate
    if candidate is None:
        return None
    return {
        "model": candidate.model,
        "calls": candidate.llm_calls,
        "prompt": candidate.prompt_tokens,
        "completion": candidate.completion_tokens,
        "cost": candidate.cost,
        "truncated": candidate.truncated_answers,
    }


def _event(event: Event) -> dict[str, Any]:
    values = event_to_json(event)
    if isinstance(event, StageEnd):
        return {"kind": values["kind"], "program": bool(event.program)}
    return {key: _whole(value) for key, value in values.items()}


def _whole(value: Any) -> Any:
    """Return a text for an excerpt of one."""
    if isinstance(value, JsonValue):
        value = value.to_json()
    if isinstance(value, dict) and set(value) == {"text", "length", "sha256"}:
        return f"{value['text']}\n[{value['length'] - len(value['text']):,} more characters]"
    return value
