"""Evaluation of a dataset's candidates: verdicts, and pass@k from them.

`Metric` and `calculate_metrics` score candidates as the `evaluate` interface passes them; `prepare_for_evaluation`
makes what they take from a Solutions dataset and its problems. They are imported on first use.
"""

from typing import TYPE_CHECKING, Any

__all__ = ["Metric", "calculate_metrics", "prepare_for_evaluation"]

if TYPE_CHECKING:
    from alpha_codium.eval.metric import Metric, calculate_metrics
    from alpha_codium.eval.prepare import prepare_for_evaluation
else:

    def __getattr__(name: str) -> Any:
        """Import a public name."""
        from importlib import import_module

        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module("alpha_codium.eval.metric"), name)
