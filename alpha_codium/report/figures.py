"""The numbers of one run, as the page shows them: its scores, what they are worth, what the samples cost."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from alpha_codium.comparison.figures import Costs, costs_of, ratio_interval
from alpha_codium.eval.known import KNOWN_GROUPS, JudgeError, judge_error
from alpha_codium.eval.prepare import CORRECT, GENERATED, INCORRECT
from alpha_codium.eval.rates import rates_text
from alpha_codium.eval.results import CandidateResult, ProblemResult
from alpha_codium.eval.scoring import Score, score
from alpha_codium.report.labels import Labels, rates_of_validation
from alpha_codium.report.reading import ReadRun
from alpha_codium.runs.folder import REPOSITORY_COMMAND
from alpha_codium.statistics import Interval
from alpha_codium.verdict import IN_PROCESS, Verdict
from alpha_codium.wording import counted, in_dollars, without_paths

# Each has an interval, which takes up to seconds for a thousand problems.
KS = (1, 2, 5, 10, 20, 50, 100)
VALIDATE, DOCTOR = "validate", "doctor"
GOOD, INFO, WARN, BAD = "good", "info", "warn", "bad"
# Entries of the judge's identity and of the settings that a page shows; no other is.
SHOWN_IDENTITY = ("backend", "version", "interpreter", "image", "isolation", "rules")
SHOWN_TESTER = (
    *("timeout", "memory_bytes", "time_limit_factor", "delta", "order_matters", "stop_on_first_failure"),
    *("known_solutions", "recheck_near_limit", "sandbox"),
)
SHOWN_CONFIG = ("temperature", "top_p", "max_tokens", "seed")
MOST_NAMED = 5
SHOWN_VERSIONS = ("alpha_codium", "python", "git")


@dataclass(frozen=True, slots=True)
class Check:
    """Something that a reader of the score should know; `tone` is one of good, info, warn and bad."""

    title: str
    text: str
    tone: str


@dataclass(frozen=True, slots=True)
class Point:
    """A score with its 95 % interval, whose bounds are None if there is none; `note` says why."""

    name: str
    k: int
    value: float | None
    low: float | None = None
    high: float | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Spent:
    """What a run's samples cost; `per_solved` is by solved problem. Costs are None if no sample records them."""

    total: Costs
    per_sample: Costs
    per_problem: Costs
    per_solved: Costs | None
    solved_interval: Interval | None


