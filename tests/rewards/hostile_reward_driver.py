"""Rewards hostile programs as answers of a model; started in namespaces by `test_hostile_answers`.

Reads `[[answer, tests], ...]` as JSON, and prints what each answer gets under each scheme.
"""

import json
import sys

import alpha_codium as ac
from alpha_codium.rewards import CodeReward

RULES = {"cpu_seconds": 0.5, "memory_bytes": 2**28}

if __name__ == "__main__":
    answers, tests = zip(*json.load(sys.stdin), strict=True)
    with ac.open_sandbox(workers=4) as sandbox:
        rewards = {
            scheme: [each.reward for each in CodeReward(scheme, sandbox=sandbox, rules=RULES).score(answers, tests)]
            for scheme in sys.argv[1:]
        }
    print(json.dumps(rewards))
