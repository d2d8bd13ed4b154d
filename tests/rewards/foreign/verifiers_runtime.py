"""The example's runtime for verifiers: programs that it runs, and a task that is scored with it.

Run by `test_foreign` with a python that has verifiers; prints what it did as JSON.
"""

import asyncio
import json

import verifiers.v1 as vf

from examples.trainers.verifiers_runtime import GencodeConfig, GencodeRuntime

CONNECT = "import socket\ntry: socket.socket()\nexcept OSError as error: print(type(error).__name__)"


class PrintsData(vf.TaskData):
    expected: str


class PrintsTask(vf.Task[PrintsData]):
    @vf.reward
    async def prints(self, trace: vf.Trace, runtime: vf.Runtime) -> float:
        await runtime.write("answer.py", trace.last_reply.encode())
        return float((await runtime.run(["python3", "answer.py"], {})).stdout == self.data.expected)


async def reward(answer, runtime):
    task = PrintsTask(PrintsData(prompt="Print 3.", expected="3\n"), vf.TaskConfig())
    trace = vf.Trace(
        task=vf.TraceTask(type="PrintsTask", hash=task.hash, key=task.key, data=task.data),
        agent=vf.AgentInfo(config=vf.AgentConfig()),
        root_reply=answer,
    )
    await task.score(trace, runtime)
    return trace.rewards["prints"].score


async def main():
    runtime = GencodeRuntime(GencodeConfig(cpu_seconds=1))
    await runtime.start()
    await runtime.write("program.py", b"print(42)")
    commands = [
        ["python3", "program.py"],
        ["python", "-c", "import sys; sys.exit(3)"],
        ["bash", "-c", "python3 -c 'print(7)'"],
        ["ls"],
        ["python", "-c", "while True: pass"],
    ]
    ran = [await runtime.run(command, {}) for command in commands]
    try:
        missing = await runtime.read("other.py")
    except Exception as error:
        missing = type(error).__name__
    found = {
        "ran": [[each.exit_code, each.stdout] for each in ran],
        "rewards": [await reward("print(1 + 2)", runtime), await reward("print(4)", runtime)],
        "alive": await runtime.alive(),
        "missing": missing,
        "network": (await runtime.run(["python", "-c", CONNECT], {})).stdout,
    }
    await runtime.stop()
    print(json.dumps(found))


if __name__ == "__main__":
    asyncio.run(main())
