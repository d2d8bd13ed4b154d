"""Validation of a dataset's tests, checkers and limits with its known solutions."""

from dataclasses import replace
from typing import Any

from alpha_codium.app.evaluation import describe, subset_of, with_executor, write_results
from alpha_codium.app.events import OnEvent, judging
from alpha_codium.app.options.judging import ValidateOptions
from alpha_codium.app.resuming import verdict_settings
from alpha_codium.app.run_folders import has_written, part_of, run_or_temporary, with_settings
from alpha_codium.audit.datasets.assessment import Assessment
from alpha_codium.audit.datasets.columns import check_output, write_validated
from alpha_codium.audit.datasets.report import ValidationReport
from alpha_codium.audit.datasets.running import assess_known, by_all_tests, known_programs, observe_known
from alpha_codium.audit.datasets.timing import calibration
from alpha_codium.config import Settings, load_settings
from alpha_codium.coroutines import blocking, in_thread
from alpha_codium.data.load import ProblemSet, load_problems
from alpha_codium.data.sources import output_path
from alpha_codium.data.store import refuse_replacing
from alpha_codium.errors import UserError
from alpha_codium.eval.judging import OpenJudge, open_judge
from alpha_codium.eval.prepare import parse_test_types
from alpha_codium.eval.results import ProblemResult
from alpha_codium.judge import Rules
from alpha_codium.options import recorded, use_case
from alpha_codium.problem import TestType
from alpha_codium.runs import RunFolder


@use_case(ValidateOptions)
async def validate_async(options: ValidateOptions) -> ValidationReport:
    """Check a dataset's tests, checkers and limits by running its known solutions.

    Raises UserError if the dataset can't be read or is empty, or the output can't be written.
    """
    shard, options = part_of(options)
    settings, output = with_executor(options.settings or load_settings(), options), options.output
    if shard is not None and output is not None:
        raise UserError("a part has no `output`: merge the parts, and resume the merged run with `output`")
    kinds = parse_test_types(options.test_type)
    problems = await in_thread(load_problems, options.dataset, options.split)
    if not problems:
        raise UserError(f"{options.dataset} has no problems to check")
    if output is not None:
        check_output(output, problems.split_name)
        if not options.overwrite and not has_written(options.resume, output_path(output)):
            refuse_replacing([problems.split_name], output_path(output))
    # Every test is run, since each is checked separately.
    rules = by_all_tests(Rules.of(settings.code_tester, settings.languages.time_limit_factors))
    subset = subset_of(options)
    described = {"sample_rate": options.sample_rate, "seed": options.seed} | subset.as_record()
    decisive = _settings_of(settings)
    description = describe("validate", options.dataset, problems, kinds, code_tester=decisive, **described)
    chosen = subset.choose(problems)
    if shard is not None:
        description["shard"] = options.shard
        chosen = shard.problems(chosen)
    async with open_judge(settings, rules=rules) as judge:
        description |= {"sandbox": judge.identity.to_json()}
        entries = description | with_settings(recorded(options), settings)
        with run_or_temporary(options.run, options.resume, entries, options.on_event) as folder:
            results = await _observe(chosen, kinds, judge, folder, options.on_event)
            report = await in_thread(_report, chosen, kinds, judge, folder, results, options)
            await in_thread(write_results, folder, report.to_json(), results, judge.executor)
            if output is not None:
                columns = description | {"calibration": report.calibration}
                stored = await in_thread(write_validated, chosen, report.problems, output, columns)
                folder.note_output(output_path(output))
                return replace(report, stored=stored)
    return report


validate = blocking(validate_async)


def _settings_of(settings: Settings) -> dict[str, Any]:
    """The settings that decide; every test is run, whatever `stop_on_first_failure` says."""
    decisive = verdict_settings(settings.code_tester)
    return {key: value for key, value in decisive.items() if key != "stop_on_first_failure"}


async def _observe(
    problems: ProblemSet, kinds: tuple[TestType, ...], judge: OpenJudge, folder: RunFolder, on_event: OnEvent
) -> list[ProblemResult]:
    programs = await in_thread(judge.languages, known_programs(problems, kinds))
    with judging(on_event, programs.total(), "known programs judged") as on_result:
        return await observe_known(problems, kinds, judge.judge, folder, on_result=on_result, executor=judge.executor)


def _report(
    problems: ProblemSet,
    kinds: tuple[TestType, ...],
    judge: OpenJudge,
    folder: RunFolder,
    results: list[ProblemResult],
    options: ValidateOptions,
) -> ValidationReport:
    assessments = tuple(assess_known(problems, kinds, judge.judge, folder, results, options.near))
    factor = _factor_in_force(problems, judge.judge.rules, assessments)
    timings = [each.timing for each in assessments]
    return ValidationReport(assessments, calibration(timings, options.near, factor), shard=options.shard or "")


def _factor_in_force(problems: ProblemSet, rules: Rules, assessments: tuple[Assessment, ...]) -> float | None:
    """Return the time_limit_factor if all programs were timed with the problems' own limits, else None."""
    timed = {each.name for each in assessments if each.timing.share is not None}
    own = all(problem.time_limit_seconds for problem in problems if problem.name in timed)
    return rules.time_limit_factor if timed and own and not rules.cpu_seconds else None
