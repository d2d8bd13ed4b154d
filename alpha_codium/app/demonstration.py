"""The demonstration: three small problems, solved by two flows and scored."""

import difflib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import resources
from itertools import pairwise
from pathlib import Path
from typing import ClassVar

from alpha_codium.app.evaluation import evaluate
from alpha_codium.app.events import OnEvent
from alpha_codium.app.generation import solve_set
from alpha_codium.app.models import ask, require_local_models, smallest_model
from alpha_codium.app.reporting import report
from alpha_codium.config import Settings
from alpha_codium.data.load import load_problems
from alpha_codium.errors import ModelNotFound, UserError
from alpha_codium.eval.scoring import Score
from alpha_codium.gen.summary import RunSummary
from alpha_codium.llm.errors import ModelError
from alpha_codium.llm.names import LOCAL
from alpha_codium.paths import home
from alpha_codium.runs.events import ProgramTested, Transcript
from alpha_codium.values import JsonValue
from alpha_codium.verdict import Verdict
from alpha_codium.wording import counted

# (flow, samples of each problem, settings): small enough for a model of 135 million parameters on two cores.
RUNS: tuple[tuple[str, int, tuple[str, ...]], ...] = (
    ("baseline", 5, ()),
    ("write_and_repair", 1, ("initial_code_generation.max_attempts=2", "public_tests.max_allowed_calls=1")),
)
BOUNDS = ("config.max_tokens=128", "config.concurrency=4", "solve.max_format_retries=0")
PROBLEMS = Path(str(resources.files("alpha_codium.data").joinpath("examples", "demo.json")))


@dataclass(frozen=True, slots=True)
class DemoRun(JsonValue):
    """One flow's run on the problems, and its score over all their tests."""

    beside: ClassVar[Sequence[str]] = ("score",)

    flow: str
    summary: RunSummary
    score: Score

    def lines(self) -> Iterator[str]:
        """Yield each problem's programs that pass all tests, then pass@k."""
        calls = counted(self.summary.llm_calls, "call")
        yield f"{self.flow} ({calls}, {counted(self.summary.completion_tokens, 'token')} written)"
        for problem in self.score.problems:
            verdicts = [candidate.verdict.value for candidate in problem.candidates]
            solved = verdicts.count("accepted")
            failed = f"not solved ({', '.join(sorted(set(verdicts)))})"
            yield f"  {problem.name:<20} {f'solved by {solved} of {len(verdicts)}' if solved else failed}"
        values = {name: "n/a" if value is None else f"{value:.2f}" for name, value in self.score.pass_at_k.items()}
        yield f"  {', '.join(f'{name} = {value}' for name, value in values.items())}"
        yield f"  run folder: {self.summary.run_folder}"


@dataclass(frozen=True, slots=True)
class Repair:
    """Two programs that one sample tested, one after the other, with their verdicts on the public tests."""

    problem: str
    before: ProgramTested
    after: ProgramTested

    def lines(self) -> Iterator[str]:
        """Yield the difference between the programs."""
        before, after = (str(tested.program).splitlines() for tested in (self.before, self.after))
        yield from difflib.unified_diff(
            before, after, self.before.verdict.value, self.after.verdict.value, lineterm="", n=2
        )


def chosen_model(settings: Settings) -> str:
    """Return the model of the settings, else the best local one that is downloaded, else the smallest one.

    Raises UserError if it can't be used: a local model needs xllamacpp, another one is asked a question.
    """
    model = settings.config.model or smallest_model()
    chosen = settings.changed("config", model=model)
    require_local_models(chosen.config)
    if not model.startswith(LOCAL):
        try:
            ask("Reply with OK.", settings=chosen)
        except ModelError as error:
            raise error if isinstance(error, UserError) else ModelNotFound(f"no answer: {error}") from error
    return model


def run_flow(flow: str, samples: int, settings: Settings, on_event: OnEvent) -> DemoRun:
    """Run a flow on the problems, and judge its candidates by all tests."""
    summary = solve_set(str(PROBLEMS), samples=samples, flow=flow, settings=settings, on_event=on_event)
    judged = f"{summary.run}-judged"
    score = evaluate(summary.solutions, str(PROBLEMS), "all", k=sorted({1, samples}), run=judged, settings=settings)
    return DemoRun(flow, summary, score)


def page_on(runs: Iterable[DemoRun]) -> Path:
    """Write a page on the runs to gencode's folder; return its path."""
    return report([run.summary.run for run in runs], output=home() / "demo.html").path


def solved_program(runs: Iterable[DemoRun]) -> tuple[str, str] | None:
    """Return the hardest problem that a program solved, and that program; None if none was solved."""
    names = load_problems(PROBLEMS).names
    found = [
        (names.index(problem.name), problem.name, run.summary.run_folder, candidate.index)
        for run in runs
        for problem in run.score.problems
        for candidate in problem.candidates
        if candidate.verdict is Verdict.ACCEPTED and candidate.group == "generated"
    ]
    if not found:
        return None
    _, name, folder, index = max(found, key=lambda each: each[0])
    return name, Transcript.of_sample(Path(folder), name, index).candidate.program


def repair_of(runs: Sequence[DemoRun]) -> Repair | None:
    """Return a repair of a failed program, one that helped if there is any; None if nothing was repaired."""
    repairs = [
        Repair(problem.name, before, after)
        for run in runs
        for problem in run.score.problems
        for candidate in problem.candidates
        if candidate.group == "generated"
        for before, after in _pairs(Transcript.of_sample(Path(run.summary.run_folder), problem.name, candidate.index))
    ]
    return max(repairs, key=lambda each: each.after.verdict is Verdict.ACCEPTED, default=None)


def _pairs(transcript: Transcript) -> list[tuple[ProgramTested, ProgramTested]]:
    tested = [event for event in transcript.events if isinstance(event, ProgramTested)]
    return [
        (one, two)
        for one, two in pairwise(tested)
        if one.verdict is not Verdict.ACCEPTED and str(one.program).strip() and one.program != two.program
    ]
