"""Evaluating candidates and human solutions: judged with a journal in a run folder, and scored."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from alpha_codium.app.coroutines import blocking, in_thread
from alpha_codium.app.events import OnEvent, ignore, working
from alpha_codium.app.run_folders import opened_run, verdict_settings
from alpha_codium.config import Settings, load_settings
from alpha_codium.data import load_problems, load_solutions
from alpha_codium.data.load import ProblemSet
from alpha_codium.data.solutions import refuse_other_problems
from alpha_codium.errors import DatasetError, UserError
from alpha_codium.eval.judging import OpenJudge, open_judge
from alpha_codium.eval.metric import DEFAULT_KS, checked_ks
from alpha_codium.eval.prepare import EvaluationSet, human_solutions, prepare_for_evaluation
from alpha_codium.eval.scoring import Score
from alpha_codium.judge import Rules
from alpha_codium.problem import Problem, TestType
from alpha_codium.runs import RunFolder
from alpha_codium.sandbox import Sandbox

Rows = Iterable[Mapping[str, Any]]


@dataclass(frozen=True)
class Evaluation:
    """One evaluation: what is judged, what `run.toml` says of it, and with which settings."""

    tasks: EvaluationSet
    description: dict[str, Any]
    settings: Settings
    sandbox: Sandbox | None = None
    rules: Rules | None = None

    async def run(
        self, ks: Sequence[int], run: str | None = None, resume: str | None = None, on_event: OnEvent = ignore
    ) -> Score:
        """Judge and score everything, in a run folder where one is named; the score is kept there, too."""
        ks = checked_ks(ks)
        refuse_without_tests(self.tasks, self.description["dataset"])
        async with open_judge(self.settings, self.sandbox, self.rules) as judge:
            decisive = {"code_tester": verdict_settings(self.settings.code_tester), "sandbox": judge.identity.to_json()}
            with opened_run(run, resume, self.description | decisive, on_event) as folder:
                result = await self._score(judge, ks, folder, on_event)
                if folder is not None:
                    folder.write_json("results.json", result.to_json())
        return result

    async def _score(self, judge: OpenJudge, ks: Sequence[int], folder: RunFolder | None, on_event: OnEvent) -> Score:
        total = await in_thread(judge.total, self.tasks)
        with working(on_event, "judged", total) as work:
            if folder is None:
                return await judge.score(self.tasks, ks, on_result=work.judged)
            with folder.journal as journal:
                return await judge.score(self.tasks, ks, journal, work.judged)


async def evaluate_async(
    solutions: str | Rows,
    problems: str | Sequence[Problem],
    test_type: str | Iterable[str] = TestType.PRIVATE,
    sandbox: str | Sandbox | None = None,
    k: Sequence[int] = DEFAULT_KS,
    *,
    rules: Rules | None = None,
    split: str | None = None,
    known_solutions: int | None = None,
    ignore_fingerprint: bool = False,
    settings: Settings | None = None,
    run: str | None = None,
    resume: str | None = None,
    on_event: OnEvent = ignore,
) -> Score:
    """Judge the candidates of a Solutions dataset and score them over all problems of the split.

    `solutions` and `problems` are datasets or their names. `sandbox` is a backend's name, or a sandbox that isn't open.
    So many `known_solutions` of each kind a problem are judged beside the candidates: `extra["judge_error"]` says how
    often the judge was wrong on them (0: don't). `extra["rates"]` says how many samples were truncated, held no
    program, or didn't compile; `extra["sandbox"]` is the identity of the sandbox. What isn't given is as in `settings`,
    which are those in force if they aren't given either. With `run`, a journal is kept in a folder of that name;
    `resume` names an earlier run, whose verdicts are taken over.

    Raises UserError where `k` is no list of numbers above 0, where a dataset can't be read, or where the two don't
    belong together, by the names of problems or by the fingerprint.
    """
    settings = settings or load_settings()
    changes: dict[str, Any] = {} if known_solutions is None else {"known_solutions": known_solutions}
    if isinstance(sandbox, str):
        changes["tester_type"] = sandbox
    evaluation = await in_thread(
        _evaluation_of_solutions, solutions, problems, test_type, split, ignore_fingerprint,
        with_code_tester(settings, **changes), None if isinstance(sandbox, str) else sandbox, rules,
    )  # fmt: skip
    return await evaluation.run(k, run, resume, on_event)


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
    settings: Settings | None = None,
    run: str | None = None,
    resume: str | None = None,
    on_event: OnEvent = ignore,
) -> Score:
    """Judge the human solutions of a dataset and score them; `groups` is `correct`, `incorrect` or `both`.

    `extra["agreement"]` says how far the judge and the labels agree. `sample_rate` is the share of the problems. Raises
    UserError where the dataset can't be read, or has no such tests.
    """
    loaded = await in_thread(load_problems, dataset, split)
    chosen = loaded.sample(sample_rate, seed) if sample_rate < 1 else loaded
    tasks = human_solutions(chosen, groups, test_type)
    description = {
        "command": command,
        "dataset": dataset,
        "split": loaded.split_name,
        "fingerprint": loaded.fingerprint,
        "sample_rate": sample_rate,
        "seed": seed,
        "solutions": groups,
        "test_types": [kind.value for kind in tasks.test_types],
    }
    return await Evaluation(tasks, description, settings or load_settings()).run(k, run, resume, on_event)


evaluate_human = blocking(evaluate_human_async)


def with_code_tester(settings: Settings, **changes: Any) -> Settings:
    """The settings with other values in `[code_tester]`."""
    return settings.model_copy(update={"code_tester": settings.code_tester.model_copy(update=changes)})


def refuse_without_tests(tasks: Any, dataset: str) -> None:
    """Raise UserError where no problem of the dataset has tests of the kinds asked for."""
    if not any(task.tests for task in tasks):
        kinds = " and ".join(kind.value for kind in tasks.test_types)
        raise UserError(f"no problem of {dataset!r} has {kinds}: choose another --evaluation_test_type")


def _evaluation_of_solutions(
    solutions: str | Rows, problems: str | Sequence[Problem], test_type: str | Iterable[str], split: str | None,
    ignore_fingerprint: bool, settings: Settings, sandbox: Sandbox | None, rules: Rules | None,
) -> Evaluation:  # fmt: skip
    loaded = load_problems(problems, split) if isinstance(problems, str) else problems
    rows = load_solutions(solutions) if isinstance(solutions, str) else list(solutions)
    if isinstance(solutions, str) and not len(rows):
        raise DatasetError(f"{solutions} holds no rows: there is nothing to judge")
    tasks = prepare_for_evaluation(rows, loaded, test_type)
    # A plain list of problems has no fingerprint.
    if not ignore_fingerprint and isinstance(loaded, ProblemSet):
        refuse_other_problems(rows, loaded)
    is_set = isinstance(loaded, ProblemSet)
    description = {
        "command": "eval_gen_solutions",
        "solutions": solutions if isinstance(solutions, str) else _digest([dict(row) for row in rows]),
        "dataset": problems if isinstance(problems, str) else loaded.dataset_name if is_set else "a list of problems",
        "split": loaded.split_name if is_set else "",
        "fingerprint": loaded.fingerprint if is_set else _digest(loaded),
        "test_types": [kind.value for kind in tasks.test_types],
    }
    return Evaluation(tasks, description, settings, sandbox, rules)


def _digest(values: Sequence[Any]) -> str:
    """What a list that has no name is known by when a run is resumed."""
    digest = hashlib.sha256()
    for value in values:
        digest.update(repr(value).encode("utf-8", "surrogatepass"))
    return f"sha256:{digest.hexdigest()}"
