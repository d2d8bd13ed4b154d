"""The metric as a module of `evaluate`: `evaluate.load` of the folder that this file stands in."""

from typing import Any

import datasets
import evaluate

from alpha_codium.metrics import restrictedpython_code_eval as ours

INPUTS = """
Args:
    predictions: one list of candidate programs for each reference
    references: one text of code for each list, which tests its programs
    k: the numbers of samples that pass@k is computed for
    num_workers: how many programs run at a time
    timeout: CPU seconds that a program may take
    use_safe_builtins, use_limited_builtins, use_utility_builtins: which of RestrictedPython's builtins candidates have
    additional_globals: values that candidates have besides, guards among them
    additional_locals: variables that candidates begin with
    allowed_imports: names of modules that candidates may import
    allow_str_format: whether candidates may use str.format
    allow_underscore_variable_names: whether candidates may use names that begin with an underscore
    return_output: whether each result has the value of the output variable
    output_variable: the name of that variable
    policy: a subclass of RestrictedPython.RestrictingNodeTransformer
Returns:
    pass_at_k: the score of each k, by `pass@k`
    results: what came of each candidate, by task
"""


class RestrictedPythonCodeEval(evaluate.Metric):
    """pass@k of programs in a subset of Python, by the code that tests them."""

    def _info(self) -> evaluate.MetricInfo:
        programs = {"predictions": datasets.Sequence(datasets.Value("string")), "references": datasets.Value("string")}
        return evaluate.MetricInfo(
            description=ours.__doc__ or "",
            citation="Chen et al. 2021, Evaluating Large Language Models Trained on Code, arXiv:2107.03374",
            inputs_description=INPUTS,
            features=datasets.Features(programs),
            reference_urls=["https://arxiv.org/abs/2107.03374", "https://restrictedpython.readthedocs.io"],
        )

    def _compute(self, *, predictions: Any = None, references: Any = None, **kwargs: Any) -> Any:
        return ours.compute(predictions, references, **kwargs)
