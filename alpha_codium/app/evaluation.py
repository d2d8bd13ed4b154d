"""Evaluation of candidates and human solutions, with a journal in a run folder."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from alpha_codium.app.events import OnEvent, judging
from alpha_codium.app.options.judging import EvaluateOptions, HumanOptions, ScoreOptions
from alpha_codium.app.options.shared import Judging, OfPart
from alpha_codium.app.resuming import verdict_settings
from alpha_codium.app.run_folders import opened_run, part_of, with_settings
from alpha_codium.config import Settings, load_settings
from alpha_codium.coroutines import blocking, in_thread
from alpha_codium.data.load import ProblemSet, load_problems
from alpha_codium.data.solutions import load_solutions, refuse_other_problems, subsets_of
from alpha_codium.data.subset import Subset
from alpha_codium.errors import DatasetError, UserError
from alpha_codium.eval.judging import OpenJudge, open_judge
from alpha_codium.eval.languages import Languages
from alpha_codium.eval.metric import checked_ks
from alpha_codium.eval.prepare import (
    EvaluationSet,
    EvaluationTask,
    HumanSolutions,
    human_solutions,
    only_asked,
    prepare_for_evaluation,
)
from alpha_codium.eval.receipts import RECEIPTS, receipts_of
from alpha_codium.eval.results import ProblemResult
from alpha_codium.eval.running import refuse_replaced
from alpha_codium.eval.score_progress import ScoreProgress
from alpha_codium.eval.scoring import Score
from alpha_codium.eval.tables import write_tables
from alpha_codium.judge import Rules
from alpha_codium.judge.executors import Executor
from alpha_codium.language_table import language_asked_for
from alpha_codium.options import recorded, use_case
from alpha_codium.problem import TestType
from alpha_codium.runs import RunFolder
from alpha_codium.runs.folder import MACHINES, PROGRAMS
from alpha_codium.sandbox.blocking import AnySandbox
from alpha_codium.verdict import Identity


@dataclass(frozen=True)
class Evaluation:
    """What is judged, and what `run.toml` says of it: its `description`, and the `options` that a resume needs."""

    tasks: EvaluationSet
    description: dict[str, Any]
    settings: Settings
    options: EvaluateOptions | HumanOptions | ScoreOptions
    sandbox: AnySandbox | None = None
    rules: Rules | None = None

    async def run(self) -> Score:
        """Judge and score all programs; the journal and the score are stored in a run folder if one is named."""
        ks = checked_ks(self.options.k)
        refuse_without_tests(self.tasks, self.description["dataset"])
        shard, options = part_of(self.options)
        settings = with_executor(self.settings, options)
        async with open_judge(settings, self.sandbox, self.rules) as opened:
            judge, tasks = replace(opened, shard=shard), self.tasks
            if isinstance(tasks, HumanSolutions):
                tasks = await in_thread(tasks.run_in, judge.judge.sandbox)
            programs = await in_thread(judge.languages, tasks)
            decisive = {
                "code_tester": verdict_settings(self.settings.code_tester),
                "sandbox": judge.identity.to_json(),
                "languages": await in_thread(judge.tools_of, programs),
            }
            description = self.description | decisive
            if shard is not None:
                description["shard"] = options.shard
            description |= with_settings(recorded(options), self.settings)
            with opened_run(options.run, options.resume, description, options.on_event) as folder:
                result = await _score(judge, tasks, programs.total(), ks, folder, options.on_event)
                if folder is not None:
                    values = result.to_json(without=("problems",)) | {"problems": result.problems}
                    await in_thread(write_results, folder, values, result.problems, judge.executor)
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
        await in_thread(refuse_replaced, folder.journal, tasks)
        await in_thread(folder.write_lines, PROGRAMS, _distinct_programs(judge.with_known(tasks), judge.identity))
        receipts = receipts_of(judge.with_known(tasks), judge.judge.rules, judge.identity)
        await in_thread(folder.write_lines, RECEIPTS, (receipt.to_json() for receipt in receipts))
    # A part has some samples of a problem only, so that its pass@k means nothing.
    shown = () if judge.shard is not None else ks
    judged = judging(on_event, programs, "judged", ScoreProgress(shown, judge.executor.status))
    with judged as on_result, folder.journal if folder else nullcontext() as journal:
        return await judge.score(tasks, ks, journal, on_result)


@use_case(EvaluateOptions)
async def evaluate_async(options: EvaluateOptions) -> Score:
    """Judge the candidates of a Solutions dataset and score them over all problems that they were asked for.

    Those are all problems of the split, unless the dataset records a part. `sample_rate` with `seed`, `names` and
    `limit` choose fewer, and `only_present` those with candidates; `extra["subset"]` says so.
    `extra["judge_error"]` is the share of known solutions on which the judge was wrong, `extra["rates"]` has the shares
    of samples that were truncated, contained no program, or didn't compile; `extra["sandbox"]` identifies the sandbox.

    Raises UserError if `k` isn't a list of numbers above 0, if a dataset can't be read, or if the names or the
    fingerprint of the problems don't match.
    """
    options = replace(options, solutions=_path_as_text(options.solutions), problems=_path_as_text(options.problems))
    settings, known, sandbox = options.settings or load_settings(), options.known_solutions, options.sandbox
    changes: dict[str, Any] = {} if known is None else {"known_solutions": known}
    if isinstance(sandbox, str):
        changes["tester_type"], sandbox = sandbox, None
    tasks, description = await in_thread(_candidates, options)
    changed = settings.changed("code_tester", **changes)
    return await Evaluation(tasks, description, changed, options, sandbox, options.rules).run()


evaluate = blocking(evaluate_async)


@use_case(HumanOptions)
async def evaluate_human_async(options: HumanOptions) -> Score:
    """Judge the human solutions of a dataset and score them.

    `extra["agreement"]` is the agreement of the judge with the labels; `extra["skipped_by_language"]` says how many
    programs weren't run, and why.

    Raises UserError if the dataset can't be read, or has no such tests, or a language that is asked for can't be run.
    """
    loaded = await in_thread(load_problems, options.dataset, options.split)
    subset = subset_of(options)
    languages = [language_asked_for(name) for name in options.languages]
    chosen, note = subset.choose(loaded), subset.note(loaded)
    tasks = human_solutions(chosen, options.groups, options.test_type, note, Languages(languages))
    described = {"sample_rate": options.sample_rate, "seed": options.seed} | subset.as_record()
    if languages:
        described["asked_languages"] = sorted(languages)
    description = describe(
        options.command, options.dataset, loaded, tasks.test_types, solutions=options.groups, **described
    )
    return await Evaluation(tasks, description, options.settings or load_settings(), options).run()


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


def subset_of(options: OfPart) -> Subset:
    """Return the part of the problems that the options choose."""
    return Subset(options.sample_rate, options.seed, options.limit, tuple(options.names))


def with_executor(settings: Settings, options: Judging) -> Settings:
    """Return the settings with the executor of the options, if they name one."""
    return settings if options.executor is None else settings.changed("code_tester", executor=options.executor)


def write_results(
    folder: RunFolder, result: dict[str, Any], problems: Sequence[ProblemResult], executor: Executor
) -> None:
    """Write the result, its tables, and which machines judged, if it wasn't this one alone."""
    if machines := executor.machines():
        folder.write_json(MACHINES, machines)
    try:
        write_tables(folder.path, problems)
    except OSError as error:
        raise UserError(f"the tables of {folder.path} can't be written: {error.strerror or error}") from error
    folder.write_json("results.json", result)


