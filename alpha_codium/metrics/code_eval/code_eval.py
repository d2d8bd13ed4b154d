"""The metric as a module of `evaluate`: `evaluate.load` of the folder that this file stands in."""

from typing import Any

import datasets
import evaluate

from alpha_codium.metrics import code_eval as ours

INPUTS = """
Args:
    predictions: one list of candidate programs for each reference
    references: one text of code for each list, which tests its programs
    k: the numbers of samples that pass@k is computed for
    num_workers: how many programs run at a time
    timeout: CPU seconds that a program may take
Returns:
    pass_at_k: the score of each k, by `pass@k`
    results: what came of each candidate, by task
"""


class CodeEval(evaluate.Metric):
    """pass@k of programs by the code that tests them."""

    def _info(self) -> evaluate.MetricInfo:
        programs = {"predictions": datasets.Sequence(datasets.Value("string")), "references": datasets.Value("string")}
        return evaluate.MetricInfo(
            description=ours.__doc__ or "",
            citation="Chen et al. 2021, Evaluating Large Language Models Trained on Code, arXiv:2107.03374",
            inputs_description=INPUTS,
            features=datasets.Features(programs),
            license="Apache-2.0",
        )

    def _compute(self, *, predictions: Any = None, references: Any = None, **kwargs: Any) -> Any:
        return ours.compute(predictions, references, **kwargs)
