"""lighteval: `pip install lighteval`."""

from lcb_samples import SECONDS, call_sample, stdin_sample
from lighteval.tasks.tasks.lcb.codegen_metrics import codegen_metrics


def passes(sample, program):
    """Whether its pass@1 is 1."""
    return codegen_metrics([sample], [[program]], [1], 1, SECONDS)[0]["pass@1"] == 1


def grade(program, inputs, outputs):
    """Grade a program by what it prints."""
    return passes(stdin_sample(inputs, outputs), program)


def grade_call(program, function, arguments, results):
    """Grade a program by what its function returns."""
    return passes(call_sample(function, arguments, results), program)
