"""Evaluation results of a model's repository on the Hugging Face Hub: YAML in its folder `.eval_results`.

The format is that of https://huggingface.co/docs/hub/eval-results. It has no fields for an interval or for what judged,
so `notes` has them.
"""

from typing import Any

import yaml

from alpha_codium.errors import UserError
from alpha_codium.report.exports.scored_run import ExportedRun, interval_text

# What the notes name of the provenance, in this order.
NOTED = (
    *("samples", "samples_judged", "problems_judged", "part_of_the_problems", "tests"),
    *("judge_backend", "judge_version", "judge_interpreter", "judge_image", "judge_isolation", "judge_rules"),
    *("judge_error", "near_a_limit", "trust", "no_isolation", "without_a_verdict", "flow", "temperature"),
    "alpha_codium",
)


def hub_results(scored: ExportedRun) -> str:
    """Return the YAML; its value is the first pass@k of the run, from 0 to 1.

    Raises UserError if the benchmark's id or its task isn't known, or the score isn't.
    """
    if not scored.hub_id:
        raise UserError("the Hub needs the benchmark's id: give it as `dataset`, such as openai/openai_humaneval")
    if not scored.given.task:
        raise UserError("the Hub needs the benchmark's task: give its id in the dataset's eval.yaml as `task`")
    point, value = scored.points[0]
    entry: dict[str, Any] = {
        "dataset": {"id": scored.hub_id, "task_id": scored.given.task},
        "value": round(value, 6),
        "date": scored.judged_at.isoformat(),
        "notes": f"{point.name}, {interval_text(point)}; {_notes(scored)}",
    }
    if scored.given.source_url:
        entry["source"] = {"url": scored.given.source_url, "name": f"gencode run {scored.run.name}"}
    return yaml.safe_dump([entry], sort_keys=False, allow_unicode=True, width=100)


def _notes(scored: ExportedRun) -> str:
    known = scored.provenance
    return "; ".join(f"{name.replace('_', ' ')}: {known[name].rstrip('.')}" for name in NOTED if name in known)
