"""The module that `evaluate.load` of this folder loads; it copies this file elsewhere, so all imports are absolute."""

from typing import Any

import datasets
import evaluate

from alpha_codium.metrics import code_contests

DESCRIPTION = "pass@k of programs by the inputs and outputs of tests, as CodeContests has them."
DEFAULT_TESTER = "local"


class CodeContestsMetric(evaluate.Metric):
    """`alpha_codium.metrics.code_contests.compute` as a metric of `evaluate`; the configuration is `tester_type`."""

    def _info(self) -> evaluate.MetricInfo:
        text, texts = datasets.Value("string"), datasets.Sequence(datasets.Value("string"))
        features = datasets.Features(
            {
                "predictions": {"task_name": text, "solution_candidates": texts},
                "references": {"tests_inputs": texts, "tests_outputs": texts},
            }
        )
        return evaluate.MetricInfo(
            description=DESCRIPTION,
            citation="arXiv:2203.07814",
            inputs_description=code_contests.__doc__ or "",
            features=features,
        )

    def _compute(self, *, predictions: Any = None, references: Any = None, **kwargs: Any) -> Any:
        # `default` is what `evaluate` calls a configuration that wasn't named.
        tester = self.config_name if self.config_name not in (None, "default") else DEFAULT_TESTER
        return code_contests.compute(predictions, references, tester, **kwargs)
