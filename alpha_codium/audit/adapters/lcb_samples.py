"""Samples in the form of LiveCodeBench, which several graders have taken over."""

import json

SECONDS = 6


def functions(passes):
    """Return `grade` and `grade_call` of a grader by its `passes(sample, program)`."""

    def grade(program, inputs, outputs):
        return passes(sample(inputs, outputs, None), program)

    def grade_call(program, function, arguments, results):
        inputs = ["\n".join(map(json.dumps, each)) for each in arguments]
        return passes(sample(inputs, list(map(json.dumps, results)), function), program)

    return grade, grade_call


def sample(inputs, outputs, function):
    """Return a sample; the input of a call has an argument a line, in JSON."""
    return {"input_output": json.dumps({"inputs": inputs, "outputs": outputs, "fn_name": function})}
