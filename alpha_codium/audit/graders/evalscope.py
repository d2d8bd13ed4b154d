"""EvalScope: `pip install evalscope`.

It starts a process with all of its imports for each program. A fork takes its place here, for time.
"""

import multiprocessing

from evalscope.benchmarks.live_code_bench import evaluate_utils
from lcb_samples import SECONDS, call_sample, stdin_sample

evaluate_utils.multiprocessing.get_context = lambda _method, given=multiprocessing.get_context: given("fork")


def passes(sample, program):
    """Whether its pass@1 is 100."""
    metrics, *_ = evaluate_utils.codegen_metrics([sample], [[program]], [1], 1, SECONDS)
    return metrics["pass@1"] == 100


def grade(program, inputs, outputs):
    """Grade a program by what it prints."""
    return passes(stdin_sample(inputs, outputs), program)


def grade_call(program, function, arguments, results):
    """Grade a program by what its function returns."""
    return passes(call_sample(function, arguments, results), program)
