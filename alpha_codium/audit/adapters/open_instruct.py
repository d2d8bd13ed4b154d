"""open-instruct, of a clone in PYTHONPATH; with `pip install numpy requests pydantic fastapi`."""

from open_instruct.code_utils.code_utils import get_successful_tests_fast, get_successful_tests_stdio

SECONDS = 6.0


def grade(program, inputs, outputs):
    """Whether every test is successful, as a reward of 1 has it."""
    tests = [{"input": i, "output": o} for i, o in zip(inputs, outputs)]
    results, _ = get_successful_tests_stdio(program, tests, SECONDS)
    return bool(results) and all(results)


def grade_assertions(program, tests, function):
    """Whether every test is successful, as a reward of 1 has it."""
    results, _ = get_successful_tests_fast(program, tests, SECONDS)
    return bool(results) and all(results)
