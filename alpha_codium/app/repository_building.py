"""Building a dataset of tasks from a repository, label by label."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, TypedDict

from alpha_codium.app.events import Noted, ProgressCounter, working
from alpha_codium.app.options.repository import BuildOptions
from alpha_codium.app.run_folders import has_written, run_or_temporary, with_settings
from alpha_codium.config import load_settings
from alpha_codium.coroutines import blocking, concurrently, in_thread
from alpha_codium.data.sources import output_path
from alpha_codium.data.store import check_target
from alpha_codium.errors import DatasetError, SandboxError, UserError
from alpha_codium.options import recorded, use_case
from alpha_codium.repository.building import LabelTasks, tasks_of
from alpha_codium.repository.card import card_of, reasons
from alpha_codium.repository.checkout import Checkout, check_out
from alpha_codium.repository.coverage import CoveredMethod, calls_of, covered_methods
from alpha_codium.repository.dataset import save_tasks
from alpha_codium.repository.harness import Trace
from alpha_codium.repository.recipes import recipe_of
from alpha_codium.runs import Journal
from alpha_codium.sandbox.engine.interpreter import version_of
from alpha_codium.sandbox.protocol import worker_count
from alpha_codium.values import JsonValue, named
from alpha_codium.wording import counted


class LabelCounts(TypedDict):
    """How many methods became tasks of a label, and how many didn't, by reason."""

    label: str
    tasks: int
    dropped: Mapping[str, int]
    cpu_seconds: float


@dataclass(frozen=True, slots=True)
class BuildReport(JsonValue):
    """What was built of each label, and where it is stored."""

    in_json: ClassVar[Mapping[str, str]] = named("tasks", "stored", labels="counts")

    labels: tuple[LabelTasks, ...]
    stored: Path

    @property
    def tasks(self) -> int:
        """The number of tasks."""
        return sum(len(label.tasks) for label in self.labels)

    @property
    def counts(self) -> list[LabelCounts]:
        """The numbers of each label, without the tasks."""
        return [
            LabelCounts(label=each.label, tasks=len(each.tasks), dropped=each.dropped, cpu_seconds=each.cpu_seconds)
            for each in self.labels
        ]


@use_case(BuildOptions)
async def build_tasks_async(options: BuildOptions) -> BuildReport:
    """Make tasks of all three benchmarks from the documented methods of a repository, and store them as a dataset.

    About as many are made of each label. Raises UserError if the repository can't be fetched, no tests can be loaded,
    or the dataset can't be written.
    """
    settings, repeats = options.settings or load_settings(), options.repeats
    recipe = recipe_of(options.repository)
    files = await in_thread(_check_out, options)
    target = output_path(options.output or recipe.name)
    check_target(target)
    if target.exists() and not options.overwrite and not has_written(options.resume, target):
        raise DatasetError(f"{target} exists already: choose another `output`, or use `overwrite`")
    chosen = tuple(options.labels) or recipe.labels
    description = {
        "command": "repo_build",
        "dataset": f"{recipe.name} {files.version}",
        "labels": list(chosen),
        "max_items": options.max_items,
        "seed": options.seed,
        "repeats": repeats,
        "only_labels": options.only_labels or None,
        "files": await in_thread(files.digest),
    }
    description |= with_settings(recorded(options), settings)
    with run_or_temporary(options.run, options.resume, description, options.on_event) as folder:
        builder = _Builder(files, options, worker_count(settings.code_tester.workers))
        methods = await builder.methods(chosen)
        built = await builder.build(chosen, methods, folder.journal)
        tasks = [task for label in built for task in label.tasks]
        if not tasks:
            raise UserError(
                "no method became a task: " + "; ".join(f"{each.label}: {reasons(each.dropped)}" for each in built)
            )
        card = card_of(files, built, options.seed, repeats, version_of(str(files.interpreter)))
        await in_thread(save_tasks, tasks, target, card, f"{recipe.name} {files.version}")
        folder.note_output(target)
        report = BuildReport(tuple(built), target)
        folder.write_json("results.json", report.to_json())
    return report


build_tasks = blocking(build_tasks_async)


def _check_out(options: BuildOptions) -> Checkout:
    version, sdist, checkout = options.version, options.sdist, options.checkout
    if sum(map(bool, (version, sdist, checkout))) > 1:
        raise UserError("`version`, `sdist` and `checkout` exclude each other: give one of them")
    return check_out(
        recipe_of(options.repository),
        version,
        sdist=Path(sdist) if sdist else None,
        checkout=Path(checkout) if checkout else None,
    )


@dataclass(frozen=True, slots=True)
class _Builder:
    checkout: Checkout
    options: BuildOptions
    workers: int

    async def methods(self, labels: Sequence[str]) -> Mapping[str, Sequence[CoveredMethod]]:
        """Return the methods that tests call, by their component; the calls of each label are noted once and kept."""
        every = labels if self.options.only_labels else dict.fromkeys([*labels, *self.checkout.labels()])
        todo, traces, refused = iter(every), dict[str, Trace](), list[SandboxError]()
        with working(self.options.on_event, "labels whose calls are noted", len(every)) as on_done:

            async def note() -> None:
                for label in todo:
                    try:
                        traces[label] = await calls_of(self.checkout, label)
                    except SandboxError as error:
                        refused.append(error)
                        self.options.on_event(Noted(f"no tests of {label}: {error}"))
                    on_done(label)

            await concurrently(note() for _ in range(self.workers))
        if refused and not traces:
            raise refused[0]
        found = defaultdict(list)
        for each in await in_thread(covered_methods, self.checkout, traces, self.options.seed):
            found[each.labels[0]].append(each)
        return found

    async def build(
        self, labels: Sequence[str], methods: Mapping[str, Sequence[CoveredMethod]], journal: Journal
    ) -> list[LabelTasks]:
        """Return the tasks of all labels; those that the journal has aren't made again."""
        built: dict[str, LabelTasks] = {}
        with journal:
            earlier = {label.label: label for label in journal.read(LabelTasks.from_json)}
            counter = ProgressCounter(lambda made: len(made.tasks), "{} tasks")
            with working(self.options.on_event, "labels", len(labels), counter) as on_done:
                for number, label in enumerate(labels):
                    made = earlier.get(label) or await self._label(
                        label, methods.get(label, ()), built, len(labels) - number
                    )
                    if label not in earlier and made.cpu_seconds:
                        await in_thread(journal.append, made.to_json())
                    built[label] = made
                    on_done(made)
        return list(built.values())

    async def _label(
        self, label: str, methods: Sequence[CoveredMethod], built: Mapping[str, LabelTasks], left: int
    ) -> LabelTasks:
        """Return the tasks of a label: at most its share of those that are still to be made."""
        items = self.options.max_items
        most = None if items is None else -(-(items - sum(len(each.tasks) for each in built.values())) // left)
        if most == 0:
            return LabelTasks(label, (), {}, 0.0)
        try:
            made = await tasks_of(
                self.checkout,
                label,
                methods,
                seed=self.options.seed,
                most=most,
                repeats=self.options.repeats,
                workers=self.workers,
            )
        except SandboxError as error:
            self.options.on_event(Noted(f"no tasks of {label}: {error}"))
            return LabelTasks(label, (), {str(error): 1}, 0.0)
        why = f" (no task: {reasons(made.dropped)})" if made.dropped else ""
        self.options.on_event(Noted(f"{label}: {counted(len(made.tasks), 'task')}, {made.cpu_seconds:.0f} CPU s{why}"))
        return made
