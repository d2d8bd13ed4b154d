"""`code_eval.compute` in a process of its own, for what had better not run beside the tests.

To be run inside `unshare`, with JSON of the arguments on stdin; prints the texts of the results, a list a task.
"""

import json
import sys

from alpha_codium.metrics.code_eval import compute

if __name__ == "__main__":
    _, results = compute(**json.load(sys.stdin))
    print(json.dumps([[result["result"] for _, result in row] for row in results.values()]))