@dataclass(frozen=True, slots=True)
class RunFigures:
    """The numbers of one run."""

    run: ReadRun
    score: Score
    points: tuple[Point, ...]
    checks: tuple[Check, ...]
    spent: Spent | None
    facts: dict[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The run's name."""
        return self.run.name

    @property
    def solved(self) -> int:
        """The number of problems that a sample solves."""
        return sum(any(c.verdict is Verdict.ACCEPTED for c in p.candidates) for p in self.score.problems)

    @property
    def accepted(self) -> int:
        """The number of samples that were accepted."""
        return self.score.verdicts[Verdict.ACCEPTED.value]

    @property
    def is_score(self) -> bool:
        """Whether pass@k of the samples means something: they are a model's."""
        return {sample.result.group for sample in self.run.samples} <= {GENERATED}

    @property
    def as_expected(self) -> tuple[int, int]:
        """How many known programs got the expected verdict, and how many have a label."""
        labels = Labels(self.run)
        known = [sample for sample in self.run.samples if labels.of(sample)]
        return sum(not labels.differs(sample) for sample in known), len(known)

    @property
    def models(self) -> str:
        """The models that answered."""
        named = {name for each in self.run.samples if each.candidate for name in each.candidate.model.split(", ")}
        return ", ".join(sorted(named - {""}))


def figures_of(run: ReadRun) -> RunFigures:
    """Return the numbers of a run."""
    results = [
        ProblemResult(name, tuple(sample.result for sample in samples)) for name, samples in run.by_problem.items()
    ]
    counts = [len(result.candidates) for result in results if result.candidates]
    most = min(counts, default=0)
    ks = sorted({k for k in KS if k <= most} | ({most} if most else set()))
    scored = score(results, ks)
    return RunFigures(run, scored, tuple(_points(scored)), tuple(_checks(run, scored)), _spent(run), _facts(run))


def _points(scored: Score) -> Iterator[Point]:
    bounds = {low.k: (low.value, high.value) for low, high in scored.bounds}
    for estimate in scored.estimates:
        name = f"pass@{estimate.k}"
        if not scored.complete:
            low, high = bounds.get(estimate.k, (None, None))
            yield Point(name, estimate.k, None, low, high, scored.reasons[name])
            continue
        low, high = scored.intervals[name] or (None, None)
        note = scored.reasons.get(name) or scored.interval_reasons.get(name, "")
        yield Point(name, estimate.k, estimate.value, low, high, note)


def _checks(run: ReadRun, scored: Score) -> Iterator[Check]:
    """Yield what the score is worth, the gravest first."""
    programs = [sample.result for sample in run.samples]
    facts = run.judge_results
    if not run.judged:
        text = "The programs were only run on the public tests that the model saw. Judge them by all tests for a score."
        yield Check("Public tests only", text, BAD)
    if unsafe := facts.get("unsafe"):
        yield Check("No isolation", str(unsafe), BAD)
    if not run.finished:
        yield Check("Not finished", f"{counted(len(run.samples), 'sample')} so far.", WARN)
    yield _verdicts_check(scored, programs)
    if run.command == VALIDATE:
        yield from (Check(name.capitalize(), f"{text}.", INFO) for name, text in rates_of_validation(run))
    elif run.judged and run.command not in (REPOSITORY_COMMAND, DOCTOR):
        yield _judge_check(run)
    if run.command != REPOSITORY_COMMAND:
        yield _near_check(scored)
    if trusted := _trust_check(programs):
        yield trusted
    if subset := facts.get("subset"):
        yield Check("Part of the problems", f"{len(scored.problems)} of {subset['of']} ({subset['by']}).", WARN)
    if (rates := facts.get("rates")) and run.command != VALIDATE:
        missing = rates["problems_without_samples"]
        more = f"; {counted(missing, 'problem')} without a sample, counted as failed" if missing else ""
        yield Check("Samples", f"{rates_text(rates)}{more}.", WARN if missing else INFO)


def _verdicts_check(scored: Score, programs: Sequence[CandidateResult]) -> Check:
    missing = [each for each in programs if each.verdict is Verdict.INTERNAL_ERROR]
    if not missing:
        return Check("Verdicts", f"Every one of {counted(len(programs), 'sample')} has a verdict.", GOOD)
    reason = without_paths(Counter(each.error for each in missing).most_common(1)[0][0] or "a fault of the sandbox")
    ranges = ", ".join(
        f"pass@{low.k} lies between {low.value:.3f} and {high.value:.3f}"
        for low, high in scored.bounds[:1]
        if low.value is not None and high.value is not None
    )
    text = f"{len(missing)} of {counted(len(programs), 'sample')} got none ({reason})"
    return Check("Without a verdict", f"{text}; {ranges}." if ranges else f"{text}.", BAD)


def _judge_check(run: ReadRun) -> Check:
    error = judge_error_of(run)
    if error.reason:
        return Check("Judge error", f"Not known: {error.reason}.", WARN)
    wrong = error.correct_rejected + error.incorrect_accepted
    total = error.correct_total + error.incorrect_total
    text = f"Wrong on {wrong} of {counted(total, 'program')} with known verdicts: {error}."
    labels = Labels(run)
    differing = list(dict.fromkeys(each.problem for each in run.known if labels.differs(each)))
    if differing:
        text += f" See {', '.join(differing[:MOST_NAMED])}{' and others' if len(differing) > MOST_NAMED else ''}."
    both = error.correct_total and error.incorrect_total
    return Check("Judge error", text, BAD if wrong else GOOD if both else INFO)


def judge_error_of(run: ReadRun) -> JudgeError:
    """Return how often the judge was wrong on programs of known verdict: as the result says, or so far."""
    if stored := run.judge_results.get("judge_error"):
        return JudgeError(**stored)
    backend = str(run.judge.get("sandbox", {}).get("backend", ""))
    samples, groups = (run.known, KNOWN_GROUPS) if run.known else (run.samples, (CORRECT, INCORRECT))
    return judge_error([ProblemResult("", tuple(each.result for each in samples))], backend, groups)


def _near_check(scored: Score) -> Check:
    near = scored.near_limit["programs"]
    if not any(each.tests for problem in scored.problems for each in problem.candidates):
        return Check("Near a limit", "Not known: the run doesn't record what each test used.", INFO)
    if not near:
        return Check("Near a limit", "No verdict depends on a test within 20 % of a limit.", GOOD)
    rechecked = scored.near_limit["rechecked"]
    again = f"{rechecked} of them judged again alone" if rechecked else "not judged again"
    text = f"{counted(near, 'verdict')} within 20 % of a limit, which the machine's load may change: {again}."
    return Check("Near a limit", text, INFO if rechecked else WARN)


def _trust_check(programs: Sequence[CandidateResult]) -> Check | None:
    tests = [test for each in programs for test in each.tests]
    inside = sum(test.get("trust") == IN_PROCESS for test in tests)
    if not tests or not inside:
        return None
    text = (
        f"{inside} of {counted(len(tests), 'test')} got the verdict in the program's own process, which could forge it."
    )
    return Check("Trust", text, INFO)


def _spent(run: ReadRun) -> Spent | None:
    candidates = {name: [s.candidate for s in found if s.candidate] for name, found in run.by_problem.items()}
    count = sum(map(len, candidates.values()))
    if not count or not any(each.llm_calls for found in candidates.values() for each in found):
        return None
    by_problem = [costs_of(found) for found in candidates.values()]
    total = costs_of([each for found in candidates.values() for each in found])
    solved = [any(s.result.verdict is Verdict.ACCEPTED for s in run.by_problem[name]) for name in candidates]
    per_sample, per_problem = total.per(count), total.per(len(candidates))
    assert per_sample is not None and per_problem is not None
    interval = ratio_interval([costs.tokens for costs in by_problem], solved)
    return Spent(total, per_sample, per_problem, total.per(sum(solved)), interval)


def _facts(run: ReadRun) -> dict[str, str]:
    """Return what made the run: names and settings of the lists above, and nothing else."""
    described, judge = run.description, run.judge
    settings = judge.get("options", {}).get("settings") or judge.get("settings") or judge
    identity, tester = judge.get("sandbox", {}), settings.get("code_tester", {})
    config = described.get("settings", {}).get("config", {}) if "settings" in described else {}
    versions = described.get("versions", {})
    facts = {
        "command": run.command,
        "problems": _name_of(described),
        "flow": str(described.get("flow") or "") if "/" not in str(described.get("flow")) else "",
        "tests": ", ".join(judge.get("test_types", ())),
        **{f"judge {key}": _text(identity.get(key)) for key in SHOWN_IDENTITY},
        **{key: _text(tester.get(key)) for key in SHOWN_TESTER},
        **{key: _text(config.get(key)) for key in SHOWN_CONFIG},
        **{key: _text(versions.get(key)) for key in SHOWN_VERSIONS},
        "problems' fingerprint": str(described.get("fingerprint", ""))[:12],
    }
    return {name.replace("_", " "): text for name, text in facts.items() if text}


def _name_of(described: Any) -> str:
    """Return the name of a dataset and its split; of a path, only the last part."""
    name = str(described.get("dataset") or described.get("dataset_name") or described.get("known_verdicts") or "")
    local = name.startswith(("/", ".", "~")) or Path(name).suffix in (".json", ".jsonl", ".gz", ".parquet", ".pkl")
    split = described.get("split") or described.get("split_name") or ""
    return (Path(name).name if local else name) + (f" [{split}]" if split else "")


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    # A limit of 0 is the problem's own.
    return str(value) if value else ""


def spent_text(costs: Costs | None) -> str:
    """Return calls, tokens and dollars in words."""
    if costs is None:
        return "nothing solved"
    dollars = "cost unknown" if costs.dollars is None else in_dollars(costs.dollars)
    return f"{costs.tokens:,.0f} tokens, {costs.calls:,.1f} calls, {dollars}"
