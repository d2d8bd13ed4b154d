"""A log of inspect_ai, which `inspect view` opens: each problem is a sample, each program of it an epoch."""

import re
import tempfile
from pathlib import Path
from typing import Any

from alpha_codium.errors import UserError
from alpha_codium.report.exports.scored_run import ExportedRun, interval_text, tokens_of
from alpha_codium.report.samples import StoredSample
from alpha_codium.verdict import Verdict

SCORER = "gencode"


def inspect_log(scored: ExportedRun) -> bytes:
    """Return the content of an `.eval` file, written by inspect_ai.

    A program without a verdict has no score. Raises UserError if inspect_ai isn't installed, or the model isn't known.
    """
    model = scored.model
    try:
        from inspect_ai.log import write_eval_log  # pyrefly: ignore[missing-import]
    except ImportError as error:
        raise UserError("a log of inspect_ai needs inspect_ai: pip install inspect_ai") from error
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.eval"
        write_eval_log(_log(scored, model), str(path))
        return path.read_bytes()


def _log(scored: ExportedRun, model: str) -> Any:
    from inspect_ai import log  # pyrefly: ignore[missing-import]

    problems, judged_at = scored.run.by_problem, scored.judged_at.isoformat()
    return log.EvalLog(
        status="success",
        eval=log.EvalSpec(
            created=judged_at,
            task=scored.problems,
            dataset=log.EvalDataset(name=scored.problems, samples=len(problems), sample_ids=list(problems)),
            model=model,
            config=log.EvalConfig(epochs=max(map(len, problems.values()))),
            packages={"alpha_codium": scored.provenance.get("alpha_codium", "unknown")},
            metadata=scored.provenance | _intervals(scored),
        ),
        results=_results(scored),
        stats=log.EvalStats(started_at=judged_at, completed_at=judged_at),
        samples=[
            _sample(scored, model, sample, epoch)
            for samples in problems.values()
            for epoch, sample in enumerate(samples, 1)
        ],
    )


def _results(scored: ExportedRun) -> Any:
    from inspect_ai.log import EvalMetric, EvalResults, EvalScore  # pyrefly: ignore[missing-import]

    count, missing = len(scored.run.samples), sum(_has_none(sample) for sample in scored.run.samples)
    metrics = {
        point.name: EvalMetric(name=point.name, value=point.value, metadata={"low": point.low, "high": point.high})
        for point in scored.figures.points
        if point.value is not None
    }
    scores = EvalScore(
        name=SCORER, scorer=SCORER, scored_samples=count - missing, unscored_samples=missing, metrics=metrics
    )
    return EvalResults(total_samples=count, completed_samples=count, scores=[scores])


def _intervals(scored: ExportedRun) -> dict[str, str]:
    return {point.name: interval_text(point) for point in scored.figures.points}


def _sample(scored: ExportedRun, model: str, sample: StoredSample, epoch: int) -> Any:
    from inspect_ai.log import EvalSample  # pyrefly: ignore[missing-import]
    from inspect_ai.model import ChatMessageUser, ModelOutput  # pyrefly: ignore[missing-import]
    from inspect_ai.scorer import CORRECT, INCORRECT, Score  # pyrefly: ignore[missing-import]

    result, program = sample.result, scored.shown(sample.source)
    statement = scored.statement(sample.problem)
    output = ModelOutput.from_content(model, fenced(program, sample.language.removesuffix("3")))
    metadata = {
        "sample": result.index,
        "verdict": result.verdict.value,
        "tests_passed": result.tests_passed,
        "tests_total": result.tests_total,
        "near_limit": result.near_limit,
        "language": sample.language,
        "program_sha256": result.program,
    }
    value = CORRECT if result.verdict is Verdict.ACCEPTED else INCORRECT
    explanation = fenced(scored.explanation(sample)) if sample.failed else None
    score = Score(value=value, answer=program, explanation=explanation, metadata=metadata)
    return EvalSample(
        id=sample.problem,
        epoch=epoch,
        input=statement,
        target="all tests pass",
        messages=[ChatMessageUser(content=statement), output.message],
        output=output,
        model_usage=_usage(model, sample),
        scores={} if _has_none(sample) else {SCORER: score},
        metadata=metadata,
    )


def _has_none(sample: StoredSample) -> bool:
    return sample.result.verdict is Verdict.INTERNAL_ERROR


def _usage(model: str, sample: StoredSample) -> dict[str, Any]:
    from inspect_ai.model import ModelUsage  # pyrefly: ignore[missing-import]

    tokens = tokens_of(sample)
    return {model: ModelUsage(**tokens)} if tokens else {}


def fenced(text: str, language: str = "") -> str:
    """Return a text as a block of Markdown, in which the page shows texts; it can't end the block itself."""
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"
