"""Runs programs on a machine that gives no namespaces. Started by `test_degraded`, never by hand.

The world, what is looked over in the end and how hostile programs are run are those of `hostile_driver`. Here the host
starts in a state that takes something from it:

- `user`: an ordinary user, and no more user namespaces are to be had (a sysctl of the one that it is in);
- `root`: root without the right to make namespaces, as in a container;
- `mounts`: an ordinary user who may make namespaces, but mount nothing in them, as on Ubuntu 24.04. What says so there
  is a security module, here a filter of system calls: the engine is told the same by both.
- `nothing`: as `user`, and without Landlock.
"""

import asyncio
import ctypes
import errno
import json
import os
import signal
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
import hostile_driver  # pyrefly: ignore[missing-import] - lies beside this script
from hostile_world import (  # pyrefly: ignore[missing-import] - the same
    CANARY,
    HOME,
    STAGE,
    census,
    prepare_world,
    reap_until,
    until_same,
)

NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
NO_RIGHTS = ("setpriv", "--bounding-set=-all", "--inh-caps=-all", "--ambient-caps=-all")
NO_MORE = f'echo 0 >/proc/sys/user/max_user_namespaces && exec {" ".join(NO_RIGHTS)} "$@"'
OWN_USERS = ("unshare", "--user", "--map-user=65534", "--map-group=65534", "--keep-caps")
WITHOUT = (sys.executable, "-s", str(STAGE / "degraded_driver.py"), "without")
STATES: dict[str, tuple[str, ...]] = {
    "user": (*NOBODY, *OWN_USERS, "sh", "-c", NO_MORE, "sh"),
    "root": ("setpriv", "--bounding-set=-sys_admin"),
    "mounts": (*WITHOUT, "mount", *NOBODY),
}
STATES["nothing"] = (*WITHOUT, "landlock_create_ruleset", *STATES["user"])
NUMBERS = {"mount": 40 if os.uname().machine == "aarch64" else 165, "landlock_create_ruleset": 444}
# Names its process and waits.
HOLD = "import ctypes, time\nctypes.CDLL(None).prctl(15, b'held', 0, 0, 0)\ntime.sleep(600)"


def init(state: str) -> None:
    """Be pid 1 of the world, see `hostile_driver`: run the host in that state, look at what is left."""
    assert os.getpid() == 1
    prepare_world(Path(sys.argv[2]))
    before = census()
    answers = [start_host(state, what) for what in ("tell-refusal", "host", "die", "see-what-is-left")]
    print(json.dumps({"hosts": answers, "left": until_same(before)}))


def start_host(state: str, what: str) -> dict[str, Any]:
    """What the host says, its status and which processes it left."""
    command = [*STATES[state], sys.executable, "-s", "-P", str(STAGE / "degraded_driver.py"), what]
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(STAGE / "code"), "PYTHONDONTWRITEBYTECODE": "1"}
    environment |= {"GENCODE_HOME": HOME}
    before = census()
    with os.fdopen(os.memfd_create("result"), "rb") as result:
        status = reap_until(subprocess.Popen(command, stdout=result, env=environment, cwd="/").pid)
        left = until_same(before | {"files": census()["files"]})
        result.seek(0)
        return {"status": status, "processes": left["processes"], "said": json.loads(result.read() or b"null")}


def without(number: int, command: list[str]) -> None:
    """Become that command, to which a system call is refused; needs root."""
    program = b"".join(
        struct.pack("<HBBI", *each)
        for each in (
            (0x20, 0, 0, 0),
            (0x15, 0, 1, number),
            (0x06, 0, 0, 0x50000 | errno.EPERM),
            (0x06, 0, 0, 0x7FFF0000),
        )
    )
    code = ctypes.create_string_buffer(program)
    header = ctypes.create_string_buffer(struct.pack("=H6xQ", 4, ctypes.addressof(code)))
    assert ctypes.CDLL(None, use_errno=True).prctl(22, 2, header) == 0, os.strerror(ctypes.get_errno())
    os.execvp(command[0], command)


# ---- the host


async def tell_refusal() -> dict[str, Any]:
    """What is said where the weaker jail is not enough, and what there is where it is."""
    from alpha_codium import sandbox as sandboxes
    from alpha_codium.errors import SandboxError

    open_any: Any = sandboxes.open_sandbox
    found: dict[str, Any] = {}
    for name, isolation in (("strict", "strict"), ("true", True)):
        try:
            async with open_any("local", workers=1, isolation=isolation) as sandbox:
                found[name] = {layer.name: layer.used for layer in sandbox.layers}
        except SandboxError as error:
            found[name] = str(error)
    return found


