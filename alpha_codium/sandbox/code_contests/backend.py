"""DeepMind's C++ sandbox as a backend: child processes in its own environment, each running one program at a time.

1. `code-contests-tester` works only in CPython 3.9. So it has its own environment (`environment`), and a child process
   there (`child_process` here, `inside` there) holds the sandbox. Programs run on any interpreter.
2. A program waits for a child, and is run there in batches of inputs (`batches`). Its results become executions in
   `results`; its own comparison of outputs isn't used.
3. On opening, a first program checks that the sandbox works on this machine, and that its limits are those we set.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Self

from alpha_codium.errors import SandboxError
from alpha_codium.limits import Limits
from alpha_codium.program import PYTHON, Job, PairJob, Program
from alpha_codium.sandbox.code_contests import environment
from alpha_codium.sandbox.code_contests.batches import Batches, batch_limit
from alpha_codium.sandbox.code_contests.child_process import ChildConfig, ChildProcess
from alpha_codium.sandbox.code_contests.libraries import library_folders
from alpha_codium.sandbox.engine.cancellation import finish
from alpha_codium.sandbox.engine.cgroups import remove_stale
from alpha_codium.sandbox.engine.interpreter import (
    environment_of,
    packages_of,
    path_of,
    require_interpreter,
    version_of,
)
from alpha_codium.sandbox.protocol import (
    Isolation,
    Layer,
    PairUnsupported,
    Sandbox,
    consumed,
    job_of,
    refuse_turns,
    require_language,
    require_one_file,
    worker_count,
)
from alpha_codium.values import surrogate_in
from alpha_codium.verdict import Execution, Identity, PairReport, Report, Status

TRIAL_LIMITS = Limits(cpu_seconds=3, memory_bytes=300 << 20)
TRIAL = b"import resource\nfor name in ('CPU', 'AS'): print(resource.getrlimit(getattr(resource, 'RLIMIT_' + name))[0])"
CPU_TIME = "CPU times, and limits of them to the millisecond; without it limits are whole seconds and times unknown"
CGROUP = "run as root, or under systemd-run --user --scope -p Delegate=yes"
REMEDY = (
    "run as root; in a container with --security-opt seccomp=unconfined --cap-add=SYS_ADMIN "
    "(docs/code_contests.md), or use `ac.open_sandbox('local')`"
)


class CodeContestsSandbox(Sandbox):
    """Runs programs in DeepMind's sandbox; see the module. `environment` is the folder that it is installed in.

    Every program is isolated from the machine, whatever the value of `isolation`.
    """

    has_files = False

    def __init__(
        self,
        workers: int = 0,
        isolation: Isolation = True,
        interpreter: str = "",
        environment: str | Path = "",
    ) -> None:
        self.workers = worker_count(workers)
        self.isolation: Isolation = isolation
        self.interpreter = path_of(interpreter)
        self.environment = Path(environment) if environment else None
        self.children: list[ChildProcess] = []
        self._idle: asyncio.LifoQueue[ChildProcess] = asyncio.LifoQueue()

    async def __aenter__(self) -> Self:
        """Run a first program, to check that the sandbox works on this machine."""
        require_interpreter(self.interpreter)
        await asyncio.to_thread(remove_stale)
        python = environment.require(self.environment or environment.default_folder())
        config = ChildConfig(
            python=str(python),
            interpreter=self.interpreter,
            libraries=await asyncio.to_thread(library_folders, self.interpreter),
            environment=environment_of(Path("/tmp")),  # noqa: S108 - the only folder that exists in the sandbox
        )
        self.children = [ChildProcess(config) for _ in range(self.workers)]
        self._idle = asyncio.LifoQueue()
        try:
            await self._try_out(self.children[0])
        except BaseException:
            await self.__aexit__(None, None, None)
            raise
        for worker in reversed(self.children):
            self._idle.put_nowait(worker)
        return await super().__aenter__()

    async def __aexit__(self, *exc: object) -> None:
        """End all that runs, and the children."""
        await super().__aexit__(*exc)
        for worker in self.children:
            worker.closing = True
        await finish(asyncio.gather(*(worker.discard() for worker in self.children)))

    async def identity(self) -> Identity:
        """See `Sandbox.identity`."""
        interpreter = await asyncio.to_thread(version_of, self.interpreter)
        packages = await asyncio.to_thread(packages_of, self.interpreter)
        used = tuple(layer.name for layer in self.layers if layer.used)
        return Identity("code_contests", environment.WHEEL, interpreter, isolation=used, packages=packages)

    def tool_version(self, language: str) -> str:
        """See `Sandbox.tool_version`."""
        if language != PYTHON:
            raise SandboxError(f"the C++ sandbox runs {PYTHON}, not {language}: use `ac.open_sandbox('local')`")
        return ""

    def execute(self, job: Job) -> AsyncGenerator[Execution, None]:
        """See `Sandbox.execute`."""
        return self._executions(job, 1, 1)

    async def consume(self, job: Job, on_execution: Callable[[Execution], bool]) -> Execution:
        """See `Sandbox.consume`; inputs run in growing batches, so a few more may have run when it ends."""
        return await consumed(self._executions(job, 1, batch_limit(job.limits)), on_execution)

    async def run(
        self, program: str | Program, inputs: Sequence[str], *, limits: Limits | None = None, driver: str = ""
    ) -> Report:
        """See `Sandbox.run`; batches are as large as memory allows."""
        job = job_of(program, inputs, limits, driver)
        most = batch_limit(job.limits)
        compilation, *executions = [each async for each in self._executions(job, most, most)]
        return Report(compilation, tuple(executions))

    async def execute_pair(self, job: PairJob) -> PairReport:
        """Raise PairUnsupported: programs have no channel."""
        raise PairUnsupported(
            "the C++ sandbox can't run two programs with a channel between them: use `ac.open_sandbox('local')`"
        )

    @property
    def layers(self) -> list[Layer]:
        """The parts of the sandbox."""
        return [
            Layer(
                "sandbox2", True, "no network, no other process or program, no file but those of the interpreter", ""
            ),
            Layer("cgroup", self.children[0].counts_cpu, CPU_TIME, CGROUP),
        ]

    async def _executions(self, job: Job, size: int, most: int) -> AsyncGenerator[Execution, None]:
        """Yield the executions of a job; batches have `size` inputs, then twice as many each time, up to `most`."""
        require_language(job.program, PYTHON)
        require_one_file(job)
        refuse_turns(job)
        if reason := surrogate_in(job.program.source):
            yield Execution(Status.COMPILATION_ERROR, stderr=f"the program is {reason}")
            return
        inputs = [text.encode("utf-8", "replace") for text in job.inputs]
        async with self._worker() as worker:
            batches = Batches(worker, job.program.source.encode("utf-8", "replace"), job.driver, job.limits)
            compilation = await batches.compile() if job.driver or not inputs else None
            if compilation is not None:
                yield compilation
                if compilation.status is not Status.FINISHED:
                    return
            done = 0
            while done < len(inputs):
                compiled, tests = await batches.execute(inputs[done : done + size])
                if compilation is None or compiled.status is not Status.FINISHED:
                    compilation = compiled
                    yield compilation
                for execution in tests:
                    yield execution
                    if job.stop_after_failure and not execution.finished:
                        return
                if not tests:
                    return
                done, size = done + len(tests), min(2 * size, most)

    @asynccontextmanager
    async def _worker(self) -> AsyncIterator[ChildProcess]:
        worker = await self._idle.get()
        try:
            yield worker
        finally:
            self._idle.put_nowait(worker)

    async def _try_out(self, worker: ChildProcess) -> None:
        """Run a program that prints its limits; raises SandboxError if it fails or the limits are wrong."""
        compilation, executions = await Batches(worker, TRIAL, "", TRIAL_LIMITS).execute([b""])
        (end,) = executions or [compilation]
        if end.status is not Status.FINISHED:
            raise SandboxError(f"the C++ sandbox doesn't work here ({reason_of(end)}): {REMEDY}")
        expected = [str(int(TRIAL_LIMITS.cpu_seconds)), str(TRIAL_LIMITS.memory_bytes)]
        if end.stdout.split() != expected:
            raise SandboxError(
                f"the C++ sandbox sets other limits than those asked for ({end.stdout.split()}): {REMEDY}"
            )


def reason_of(end: Execution) -> str:
    """Return the last line of stderr, or how the program ended."""
    lines = end.stderr.strip().splitlines()
    return lines[-1].removeprefix("sandbox: ") if lines else f"{end.status}, exit status {end.exit_code}"
