"""Assessments as columns beside their problems, in a new dataset."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from alpha_codium.audit.datasets.assessment import Assessment
from alpha_codium.data.load import ProblemSet
from alpha_codium.data.schema import TEST_CODE, features
from alpha_codium.data.sources import output_path
from alpha_codium.data.store import SplitWriter, check_split_name, check_target, put_splits, temporary_folder
from alpha_codium.problem import TestType


def columns_of(assessment: Assessment) -> dict[str, Any]:
    """Return the columns that validation adds to a stored record; null stands for undecided.

    A checker's arguments and a finding's evidence are JSON text, since Arrow has one type a column.
    """
    checker = assessment.suggested_checker
    return {
        "is_valid_problem": assessment.is_valid_problem,
        "is_valid_test": {column: assessment.is_valid_test.get(column, []) for column in (*TestType, TEST_CODE)},
        "multiple_answers": assessment.multiple_answers,
        "suggested_checker": None
        if checker is None
        else {"name": checker.name, "arguments": json.dumps(checker.arguments, sort_keys=True)},
        "suggested_time_limit": assessment.timing.suggested_cpu_seconds,
        "suggested_memory_limit_bytes": assessment.timing.suggested_memory_bytes,
        "undetected_incorrect": assessment.undetected_incorrect,
        "validation_findings": [
            finding.to_json() | {"evidence": json.dumps(finding.evidence, ensure_ascii=False)}
            for finding in assessment.findings
        ],
    }


def check_output(output_name: str, split_name: str) -> None:
    """Raise DatasetError if the dataset can't be written; for use before anything is run."""
    check_target(output_path(output_name))
    check_split_name(split_name)


def write_validated(
    problems: ProblemSet, assessments: Iterable[Assessment], output_name: str, what: Mapping[str, Any]
) -> Path:
    """Store the problems with the columns of their assessments as a split of `output_name`; return its path.

    `what` describes how they were validated; it is kept in `etl.json`. Raises DatasetError if it can't be written.
    """
    check_output(output_name, problems.split_name)
    target, split, name = output_path(output_name), problems.split_name, problems.dataset_name
    info: dict[str, Any] = {
        "origin": {"text": name, "kind": "validation", "location": name, "revision": None},
        "source_split": split,
        "validation": dict(what),
        "records_in": len(problems),
    }
    with temporary_folder(target) as built:
        with SplitWriter(built / split, features(problems.dates, validated=True)) as writer:
            for record, assessment in zip(problems.stored_records(), assessments, strict=True):
                writer.add(record | columns_of(assessment))
            info |= writer.finish()
        put_splits(built, {split: info}, target)
    return target
