"""The module that `evaluate.load` of this folder loads; it copies this file elsewhere, so all imports are absolute."""

from alpha_codium.metrics import apps_metric
from alpha_codium.metrics.shared import metric_class

CITATION = "Hendrycks et al. 2021, Measuring Coding Challenge Competence With APPS, arXiv:2105.09938"
AppsMetric = metric_class("AppsMetric", apps_metric, {"predictions": ["text"]}, CITATION)
