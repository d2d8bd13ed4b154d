"""Evaluation of candidates and human solutions, with a journal in a run folder."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

from alpha_codium.app.events import OnEvent, ignore, judging
from alpha_codium.app.run_folders import opened_run, recordable, verdict_settings, with_settings
from alpha_codium.config import Settings, load_settings
from alpha_codium.coroutines import blocking, in_thread
from alpha_codium.data.load import ProblemSet, load_problems
from alpha_codium.data.solutions import load_solutions, refuse_other_problems, subsets_of
from alpha_codium.data.subset import Subset
from alpha_codium.errors import DatasetError, UserError
from alpha_codium.eval.judging import OpenJudge, open_judge
from alpha_codium.eval.languages import Languages
from alpha_codium.eval.metric import DEFAULT_KS, checked_ks
from alpha_codium.eval.prepare import (
    EvaluationSet,
    EvaluationTask,
    HumanSolutions,
    human_solutions,
    only_asked,
    prepare_for_evaluation,
)
from alpha_codium.eval.score_progress import ScoreProgress
from alpha_codium.eval.scoring import Score
from alpha_codium.judge import Rules
from alpha_codium.languages.names import language_asked_for
from alpha_codium.problem import Problem, TestType
from alpha_codium.runs import RunFolder
from alpha_codium.runs.folder import PROGRAMS
from alpha_codium.sandbox.blocking import AnySandbox
from alpha_codium.verdict import Identity

Rows = Iterable[Mapping[str, Any]]


@dataclass(frozen=True)
class Evaluation:
    """One evaluation; `description` and `options`, which `--resume` uses again, are written to `run.toml`."""

    tasks: EvaluationSet
    description: dict[str, Any]
    settings: Settings
    sandbox: AnySandbox | None = None
    rules: Rules | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    async def run(
        self, ks: Sequence[int], run: str | None = None, resume: str | None = None, on_event: OnEvent = ignore
    ) -> Score:
        """Judge and score all programs; the journal and the score are stored in a run folder if one is named."""
        ks = checked_ks(ks)
        refuse_without_tests(self.tasks, self.description["dataset"])
        async with open_judge(self.settings, self.sandbox, self.rules) as judge:
            tasks = self.tasks
            if isinstance(tasks, HumanSolutions):
                tasks = await in_thread(tasks.run_in, judge.judge.sandbox)
            programs = await in_thread(judge.languages, tasks)
            decisive = {
                "code_tester": verdict_settings(self.settings.code_tester),
                "sandbox": judge.identity.to_json(),
                "languages": await in_thread(judge.decisive, programs),
            }
            description = self.description | decisive | with_settings(self.options, self.settings)
            with opened_run(run, resume, description, on_event) as folder:
                result = await _score(judge, tasks, programs.total(), ks, folder, on_event)
                if folder is not None:
                    folder.write_json("results.json", result.to_json())
        return result


async def _score(
    judge: OpenJudge,
    tasks: EvaluationSet,
    programs: int,
    ks: Sequence[int],
    folder: RunFolder | None,
    on_event: OnEvent,
) -> Score:
    if folder is not None and not isinstance(tasks, HumanSolutions):
        await in_thread(folder.write_lines, PROGRAMS, _distinct_programs(judge.with_known(tasks), judge.identity))
    judged = judging(on_event, programs, "judged", ScoreProgress(ks))
    with judged as on_result, folder.journal if folder else nullcontext() as journal:
        return await judge.score(tasks, ks, journal, on_result)


async def evaluate_async(
    solutions: str | Rows,
    problems: str | Sequence[Problem],
    test_type: str | Iterable[str] = TestType.PRIVATE,
    sandbox: str | AnySandbox | None = None,
    k: Sequence[int] = DEFAULT_KS,
    *,
    rules: Rules | None = None,
    split: str | None = None,
    sample_rate: float = 1.0,
    seed: int = 0,
    limit: int | None = None,
    names: Sequence[str] = (),
    only_present: bool = False,
    known_solutions: int | None = None,
    ignore_fingerprint: bool = False,
    settings: Settings | None = None,
    run: str | None = None,
    resume: str | None = None,
    on_event: OnEvent = ignore,
) -> Score:
    """Judge the candidates of a Solutions dataset and score them over all problems that they were asked for.

    Those are all problems of the split, unless the dataset records a part. `sample_rate` with `seed`, `names` and
    `limit` choose fewer, and `only_present` those with candidates; `extra["subset"]` says so.

    `solutions` and `problems` are datasets or their names. `sandbox` is a backend's name, or a sandbox; one that is
    open stays open. `known_solutions` is the number of known correct and incorrect solutions of each problem that are
    judged, too; `extra["judge_error"]` is the share on which the judge was wrong. `extra["rates"]` has the shares of
    samples that were truncated, contained no program, or didn't compile; `extra["sandbox"]` identifies the sandbox.
    `settings` default to `load_settings()`. `run` names a new run folder with a journal; `resume` names an earlier run,
    whose verdicts are reused.

    Raises UserError if `k` isn't a list of numbers above 0, if a dataset can't be read, or if the names or the
    fingerprint of the problems don't match.
    """
    # Before there are other local variables: `run.toml` records the arguments, for `--resume`.
    options = recordable(locals())
    settings = settings or load_settings()
    changes: dict[str, Any] = {} if known_solutions is None else {"known_solutions": known_solutions}
    if isinstance(sandbox, str):
        changes["tester_type"] = sandbox
    evaluation = await in_thread(
        _evaluation_of_solutions, solutions, problems, test_type, split, ignore_fingerprint,
        Subset(sample_rate, seed, limit, tuple(names)), only_present,
        with_code_tester(settings, **changes), None if isinstance(sandbox, str) else sandbox, rules,
    )  # fmt: skip
    return await replace(evaluation, options=options).run(k, run, resume, on_event)


evaluate = blocking(evaluate_async)


async def evaluate_human_async(
    dataset: str,
    groups: str = "correct",
    test_type: str | Iterable[str] = TestType.PRIVATE,
    k: Sequence[int] = DEFAULT_KS,
    *,
    command: str = "eval_cc_solutions",
    split: str | None = None,
    sample_rate: float = 1.0,
    seed: int = 0,
    limit: int | None = None,
    names: Sequence[str] = (),
    languages: Sequence[str] = (),
    settings: Settings | None = None,
    run: str | None = None,
    resume: str | None = None,
    on_event: OnEvent = ignore,
) -> Score:
    """Judge the human solutions of a dataset and score them; `groups` is `correct`, `incorrect` or `both`.

    `extra["agreement"]` is the agreement of the judge with the labels. `sample_rate` is the share of problems to judge,
    `limit` their number, and `names` are their names. `languages` are those of the programs to judge, by default all
    that the sandbox runs; `extra["skipped_by_language"]` says how many programs weren't run, and why.

    Raises UserError if the dataset can't be read, or has no such tests, or a language that is asked for can't be run.
    """
    # Before there are other local variables: `run.toml` records the arguments, for `--resume`.
    options = recordable(locals())
    loaded = await in_thread(load_problems, dataset, split)
    subset = Subset(sample_rate, seed, limit, tuple(names))
    languages = [language_asked_for(name) for name in languages]
    tasks = human_solutions(subset.choose(loaded), groups, test_type, subset.note(loaded), Languages(languages))
    described = {"sample_rate": sample_rate, "seed": seed} | subset.as_record()
    if languages:
        described["asked_languages"] = sorted(languages)
    description = describe(command, dataset, loaded, tasks.test_types, solutions=groups, **described)
    evaluation = Evaluation(tasks, description, settings or load_settings(), options=options)
    return await evaluation.run(k, run, resume, on_event)


evaluate_human = blocking(evaluate_human_async)


def describe(
    command: str, dataset: str, problems: ProblemSet, test_types: Iterable[TestType], **more: Any
) -> dict[str, Any]:
    """Return the entries of `run.toml` for judging a dataset."""
    return {
        "command": command,
        "dataset": dataset,
        "split": problems.split_name,
        "fingerprint": problems.fingerprint,
        "test_types": [kind.value for kind in test_types],
        **more,
    }


def with_code_tester(settings: Settings, **changes: Any) -> Settings:
    """Return the settings with changed values in `[code_tester]`."""
    return settings.model_copy(update={"code_tester": settings.code_tester.model_copy(update=changes)})


def refuse_without_tests(tasks: Any, dataset: str) -> None:
    """Raise UserError if no problem of the dataset has tests of the requested types."""
    if not any(task.tests for task in tasks):
        types = " and ".join(each.value for each in tasks.test_types)
        raise UserError(f"no problem of {dataset!r} has {types}: choose another --evaluation_test_type")


def _evaluation_of_solutions(
    solutions: str | Rows, problems: str | Sequence[Problem], test_type: str | Iterable[str], split: str | None,
    ignore_fingerprint: bool, subset: Subset, only_present: bool, settings: Settings, sandbox: AnySandbox | None,
    rules: Rules | None,
) -> Evaluation:  # fmt: skip
    loaded = load_problems(problems, split) if isinstance(problems, str) else problems
    # The rows of a `Dataset` have no type.
    rows: Any = load_solutions(solutions) if isinstance(solutions, str) else list(solutions)
    if isinstance(solutions, str) and not len(rows):
        raise DatasetError(f"{solutions} contains no rows to judge")
    tasks = prepare_for_evaluation(rows, loaded, test_type)
    # A plain list of problems has no fingerprint.
    if not ignore_fingerprint and isinstance(loaded, ProblemSet):
        refuse_other_problems(rows, loaded)
    tasks = only_asked(tasks, subsets_of(rows), subset, only_present)
    name = "a list of problems"
    if isinstance(loaded, ProblemSet):
        name = problems if isinstance(problems, str) else loaded.dataset_name
    else:
        loaded = ProblemSet([], name, "", _digest(loaded))
    source = solutions if isinstance(solutions, str) else _digest([dict(row) for row in rows])
    description = describe("eval_gen_solutions", name, loaded, tasks.test_types, solutions=source, subset=tasks.subset)
    return Evaluation(tasks, description, settings, sandbox, rules)


def _distinct_programs(tasks: Iterable[EvaluationTask], judge: Identity) -> Iterator[dict[str, Any]]:
    """Yield each program of the tasks once, as it is stored in a run's folder."""
    judged = {"rules": judge.rules, "judged_by": judge.digest}
    seen: set[str] = set()
    for entry in (entry for task in tasks for entry in task.entries):
        digest = entry.to_program().digest
        if digest not in seen:
            seen.add(digest)
            yield {"program": digest, "language": entry.language, "source": entry.program, **judged}


def _digest(values: Sequence[Any]) -> str:
    """Return a digest by which a list without a name is recognized when a run is resumed."""
    digest = hashlib.sha256()
    for value in values:
        digest.update(repr(value).encode("utf-8", "surrogatepass"))
    return f"sha256:{digest.hexdigest()}"
