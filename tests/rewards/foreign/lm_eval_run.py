"""An evaluation by lm-eval of a task with our filter and metric, with a local model of its own interface.

Run by `test_foreign` with a python that has lm-eval; prints the results as JSON.
"""

import json
import tempfile
from pathlib import Path

from lm_eval import simple_evaluate
from lm_eval.api.model import LM
from lm_eval.tasks import TaskManager
from page import example

ROWS = [
    {"question": "Double the number.", "tests": [["1", "2"], ["21", "42"]]},
    {"question": "Add one.", "tests": [["1", "2"], ["21", "22"]]},
    {"question": "No tests.", "tests": []},
]
TASK = """\
task: doubling
dataset_path: json
dataset_kwargs: {data_files: {test: FOLDER/rows.jsonl}}
test_split: test
doc_to_text: "{{question}}"
doc_to_target: ""
generation_kwargs: {until: [], do_sample: false}
"""
UTILS = """\
from alpha_codium.rewards import lm_eval_filter, lm_eval_metric

rewards = lm_eval_filter(scheme="share")
reward = lm_eval_metric
"""


class Doubling(LM):
    """A model that doubles, whatever it is asked."""

    def generate_until(self, requests, disable_tqdm=False):
        return ["```python\nprint(2 * int(input()))\n```" for _ in requests]

    def loglikelihood(self, requests, disable_tqdm=False):
        raise NotImplementedError

    loglikelihood_rolling = loglikelihood


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "rows.jsonl").write_text("\n".join(map(json.dumps, ROWS)))
        Path(folder, "doubling.yaml").write_text(TASK.replace("FOLDER", folder) + example("lm-eval", "yaml"))
        Path(folder, "utils.py").write_text(UTILS)
        manager = TaskManager(include_path=folder, include_defaults=False)
        found = simple_evaluate(Doubling(), tasks=["doubling"], task_manager=manager, bootstrap_iters=0)
    samples = sorted(found["samples"]["doubling"], key=lambda sample: sample["doc_id"])
    # Without bootstrapping, there may be a standard error of 'N/A'.
    means = {key: value for key, value in found["results"]["doubling"].items() if "stderr" not in key}
    results = {key: value for key, value in means.items() if key.endswith(",code")}
    print(json.dumps({"results": results, "rewards": [sample["filtered_resps"] for sample in samples]}, default=float))
