"""What `gencode data validate` adds to a stored record; an ETL of such a dataset keeps it."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from alpha_codium.data.folders import FolderSource
from alpha_codium.data.origin import Source
from alpha_codium.data.schema import features
from alpha_codium.data.store import read_info
from alpha_codium.problem import TestType

if TYPE_CHECKING:
    from datasets import Features

# The one test that assertions are, beside the columns of tests.
TEST_CODE = "test_code"
VALIDATION_COLUMNS = (
    *("is_valid_problem", "is_valid_test", "multiple_answers", "suggested_checker", "suggested_time_limit"),
    *("suggested_memory_limit_bytes", "undetected_incorrect", "validation_findings"),
)


def validation_of(source: Source, split: str) -> Mapping[str, Any] | None:
    """How a split of a stored dataset was validated, or None where it wasn't."""
    if not isinstance(source, FolderSource):
        return None
    return read_info(source.path).get("splits", {}).get(split, {}).get("validation")


def validated_features(date_columns: Iterable[str] = ()) -> "Features":
    """The types of a stored record's columns and of those that validation adds."""
    from datasets import Features, Sequence, Value

    text, yes = Value("string"), Value("bool")
    added = {
        "is_valid_problem": yes,
        "is_valid_test": dict.fromkeys((*map(str, TestType), TEST_CODE), Sequence(yes)),
        "multiple_answers": yes,
        "suggested_checker": {"name": text, "arguments": text},
        "suggested_time_limit": Value("float64"),
        "suggested_memory_limit_bytes": Value("int64"),
        "undetected_incorrect": Value("int64"),
        "validation_findings": [{"reason": text, "fault": yes, "text": text, "evidence": text}],
    }
    return Features({**features(date_columns), **added})
