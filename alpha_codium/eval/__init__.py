"""Evaluation of a dataset's candidates: verdicts, and pass@k from them."""

from importlib import import_module
from typing import Any

_HOMES = {
    "EvaluationSet": "alpha_codium.eval.prepare",
    "parse_test_types": "alpha_codium.eval.prepare",
    "prepare_for_evaluation": "alpha_codium.eval.prepare",
    "human_solutions": "alpha_codium.eval.prepare",
    "run_evaluation": "alpha_codium.eval.running",
    "Score": "alpha_codium.eval.scoring",
    "score": "alpha_codium.eval.scoring",
    "labels_of": "alpha_codium.eval.scoring",
    "Metric": "alpha_codium.eval.metric",
    "calculate_metrics": "alpha_codium.eval.metric",
}
__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    """Import a public name from its module on first use."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
