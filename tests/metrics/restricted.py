"""What the tests of `restrictedpython_code_eval` share: many candidates judged in one call."""

from collections.abc import Mapping, Sequence
from typing import Any

from alpha_codium.metrics.restrictedpython_code_eval import compute

Case = tuple[str, str]


def results_of(cases: Sequence[Case] | Mapping[str, Case], **options: Any) -> list[dict[str, Any]]:
    """The result of each (candidate, reference)."""
    pairs = list(cases.values()) if isinstance(cases, Mapping) else list(cases)
    _, results = compute([[c] for c, _ in pairs], [r for _, r in pairs], k=[1], num_workers=2, **options)
    return [results[task][0][1] for task in range(len(pairs))]


def texts_of(cases: Sequence[Case] | Mapping[str, Case], **options: Any) -> list[str]:
    """The text of each result."""
    return [result["result"] for result in results_of(cases, **options)]


def text_of(candidate: str, reference: str, **options: Any) -> str:
    """The text of one result."""
    return texts_of([(candidate, reference)], **options)[0]
