"""A metric of Hugging Face `evaluate` that takes `references` and `predictions`, as code_eval does."""

import os

os.environ["HF_ALLOW_CODE_EVAL"] = "1"

import evaluate

metric = evaluate.load(os.environ["GENCODE_AUDIT_TARGET"])


def grade_assertions(program, tests, function):
    """Whether its pass@1 is 1."""
    scores, _ = metric.compute(references=["\n\n".join(tests)], predictions=[[program]], k=[1])
    return scores["pass@1"] == 1