def refuse_without_tests(tasks: Any, dataset: str) -> None:
    """Raise UserError if no problem of the dataset has tests of the requested types."""
    if not any(task.tests for task in tasks):
        types = " and ".join(each.value for each in tasks.test_types)
        raise UserError(f"no problem of {dataset!r} has {types}: choose another `test_type`")


def _path_as_text(given: Any) -> Any:
    """Return a path as a string, since `run.toml` records names as strings; return anything else unchanged."""
    return str(given) if isinstance(given, Path) else given


def _candidates(options: EvaluateOptions) -> tuple[EvaluationSet, dict[str, Any]]:
    """Return the candidates with their problems, and what `run.toml` says of them."""
    # No longer paths, which types can't say; and the rows of a `Dataset` have no type.
    solutions: Any = options.solutions
    problems: Any = options.problems
    loaded = load_problems(problems, options.split) if isinstance(problems, str) else problems
    rows: Any = load_solutions(solutions) if isinstance(solutions, str) else list(solutions)
    if isinstance(solutions, str) and not len(rows):
        raise DatasetError(f"{solutions} contains no rows to judge")
    tasks = prepare_for_evaluation(rows, loaded, options.test_type)
    # A plain list of problems has no fingerprint.
    if not options.ignore_fingerprint and isinstance(loaded, ProblemSet):
        refuse_other_problems(rows, loaded)
    tasks = only_asked(tasks, subsets_of(rows), subset_of(options), options.only_present)
    name = "a list of problems"
    if isinstance(loaded, ProblemSet):
        name = problems if isinstance(problems, str) else loaded.dataset_name
    else:
        loaded = ProblemSet([], name, "", _digest(loaded))
    source = solutions if isinstance(solutions, str) else _digest([dict(row) for row in rows])
    what = {"solutions": source, "subset": tasks.subset}
    return tasks, describe("eval_gen_solutions", name, loaded, tasks.test_types, **what)


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
