"""Helpers for all metrics: the class for `evaluate`, checks of arguments."""

from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

from loguru import logger

from alpha_codium.errors import UserError
from alpha_codium.limits import NEAR_SHARE
from alpha_codium.sandbox import Sandbox, sandbox_of
from alpha_codium.wording import counted

DEFAULT_KS = (1, 10, 100)


def metric_class(name: str, metric: ModuleType, features: Mapping[str, Any], citation: str) -> type:
    """Return the class with which `evaluate.load` loads a metric, one of our packages with a function `compute`.

    `features` has "text" for a text, and a list of one item for a list of such items. The configuration's name, if one
    is given, is the argument `tester_type` of `compute`.
    """
    import datasets
    import evaluate

    def feature(of: Any) -> Any:
        if isinstance(of, Mapping):
            return {key: feature(value) for key, value in of.items()}
        return datasets.Sequence(feature(of[0])) if isinstance(of, list) else datasets.Value("string")

    class EvaluateMetric(evaluate.Metric):
        def _info(self) -> evaluate.MetricInfo:
            return evaluate.MetricInfo(
                description=metric.__doc__ or "",
                citation=citation,
                inputs_description=metric.compute.__doc__ or "",
                features=datasets.Features({key: feature(value) for key, value in features.items()}),
            )

        def _compute(self, **arguments: Any) -> Any:
            # `evaluate` calls a configuration that wasn't named `default`.
            if self.config_name not in (None, "default"):
                arguments["tester_type"] = self.config_name
            return metric.compute(**arguments)

    return type(name, (EvaluateMetric,), {"__doc__": metric.__doc__})


def backend_of(tester_type: str | None, workers: int, **options: Any) -> Sandbox:
    """Return the sandbox called `tester_type`, by default the one of the settings, with the settings of that one.

    `options` are settings of `code_tester`. Raises UserError if there is no such sandbox.
    """
    from alpha_codium.config import load_settings

    settings = load_settings()
    changed = {**options, "workers": workers, **({"tester_type": tester_type} if tester_type else {})}
    return sandbox_of(settings.changed("code_tester", **changed))


def warn_near_limit(programs: int) -> None:
    """Log a warning if verdicts on some programs may depend on the machine's load."""
    if programs:
        verdicts = counted(programs, "verdict")
        logger.warning(f"{verdicts} within {NEAR_SHARE:.0%} of a limit, which the load may change: see near_limit")


def check_options(timeout: float, num_workers: int) -> None:
    """Raise UserError if one of these arguments of a metric is invalid."""
    if not isinstance(timeout, int | float) or not 0 < timeout < float("inf"):
        raise UserError(f"timeout must be a number of seconds above 0, not {timeout!r}")
    if not isinstance(num_workers, int) or num_workers < 0:
        raise UserError(f"num_workers must be 0 (one per core) or more, not {num_workers!r}")


def check_programs(predictions: Sequence[Any]) -> None:
    """Raise UserError unless each of `predictions` is a list of programs."""
    for place, programs in enumerate(predictions):
        if not is_texts(programs):
            raise UserError(f"predictions[{place}] must be a list of programs, each a string")


def is_texts(value: Any) -> bool:
    """Whether a value is a list of texts; a text itself would be taken for a list of its characters."""
    return not isinstance(value, str) and isinstance(value, Sequence) and all(isinstance(each, str) for each in value)
