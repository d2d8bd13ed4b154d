"""verl's prime_code: `pip install verl`."""

import json

from verl.utils.reward_score.prime_code import compute_score


def grade(program, inputs, outputs):
    """Whether its score is true."""
    return compute_score(program, {"inputs": inputs, "outputs": outputs})[0] is True


def grade_call(program, function, arguments, results):
    """Whether its score is true; an argument a line, in JSON."""
    inputs = ["\n".join(map(json.dumps, each)) for each in arguments]
    tests = {"inputs": inputs, "outputs": list(map(json.dumps, results)), "fn_name": function}
    return compute_score(program, tests)[0] is True
