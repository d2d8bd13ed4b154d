"""verifiers' scoring of a trace, with our reward in a method with `@vf.reward` and named in the task's configuration.

Run by `test_foreign` with a python that has verifiers; prints the rewards of each trace as JSON.
"""

import asyncio
import json

import verifiers.v1 as vf
from page import example

TESTS = [["1", "2"], ["21", "42"]]
ANSWERS = ["```python\nprint(2 * int(input()))\n```", "```python\nprint(2)\n```"]


NAMES = {}
exec(example("verifiers", "py"), NAMES)


async def rewards(answer, tests):
    """What the trace of an answer gets from both, and the errors that verifiers raises."""
    plugged = vf.TaskConfig(rewards={"plugged": {"fn": "alpha_codium.rewards.verifiers:code_reward"}})
    task = NAMES["CodeTask"](NAMES["CodeData"](prompt="Double it.", tests=tests), plugged)
    trace = vf.Trace(
        task=vf.TraceTask(type="CodeTask", hash=task.hash, key=task.key, data=task.data),
        agent=vf.AgentInfo(config=vf.AgentConfig()),
        root_reply=answer,
    )
    error = ""
    try:
        await task.score(trace)
    except vf.TaskError as raised:
        error = str(raised)
    return {name: found.score if found else None for name, found in trace.rewards.items()} | {"error": error}


async def main():
    cases = [(answer, TESTS) for answer in ANSWERS] + [(ANSWERS[0], [])]
    print(json.dumps(await asyncio.gather(*(rewards(*case) for case in cases))))


if __name__ == "__main__":
    asyncio.run(main())
