"""Samples in the form of LiveCodeBench, which several graders have taken over."""

import json

SECONDS = 6


def stdin_sample(inputs, outputs):
    """A sample whose tests are inputs and outputs."""
    return {"input_output": json.dumps({"inputs": inputs, "outputs": outputs, "fn_name": None})}


def call_sample(function, arguments, results):
    """A sample whose tests are calls: an argument a line, in JSON."""
    inputs = ["\n".join(map(json.dumps, each)) for each in arguments]
    return {
        "input_output": json.dumps({"inputs": inputs, "outputs": list(map(json.dumps, results)), "fn_name": function})
    }
