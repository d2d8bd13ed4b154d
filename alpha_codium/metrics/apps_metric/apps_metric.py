"""The module that `evaluate.load` of this folder loads; it copies this file elsewhere, so all imports are absolute."""

from typing import Any

import datasets
import evaluate

from alpha_codium.metrics import apps_metric

DESCRIPTION = (
    "Accuracy over tests, accuracy over problems and pass@k on APPS (Hendrycks et al. 2021, arXiv:2105.09938)."
)


class AppsMetric(evaluate.Metric):
    """`alpha_codium.metrics.apps_metric.compute` as a metric of `evaluate`; it takes the same arguments."""

    def _info(self) -> evaluate.MetricInfo:
        features = datasets.Features({"predictions": datasets.Sequence(datasets.Value("string"))})
        return evaluate.MetricInfo(
            description=DESCRIPTION,
            citation="arXiv:2105.09938",
            inputs_description=apps_metric.__doc__ or "",
            features=features,
        )

    def _compute(self, *, predictions: Any = None, references: Any = None, **kwargs: Any) -> dict[str, Any]:
        return apps_metric.compute(predictions, **kwargs)
