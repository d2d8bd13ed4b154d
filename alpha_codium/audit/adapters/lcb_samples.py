"""Samples in the form of LiveCodeBench, which several graders have taken over."""

import json

SECONDS = 6


def functions(codegen_metrics, full=1):
    """Return `grade` and `grade_call` by a grader's `codegen_metrics`, whose pass@1 of a right program is `full`."""

    def passes(program, inputs, outputs, function=None):
        sample = {"input_output": json.dumps({"inputs": inputs, "outputs": outputs, "fn_name": function})}
        return codegen_metrics([sample], [[program]], [1], 1, SECONDS)[0]["pass@1"] == full

    def grade_call(program, function, arguments, results):
        # An argument a line.
        inputs = ["\n".join(map(json.dumps, each)) for each in arguments]
        return passes(program, inputs, list(map(json.dumps, results)), function)

    return passes, grade_call
