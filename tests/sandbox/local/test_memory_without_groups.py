"""Where no control group counts the memory, as for an ordinary user without systemd, limits of the kernel hold."""

import time
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

import alpha_codium as ac
from alpha_codium.language_table import LANGUAGES
from alpha_codium.limits import COMPILER_LIMITS, Limits
from alpha_codium.sandbox import Sandbox
from alpha_codium.sandbox.conformance.test_languages import BUILT, executed, source_in
from alpha_codium.sandbox.engine import building, channel
from alpha_codium.verdict import Status
from tests.sandbox.local.test_compile_bombs import TEMPLATES

# Each program is compiled.
pytestmark = pytest.mark.slow
LIMITS = Limits(cpu_seconds=4, memory_bytes=256 << 20)
OUTSIDE_OF_THE_HEAP = {
    "csharp": """
        using System.Runtime.InteropServices;
        class P { static void Main() { for (;;) { var all = Marshal.AllocHGlobal(1 << 24);
            for (int i = 0; i < 1 << 24; i += 4096) Marshal.WriteByte(all, i, 1); } } }
    """,
    "java": """
        class Main {
            public static void main(String[] arguments) throws Exception {
                var field = sun.misc.Unsafe.class.getDeclaredField("theUnsafe");
                field.setAccessible(true);
                var unsafe = (sun.misc.Unsafe) field.get(null);
                for (int i = 0; i < 64; i++) unsafe.setMemory(unsafe.allocateMemory(16 << 20), 16 << 20, (byte) 1);
                System.out.println("ended");
            }
        }
    """,
    "javascript": "const all = []; while (true) all.push(Buffer.alloc(1 << 24, 1));",
}
THREADS_AND_HALF_OF_THE_MEMORY = {
    "csharp": """
        using System; using System.Threading;
        class P { static void Main() {
            for (int i = 0; i < 16; i++) new Thread(() => Thread.Sleep(60000)) { IsBackground = true }.Start();
            var half = new byte[128 << 20]; for (int i = 0; i < half.Length; i += 4096) half[i] = 1;
            Console.WriteLine(half[4096]); } }
    """,
    "java": """
        class Main {
            public static void main(String[] arguments) throws Exception {
                for (int i = 0; i < 16; i++) {
                    Thread thread = new Thread(java.util.concurrent.locks.LockSupport::park);
                    thread.setDaemon(true);
                    thread.start();
                }
                byte[] half = new byte[128 << 20];
                java.util.Arrays.fill(half, (byte) 1);
                System.out.println(half[4096]);
            }
        }
    """,
    "javascript": """
        const { Worker } = require("worker_threads");
        for (let i = 0; i < 4; i++) new Worker("setInterval(() => {}, 1000)", { eval: true }).unref();
        console.log(Buffer.alloc(128 << 20, 1)[4096]);
        process.exit();
    """,
}


@pytest.fixture
async def uncounted(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Sandbox]:
    """A sandbox on a machine that gives no control group."""
    monkeypatch.setattr(channel, "open_worker_group", lambda _name: None)
    async with ac.open_sandbox("local", workers=1, preload=()) as sandbox:
        yield sandbox


@pytest.mark.parametrize("language", BUILT)
async def test_a_program_that_collects_memory_exceeds_the_memory_limit(uncounted: Sandbox, language: str) -> None:
    # Not a program of an earlier test, which would be compiled already.
    comment = "#" if LANGUAGES[language].suffix in (".py", ".rb") else "//"
    source = f"{source_in(language)}\n{comment} {time.time_ns()}\n"
    _, test = await executed(uncounted, language, source, "hoard", limits=LIMITS)
    assert test.status is Status.MEMORY_LIMIT_EXCEEDED, test


async def test_a_compiler_has_a_memory_limit_too(uncounted: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building, "COMPILER_LIMITS", replace(COMPILER_LIMITS, memory_bytes=256 << 20))
    (compilation,) = await executed(uncounted, "cpp", f"{TEMPLATES}// {time.time_ns()}", "")
    assert compilation.status is Status.COMPILATION_ERROR
    assert "virtual memory exhausted" in compilation.stderr


@pytest.mark.parametrize("language", OUTSIDE_OF_THE_HEAP)
async def test_memory_outside_of_the_heap_of_a_runtime_counts(uncounted: Sandbox, language: str) -> None:
    _, test = await executed(uncounted, language, OUTSIDE_OF_THE_HEAP[language], "", limits=LIMITS)
    assert test.status is Status.MEMORY_LIMIT_EXCEEDED, test
    assert test.max_rss_bytes < 2 << 30


@pytest.mark.parametrize("language", THREADS_AND_HALF_OF_THE_MEMORY)
async def test_threads_and_half_of_the_memory_are_within_the_limit(uncounted: Sandbox, language: str) -> None:
    _, test = await executed(uncounted, language, THREADS_AND_HALF_OF_THE_MEMORY[language], "", limits=LIMITS)
    assert (test.status, test.stdout) == (Status.FINISHED, "1\n"), test
