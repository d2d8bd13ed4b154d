"""Three problems in HumanEval's schema, one with a helper that its test uses, and programs for them."""

import json
from pathlib import Path

from alpha_codium.data.load import ProblemSet, load_problems
from tests.data.records import write_jsonl

ADD = 'from typing import List\n\n\ndef add(xs: List[int]) -> int:\n    """Add up."""\n'
ENCODE = 'def encode(s: str):\n    return s[::-1]\n\n\ndef decode(s: str):\n    """Undo encode."""\n'
TWICE = 'def twice(n):\n    """Two times n."""\n'
RECORDS = [
    {"task_id": "HumanEval/0", "prompt": ADD, "entry_point": "add", "canonical_solution": "    return sum(xs)\n",
     "test": "def check(candidate):\n    assert candidate([1, 2]) == 3\n    assert candidate([]) == 0\n"},
    {"task_id": "HumanEval/1", "prompt": ENCODE, "entry_point": "decode", "canonical_solution": "    return s[::-1]\n",
     "test": "def check(candidate):\n    for s in ('ab', 'xyz'):\n        assert candidate(encode(s)) == s\n"},
    {"task_id": "HumanEval/2", "prompt": TWICE, "entry_point": "twice", "canonical_solution": "    return 2 * n\n",
     "test": "def check(candidate):\n    assert candidate(4) == 8\n"},
]  # fmt: skip


def humaneval_file(folder: Path) -> Path:
    return write_jsonl(folder / "humaneval.jsonl", RECORDS)


def humaneval(folder: Path) -> ProblemSet:
    return load_problems(humaneval_file(folder))


def write_json(path: Path, value: object) -> Path:
    path.write_text(json.dumps(value), "utf-8")
    return path


def mbpp_record(task: int) -> dict:
    return {
        "text": "Write a function to double.", "code": f"def f{task}(n):\n    return 2 * n\n", "task_id": task,
        "test_setup_code": "", "test_list": [f"assert f{task}(1) == 2", f"assert f{task}(3) == 6"],
        "challenge_test_list": [],
    }  # fmt: skip