async def host(plan: dict[str, Any]) -> dict[str, Any]:
    """Harmless cases, programs that are compiled, then what `hostile_driver` does."""
    from alpha_codium.limits import Limits
    from alpha_codium.sandbox import open_sandbox
    from alpha_codium.sandbox.conformance import hostile

    # Nobody may look into the host's folders.
    hostile.HONEST = hostile.HONEST.replace('(".", "/tmp", "/dev/shm")', '(".",)')
    cases = {}
    opened: Any = open_sandbox("local", **plan["options"])
    async with opened as sandbox:
        assert "walls" in {layer.name for layer in sandbox.layers}
        for name, case in plan["cases"].items():
            report = await sandbox.run(case["program"], case["inputs"], limits=Limits(**case["limits"]))
            cases[name] = [hostile.plain(each) for each in report.executions or [report.compilation]]
        built = {name: await run_built(sandbox, *program) for name, program in plan["built"].items()}
        ends = {
            "cancelled": await called_off(sandbox),
            "zygote": await zygote_killed(sandbox),
            "compiler": await compiler_called_off(sandbox, *plan["bomb"]),
        }
    return await hostile_driver.host(plan) | {"cases": cases, "built": built, "ends": ends}


async def run_built(sandbox: Any, language: str, source: str, inputs: list[str]) -> list[dict[str, Any]] | str:
    """The executions of a program that is compiled, the compiler's first; why it can't be run."""
    from alpha_codium.errors import SandboxError
    from alpha_codium.program import Job, Program
    from alpha_codium.sandbox.conformance import hostile

    try:
        job = Job(Program.from_source(language, source), tuple(inputs))
        return [hostile.plain(execution) async for execution in sandbox.execute(job)]
    except SandboxError as error:
        return str(error)


async def compiler_called_off(sandbox: Any, language: str, source: str, process: str) -> list[str]:
    """What still runs of a compiler, a process of which has that name, when the run was called off."""
    running = asyncio.create_task(run_built(sandbox, language, source, [""]))
    before = await until_held(process)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    return await what_stays(before, process)


async def called_off(sandbox: Any) -> list[str]:
    """What still runs when a run that waited was called off."""
    running = asyncio.create_task(sandbox.run(HOLD, [""]))
    before = await until_held()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    return await what_stays(before)


async def zygote_killed(sandbox: Any) -> list[str]:
    """What still runs of a test when its zygote was killed; it is run again, so only what ran before counts."""
    running = asyncio.create_task(sandbox.run(HOLD, [""]))
    before = await until_held()
    for slot in sandbox._slots:
        for worker in slot.workers:
            if worker.running:
                worker._channel._process.kill()
    left = await what_stays(before)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    return left


async def die() -> None:
    """End by a signal that nobody can catch, with a test under way."""
    from alpha_codium.sandbox import open_sandbox

    async with open_sandbox("local", workers=2) as sandbox:
        running = asyncio.create_task(sandbox.run("open('left', 'w').close()\n" + HOLD, [""]))
        await until_held()
        os.kill(os.getpid(), signal.SIGKILL)
        await running


async def see_what_is_left() -> dict[str, Any]:
    """The folders of hosts that died, before and after another one was there."""
    from alpha_codium.sandbox import open_sandbox

    before = [path.name for path in CANARY.parents[1].glob("gencode-*-*")]
    async with open_sandbox("local", workers=1) as sandbox:
        report = await sandbox.run("print(1)", [""])
    after = [path.name for path in CANARY.parents[1].glob("gencode-*-*")]
    return {"before": before, "after": after, "stdout": report.executions[0].stdout}


async def what_stays(before: list[str], name: str = "held") -> list[str]:
    """Which of those processes still run; they are given a moment to go."""
    for _ in range(500):
        if not set(before) & set(held(name)):
            break
        await asyncio.sleep(0.01)
    return sorted(set(before) & set(held(name)))


async def until_held(name: str = "held") -> list[str]:
    """The processes of that name, once there are any."""
    while not held(name):
        await asyncio.sleep(0.01)
    return held(name)


def held(name: str = "held") -> list[str]:
    """The processes of that name; those of `HOLD` are called `held`."""
    return [str(number) for number, state, found in hostile_driver.processes() if found == name and state != "Z"]


if __name__ == "__main__":
    if sys.argv[1] == "world":
        init(sys.argv[3])
    elif sys.argv[1] == "without":
        without(NUMBERS[sys.argv[2]], sys.argv[3:])
    else:
        plan = json.loads((STAGE / "plan.json").read_text())
        work = {"tell-refusal": tell_refusal, "die": die, "see-what-is-left": see_what_is_left}
        print(json.dumps(asyncio.run(host(plan) if sys.argv[1] == "host" else work[sys.argv[1]]())))
