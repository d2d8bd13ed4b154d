"""verl's prime_code: `pip install verl`. It is called as verl itself does, with `continuous=True`."""

import json

from verl.utils.reward_score.prime_code import compute_score


def grade(program, inputs, outputs):
    """Whether its score is 1."""
    return compute_score(program, {"inputs": inputs, "outputs": outputs}, continuous=True)[0] == 1


def grade_call(program, function, arguments, results):
    """Whether its score is 1; an argument a line, in JSON."""
    inputs = ["\n".join(map(json.dumps, each)) for each in arguments]
    tests = {"inputs": inputs, "outputs": list(map(json.dumps, results)), "fn_name": function}
    return compute_score(program, tests, continuous=True)[0] == 1
