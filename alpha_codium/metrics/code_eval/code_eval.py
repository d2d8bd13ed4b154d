"""The module that `evaluate.load` of this folder loads; it copies this file elsewhere, so all imports are absolute."""

from alpha_codium.metrics import code_eval
from alpha_codium.metrics.shared import metric_class

CITATION = "Chen et al. 2021, Evaluating Large Language Models Trained on Code, arXiv:2107.03374"
FEATURES = {"predictions": ["text"], "references": "text"}
CodeEval = metric_class("CodeEval", code_eval, FEATURES, CITATION)
