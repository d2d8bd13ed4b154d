"""The module that `evaluate.load` of this folder loads; it copies this file elsewhere, so all imports are absolute."""

from alpha_codium.metrics import code_contests
from alpha_codium.metrics.shared import metric_class

CITATION = "Li et al. 2022, Competition-Level Code Generation with AlphaCode, arXiv:2203.07814"
FEATURES = {
    "predictions": {"task_name": "text", "solution_candidates": ["text"]},
    "references": {"tests_inputs": ["text"], "tests_outputs": ["text"]},
}
CodeContestsMetric = metric_class("CodeContestsMetric", code_contests, FEATURES, CITATION)
