"""Results in the schema of Every Eval Ever (https://github.com/evaleval/every_eval_ever), version 0.3.0.

Its data are `data/COLLECTION/DEVELOPER/MODEL/UUID.json` with the scores, and beside it `UUID_samples.jsonl` with a line
for each sample. Values that the schema has no field for are texts in `details`, `additional_details` and `metadata`.
"""

import hashlib
import json
import re
import time
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any
from uuid import UUID

from alpha_codium.errors import UserError
from alpha_codium.report.exports.scored_run import ExportedRun, interval_text, tokens_of
from alpha_codium.report.figures import Point
from alpha_codium.report.samples import StoredSample
from alpha_codium.verdict import Verdict
from alpha_codium.wording import counted

SCHEMA = "0.3.0"


def eval_files(scored: ExportedRun) -> dict[PurePosixPath, str]:
    """Return the two files by their paths in the data.

    Raises UserError if the model, the score, or who evaluated isn't known.
    """
    if not scored.given.organization:
        raise UserError("Every Eval Ever needs who evaluated: give the name as `organization`")
    stem = _stem(scored)
    samples = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in _instances(scored))
    aggregate = _aggregate(scored) | {
        "detailed_evaluation_results": {
            "format": "jsonl",
            "file_path": f"{stem}_samples.jsonl",
            "hash_algorithm": "sha256",
            "checksum": hashlib.sha256(samples.encode()).hexdigest(),
            "total_rows": len(scored.run.samples),
        }
    }
    text = json.dumps(aggregate, ensure_ascii=False, indent=2) + "\n"
    return {PurePosixPath(f"{stem}.json"): text, PurePosixPath(f"{stem}_samples.jsonl"): samples}


def _stem(scored: ExportedRun) -> str:
    """Return the path without its ending; the same evaluation always has the same."""
    developer, name = _model_id(scored).split("/")
    digest = hashlib.sha256(_evaluation_id(scored).encode()).digest()
    uuid = UUID(bytes=digest[:16], version=4)
    return "/".join(("data", *map(_folder, (scored.problems, developer, name)), str(uuid)))


def _folder(name: str) -> str:
    return re.sub(r"[^\w.-]+", "_", name).strip("._") or "unknown"


def _model_id(scored: ExportedRun) -> str:
    """Return developer and model; a provider before them is left out."""
    return "/".join(["unknown", *scored.model.split("/")][-2:])


def _evaluation_id(scored: ExportedRun) -> str:
    return f"{scored.problems}/{_model_id(scored)}/{scored.judged_at.timestamp():.0f}"


def _aggregate(scored: ExportedRun) -> dict[str, Any]:
    return {
        "schema_version": SCHEMA,
        "evaluation_id": _evaluation_id(scored),
        "evaluation_timestamp": scored.judged_at.isoformat(),
        "retrieved_timestamp": f"{time.time():.0f}",
        "source_metadata": {
            "source_name": "alpha_codium",
            "source_type": "evaluation_run",
            "source_organization_name": scored.given.organization,
            "evaluator_relationship": scored.given.relationship,
        },
        "model_info": {
            "name": scored.model,
            "id": _model_id(scored),
            "additional_details": {"deployment_type": "unknown", "model_availability": "unknown"},
        },
        "eval_library": {
            "name": "alpha_codium",
            "version": scored.provenance.get("alpha_codium", "unknown"),
            "additional_details": scored.provenance,
        },
        "evaluation_results": [_result(scored, point, value) for point, value in scored.points],
    }


def _result(scored: ExportedRun, point: Point, value: float) -> dict[str, Any]:
    uncertainty: dict[str, Any] = {"num_samples": len(scored.run.samples)}
    if point.low is not None and point.high is not None:
        uncertainty["confidence_interval"] = {
            "lower": point.low,
            "upper": point.high,
            "confidence_level": 0.95,
            "method": "bootstrap over problems",
        }
    return {
        "evaluation_result_id": _result_id(scored, point),
        "evaluation_name": scored.problems,
        "evaluation_timestamp": scored.judged_at.isoformat(),
        "source_data": _source(scored),
        "metric_config": {
            "evaluation_description": f"Share of problems solved by one of {counted(point.k, 'program')}, in all tests",
            "metric_id": "pass_at_k",
            "metric_name": point.name,
            "metric_kind": "pass_rate",
            "metric_unit": "proportion",
            "metric_parameters": {"k": point.k},
            "lower_is_better": False,
            "score_type": "continuous",
            "min_score": 0,
            "max_score": 1,
        },
        "score_details": {
            "score": value,
            "uncertainty": uncertainty,
            "details": scored.provenance | {"interval": interval_text(point)},
        },
    }


def _source(scored: ExportedRun) -> dict[str, Any]:
    if not scored.hub_id:
        return {"dataset_name": scored.problems, "source_type": "other"}
    return {
        "dataset_name": scored.problems,
        "source_type": "hf_dataset",
        "hf_repo": scored.hub_id,
        "samples_number": len(scored.run.by_problem),
    }


def _result_id(scored: ExportedRun, point: Point) -> str:
    return f"{_evaluation_id(scored)}#{point.name}"


def _instances(scored: ExportedRun) -> Iterator[dict[str, Any]]:
    """Yield a line for each sample: its program counts for the first score."""
    common = {
        "schema_version": SCHEMA,
        "evaluation_id": _evaluation_id(scored),
        "model_id": _model_id(scored),
        "evaluation_name": scored.problems,
        "evaluation_result_id": _result_id(scored, scored.points[0][0]),
    }
    return (common | _instance(scored, sample) for sample in scored.run.samples)


def _instance(scored: ExportedRun, sample: StoredSample) -> dict[str, Any]:
    result, program = sample.result, scored.shown(sample.source)
    statement, right = scored.statement(sample.problem), result.verdict is Verdict.ACCEPTED
    answer = {"turn_idx": 0, "source": "output.raw", "extraction_method": "custom", "is_terminal": True}
    return {
        "sample_id": sample.problem,
        "sample_hash": hashlib.sha256(statement.encode()).hexdigest(),
        "interaction_type": "single_turn",
        "input": {"raw": statement, "reference": []},
        "output": {"raw": [program]},
        "answer_attribution": [answer | {"extracted_value": program}],
        "evaluation": {"score": float(right), "is_correct": right},
        "token_usage": tokens_of(sample),
        "error": scored.explanation(sample) or None,
        "metadata": {
            "sample": str(result.index),
            "verdict": result.verdict.value,
            "tests_passed": f"{result.tests_passed} of {result.tests_total}",
            "language": sample.language,
            "program_sha256": result.program,
        },
    }
