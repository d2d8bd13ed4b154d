"""An evaluation by inspect_ai with our scorer and our sandbox environment, of inspect_ai's own mock model.

Run by `test_foreign` with a python that has inspect_ai; prints the scores as JSON.
"""

import json
import sys
from importlib.metadata import entry_points

from inspect_ai import Task
from inspect_ai import eval as run_eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import Score, accuracy, scorer
from inspect_ai.solver import generate
from inspect_ai.util import sandbox
from page import example

from alpha_codium.rewards.inspect_ai import code_scorer

TESTS = [["1", "2"], ["21", "42"]]
ANSWERS = ["```python\nprint(2 * int(input()))\n```", "```python\nprint(2)\n```", "I give up.", "print(1)"]


def output(answer):
    """An answer with its usage: without it, the mock model asks the network for a tokenizer."""
    made = ModelOutput.from_content("mockllm/model", answer)
    made.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return made


@scorer(metrics=[accuracy()])
def by_exec():
    """What benchmarks do: run the answer with `exec`, and what a tool for Python does."""

    async def score(state, target):
        box = sandbox()
        await box.write_file("program.py", "print(2 * int(input()))")
        done = [
            await box.exec(["python3", "program.py"], input="21", timeout=5),
            await box.exec(["python", "-c", "import sys; sys.exit(3)"], timeout=5),
            await box.exec(["bash", "--login", "-c", "python3 -"], input="print(7)", timeout=5),
            await box.exec(["ls"]),
        ]
        try:
            await box.exec(["python3", "-c", "while True: pass"], timeout=1)
        except TimeoutError:
            done_late = True
        facts = [[each.returncode, each.stdout] for each in done]
        right = facts == [[0, "42\n"], [3, ""], [0, "7\n"], [127, ""]] and done_late
        return Score(value=float(right), explanation=str(facts))

    return score


def scores_of_the_example(folder):
    """The scores of the page's task, with the right answer."""
    names = {}
    exec(example("inspect_ai", "py"), names)
    model = get_model("mockllm/model", custom_outputs=[output(ANSWERS[0])])
    (log,) = run_eval(names["task"], model=model, display="none", log_dir=folder)
    return [sample.scores["code_scorer"].value for sample in log.samples]


if __name__ == "__main__":
    shown = {"example": scores_of_the_example(sys.argv[1])}
    shown["entry points"] = [each.name for each in entry_points(group="inspect_ai")]
    samples = [Sample(input="Double it.", metadata={"tests": TESTS}) for _ in range(3)]
    samples.append(Sample(input="Nothing to test.", target="[]"))
    model = get_model("mockllm/model", custom_outputs=[output(answer) for answer in ANSWERS])
    task = Task(dataset=samples, solver=generate(), scorer=[code_scorer(), by_exec()], sandbox="gencode")
    (log,) = run_eval(task, model=model, max_samples=1, display="none", log_dir=sys.argv[1])
    metrics = {
        score.name: [score.metrics[name].value for name in ("mean", "accuracy") if name in score.metrics]
        + [score.unscored_samples]
        for score in log.results.scores
    }
    values = [str(sample.scores["code_scorer"].value) for sample in log.samples]
    explained = [sample.scores["by_exec"].explanation for sample in log.samples]
    print(json.dumps({"status": log.status, "values": values, "metrics": metrics, "explained": explained[:1]} | shown))
