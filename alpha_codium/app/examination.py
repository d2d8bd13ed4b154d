"""Checks of the judge with built-in cases, and with a file of submissions with known verdicts."""

from collections.abc import Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass
from typing import ClassVar

from alpha_codium.app.events import KitExamined, OnEvent, ProgressCounter, judging, working
from alpha_codium.app.options.judging import CheckOptions
from alpha_codium.app.resuming import verdict_settings
from alpha_codium.app.run_folders import opened_run
from alpha_codium.audit.judge.examination import Examination, examine
from alpha_codium.audit.judge.known_verdicts import KnownReport, KnownVerdicts
from alpha_codium.audit.kit.cases import load_cases, planted_secrets
from alpha_codium.config import Settings, load_settings
from alpha_codium.coroutines import blocking, in_thread
from alpha_codium.eval.judging import open_judge
from alpha_codium.eval.languages import Languages
from alpha_codium.judge import Rules
from alpha_codium.options import use_case
from alpha_codium.runs import RunFolder
from alpha_codium.values import JsonValue


@dataclass(frozen=True, slots=True)
class JudgeReport(JsonValue):
    """The results of the built-in cases (the kit) and of a file of submissions; None for those that weren't run."""

    beside: ClassVar[Sequence[str]] = ("known",)

    kit: Examination | None
    known: KnownReport | None

    @property
    def faultless(self) -> bool:
        """Whether all verdicts are as expected."""
        return all(part.faultless for part in (self.kit, self.known) if part is not None)


@use_case(CheckOptions)
async def check_judge_async(options: CheckOptions) -> JudgeReport:
    """Judge programs with known verdicts: the built-in cases (the kit), and a file of submissions.

    Raises UserError if the file can't be read, or the sandbox isn't available.
    """
    settings, path, on_event = options.settings or load_settings(), options.known_verdicts, options.on_event
    labelled = settings.changed("code_tester", time_limit_factor=options.time_limit_factor)
    # The limits of a file of submissions are for each of its languages.
    rules = Rules.of(labelled.code_tester, time_limit_factors={})
    known = await in_thread(KnownVerdicts, path) if path is not None else None
    with ExitStack() as stack:
        folder = None
        if known is not None:
            # Opened before the built-in cases are judged, so that errors in the options are reported at once.
            description = await _description(known, str(path), labelled, rules)
            folder = stack.enter_context(opened_run(options.run, options.resume, description, on_event))
        examined = None if options.skip_kit else await _examine(settings, on_event)
        judged = await _judge_known(known, folder, labelled, rules, on_event) if known is not None else None
    return JudgeReport(examined, judged)


check_judge = blocking(check_judge_async)


async def _description(known: KnownVerdicts, path: str, settings: Settings, rules: Rules) -> dict[str, object]:
    async with open_judge(settings, rules=rules) as judge:
        identity = judge.identity
        tasks = await in_thread(known.judged_in, Languages(sandbox=judge.judge.sandbox))
        languages = judge.tools_of(judge.languages(tasks))
    return {
        "command": "doctor",
        "known_verdicts": path,
        "fingerprint": known.problems.fingerprint,
        "code_tester": verdict_settings(settings.code_tester),
        "sandbox": identity.to_json(),
        "languages": languages,
    }


async def _examine(settings: Settings, on_event: OnEvent) -> Examination:
    with planted_secrets() as planted:
        cases = load_cases(planted)
        unexpected = ProgressCounter(lambda case: case.finding.value not in ("right", "not run"), "{} unexpected")
        with working(on_event, "kit", len(cases) + 1, unexpected) as on_result:
            async with open_judge(settings, rules=Rules(time_limit_factor=1.0)) as judge:
                isolated = settings.code_tester.sandbox is not False
                found = await examine(judge.judge, cases, judge.executor, isolated=isolated, on_result=on_result)
    on_event(KitExamined(found))
    return found


async def _judge_known(
    known: KnownVerdicts, folder: RunFolder | None, settings: Settings, rules: Rules, on_event: OnEvent
) -> KnownReport:
    """Judge the submissions of a file; the journal and the result are stored in the run's folder."""
    async with open_judge(settings, rules=rules) as judge:
        languages = Languages(sandbox=judge.judge.sandbox)
        tasks = await in_thread(known.judged_in, languages)
        programs = sum(len(task.entries) for task in tasks)
        with (
            folder.journal if folder else nullcontext() as journal,
            judging(on_event, programs, "submissions judged") as on_result,
        ):
            results = await judge.run(tasks, journal, on_result)
        found = known.report(results, languages, rules)
    if folder is not None:
        folder.write_json("results.json", found.to_json())
    return found
