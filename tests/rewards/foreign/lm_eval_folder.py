"""The folder of tasks for lm-eval, with local files in place of the hub's, and right answers to every second document.

Run by `test_foreign` with a python that has lm-eval: `lm_eval_folder.py FILES`, JSON of the files of three benchmarks.
There are no records of LiveCodeBench here, so those in its schema were written by hand. Prints the results as JSON.
"""

import json
import re
import shutil
import sys
import tempfile
from pathlib import Path

from lm_eval import simple_evaluate
from lm_eval.api.model import LM
from lm_eval.tasks import TaskManager

TASKS = Path(__file__).resolve().parents[3] / "examples" / "trainers" / "lm_eval"
LIMIT = 4
DOUBLE = {
    "question_title": "Double", "question_content": "Double the number.", "platform": "atcoder",
    "question_id": "double",
    "contest_id": "c", "contest_date": "2025-01-01T00:00:00", "starter_code": "", "difficulty": "easy",
    "metadata": "{}",
    "public_test_cases": json.dumps([{"input": "1", "output": "2", "testtype": "stdin"}]),
    "private_test_cases": json.dumps([{"input": "21", "output": "42", "testtype": "stdin"}]),
}  # fmt: skip
RIGHT = {
    "gencode_humaneval": lambda doc: doc["prompt"] + doc["canonical_solution"],
    "gencode_mbpp": lambda doc: doc["code"],
    "gencode_apps": lambda doc: json.loads(doc["solutions"])[0],
    "gencode_livecodebench": lambda doc: "print(2 * int(input()))",
}


class Half(LM):
    """A model that knows the solution of every second document."""

    def generate_until(self, requests, disable_tqdm=False):
        right = [RIGHT[each.task_name](each.doc) if each.doc_id % 2 else "print(" for each in requests]
        return [f"Here it is:\n```python\n{code}\n```" for code in right]

    def loglikelihood(self, requests, disable_tqdm=False):
        raise NotImplementedError

    loglikelihood_rolling = loglikelihood


def use_local(task, file):
    """Have a task read a file in place of the hub's dataset."""
    text = re.sub(r"^dataset_\w+: .*\n", "", task.read_text(), flags=re.MULTILINE)
    task.write_text(f"{text}dataset_path: json\ndataset_kwargs: {{data_files: {{test: {file}}}}}\n")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        copied = Path(shutil.copytree(TASKS, Path(folder, "tasks")))
        files = json.loads(sys.argv[1]) | {"livecodebench": f"{folder}/livecodebench.jsonl"}
        Path(files["livecodebench"]).write_text(f"{json.dumps(DOUBLE)}\n" * LIMIT)
        solved = [
            line for line in Path(files["apps"]).read_text().splitlines() if json.loads(line)["solutions"] != "[]"
        ]
        files["apps"] = f"{folder}/apps.jsonl"
        # Of the columns that the tasks use: files of different schemas can't be read as one.
        kept = ("problem_id", "question", "solutions", "input_output", "difficulty", "url", "starter_code")
        rows = [{name: json.loads(line)[name] for name in kept} for line in solved[:LIMIT]]
        Path(files["apps"]).write_text("".join(json.dumps(row) + "\n" for row in rows))
        for name, file in files.items():
            use_local(copied / f"{name}.yaml", file)
        manager = TaskManager(include_path=str(copied), include_defaults=False)
        found = simple_evaluate(Half(), tasks=[*RIGHT], task_manager=manager, bootstrap_iters=0, limit=LIMIT)
    results = {task: found["results"][task] for task in RIGHT}
    (metric,) = {key for each in results.values() for key in each if key.endswith(",code") and "stderr" not in key}
    print(json.dumps({task: each[metric] for task, each in results.items()}))
