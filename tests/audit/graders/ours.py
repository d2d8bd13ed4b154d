"""Our metrics and rewards as graders: `GENCODE_AUDIT_TARGET` says which of them."""

import json
import os
import tempfile
from pathlib import Path

TARGET = os.environ["GENCODE_AUDIT_TARGET"]

if TARGET == "code_contests":
    from alpha_codium.metrics.code_contests import compute

    def grade(program: str, inputs: list[str], outputs: list[str]) -> bool:
        candidates = [{"task_name": "case", "solution_candidates": [program]}]
        return compute(candidates, [{"tests_inputs": inputs, "tests_outputs": outputs}], k=[1])[0]["pass@1"] == 1


if TARGET == "apps":
    from alpha_codium.metrics import apps_metric

    def of_apps(program: str, **tests: object) -> bool:
        row = {
            "problem_id": 0,
            "question": "",
            "solutions": "",
            "difficulty": "interview",
            "url": "",
            "starter_code": "",
        }
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "test.jsonl")
            path.write_text(json.dumps(row | {"input_output": json.dumps(tests)}) + "\n")
            scores = apps_metric.compute([[program]], dataset=str(path), split="test", progress=False)
        return scores["strict_accuracy"] == 1

    def grade(program: str, inputs: list[str], outputs: list[str]) -> bool:
        return of_apps(program, inputs=inputs, outputs=outputs)

    def grade_call(program: str, function: str, arguments: list[list], results: list) -> bool:
        return of_apps(program, fn_name=function, inputs=arguments, outputs=results)


if TARGET == "reward":
    from alpha_codium.rewards import CodeReward

    # What only the program's own process can decide is paid for, too, as the judge does.
    REWARD = CodeReward(in_process=True)

    def rewarded(program: str, tests: object) -> bool:
        (scored,) = REWARD.score([program], [tests])
        return scored.reward == 1

    def grade(program: str, inputs: list[str], outputs: list[str]) -> bool:
        return rewarded(program, {"inputs": inputs, "outputs": outputs})

    def grade_assertions(program: str, tests: list[str], function: str) -> bool:
        return rewarded(program, tests)

    def grade_call(program: str, function: str, arguments: list[list], results: list) -> bool:
        return rewarded(program, {"fn_name": function, "inputs": arguments, "outputs": results})
