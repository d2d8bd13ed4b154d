"""What all exports of a run say: its scores and samples, the model, the problems, and what the scores are worth."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

from alpha_codium.data.hub import HUB_ID
from alpha_codium.errors import UserError
from alpha_codium.report.figures import Point, RunFigures, figures_of
from alpha_codium.report.hiding import Hiding
from alpha_codium.report.problems import RunProblems
from alpha_codium.report.reading import ReadRun
from alpha_codium.report.samples import StoredSample
from alpha_codium.runs.folder import RUN_FILE


@dataclass(frozen=True, slots=True)
class Given:
    """What a run may not know, by the names of the options; empty texts are found in the run, if they can be."""

    model: str = ""
    dataset: str = ""
    task: str = ""
    organization: str = ""
    relationship: str = "other"
    source_url: str = ""


@dataclass(frozen=True)
class ExportedRun:
    """A finished run whose samples, of a model, were judged."""

    run: ReadRun
    given: Given = field(default_factory=Given)
    hiding: Hiding = field(default_factory=Hiding.here)

    def __post_init__(self) -> None:
        """Raise UserError if the run has no score of a model."""
        if why := self._without_score():
            raise UserError(f"run {self.run.name!r} has no score to export: {why}")

    @cached_property
    def figures(self) -> RunFigures:
        """The numbers of the run."""
        return figures_of(self.run)

    @cached_property
    def model(self) -> str:
        """The model's name; raises UserError if it is neither given nor recorded, or if there are several."""
        found = self.given.model or self.figures.models
        if not found or (", " in found and not self.given.model):
            why = f"answered by several models ({found})" if found else "made elsewhere"
            raise UserError(f"the samples of run {self.run.name!r} were {why}: name the model by `model`")
        return found

    @property
    def problems(self) -> str:
        """The name of the problems: that which is given, or that of the run's dataset, without its folder."""
        return self.given.dataset or self.figures.facts.get("problems", "") or self.run.name

    @cached_property
    def hub_id(self) -> str:
        """The dataset's id on the Hub; empty if the problems aren't from there, as far as is known."""
        name = str(self.run.description.get("dataset") or self.run.description.get("dataset_name") or "")
        # A file's name is cut in the facts, so that it isn't taken for an id; nor is a folder here.
        local = not self.figures.facts.get("problems", "").startswith(name) or Path(name).exists()
        found = self.given.dataset or ("" if local else name)
        return found if HUB_ID.fullmatch(found) else ""

    @cached_property
    def judged_at(self) -> datetime:
        """When the last verdict was stored, in UTC."""
        folder = (self.run.evaluation or self.run.folder).path
        path = next(each for each in (folder / "results.json", folder / RUN_FILE) if each.exists())
        return datetime.fromtimestamp(path.stat().st_mtime, UTC).replace(microsecond=0)

    @cached_property
    def points(self) -> list[tuple[Point, float]]:
        """The scores with their values, the smallest k first; raises UserError if none is known."""
        found = [(point, point.value) for point in self.figures.points if point.value is not None]
        if not found:
            why = next((point.note for point in self.figures.points), "there are no samples")
            raise UserError(f"the score of run {self.run.name!r} isn't known: {why}")
        return found

    @cached_property
    def provenance(self) -> dict[str, str]:
        """What made the scores and what they are worth: the judge's identity and error, the part of the problems."""
        checks = {check.title: check.text for check in self.figures.checks}
        samples = {"samples judged": str(len(self.run.samples)), "problems judged": str(len(self.run.by_problem))}
        found = {name: self.shown(text) for name, text in (self.figures.facts | samples | checks).items()}
        return {name.lower().replace("'", "").replace(" ", "_"): text for name, text in found.items()}

    def shown(self, text: str) -> str:
        """Return a text without the names of folders of this machine, and without what UTF-8 can't hold."""
        return self.hiding.hide(text).encode("utf-8", "replace").decode("utf-8")

    def statement(self, problem: str) -> str:
        """Return a problem's statement; its name, if the dataset can't be read any more."""
        found = self._problems.get(problem)
        return self.shown(found.description) if found and found.description else problem

    def explanation(self, sample: StoredSample) -> str:
        """Return why a sample failed, with its first failing test; empty if it didn't."""
        failure = sample.result.failure
        lines = [sample.reason, *(failure.lines(sample.result.tests_total) if failure else ())]
        return self.shown("\n".join(filter(None, lines))) if sample.failed else ""

    @cached_property
    def _problems(self) -> RunProblems:
        return RunProblems(self.run.folder, self.run.judge)

    def _without_score(self) -> str:
        if not self.run.samples:
            return "it has no samples"
        if not self.run.judged:
            return "its programs only ran on public tests; judge them by gencode eval eval_gen_solutions"
        if not self.figures.is_score:
            return "its programs aren't a model's"
        if not self.run.finished or not self.run.judge_results:
            return "it isn't finished; resume it"
        return ""


def interval_text(point: Point) -> str:
    """Return a score's interval in words, or why it has none."""
    if point.low is None or point.high is None:
        return f"no interval: {point.note or 'it cannot be estimated'}"
    return f"95 % interval {point.low:.4f} to {point.high:.4f}, by bootstrap over problems"


def tokens_of(sample: StoredSample) -> dict[str, int] | None:
    """Return the tokens that a sample read and wrote, as all formats name them; None if nothing records them."""
    made = sample.candidate
    if made is None or not made.llm_calls:
        return None
    read, written = made.prompt_tokens, made.completion_tokens
    return {"input_tokens": read, "output_tokens": written, "total_tokens": read + written}
