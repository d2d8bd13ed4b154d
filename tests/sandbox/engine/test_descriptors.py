"""Where the host has no room for more descriptors, nothing goes unseen."""

import contextlib
import os
import resource
from collections.abc import Iterator

import pytest

from alpha_codium.sandbox import open_sandbox
from alpha_codium.sandbox.engine.descriptors import DescriptorChannel
from alpha_codium.verdict import Status

LEAVES_A_FILE = "import os\nprint(os.path.exists('left'))\nopen('left', 'w').close()"


@contextlib.contextmanager
def few_descriptors(free: int) -> Iterator[None]:
    """Room for so many descriptors more, and no other."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    highest = max(map(int, os.listdir("/proc/self/fd")))  # noqa: PTH208
    taken = []
    resource.setrlimit(resource.RLIMIT_NOFILE, (highest + free + 2, hard))
    try:
        with contextlib.suppress(OSError):
            while True:
                taken.append(os.open("/dev/null", os.O_RDONLY))
        for fd in taken[len(taken) - free :]:
            os.close(fd)
            taken.remove(fd)
        yield
    finally:
        for fd in taken:
            os.close(fd)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.thorough
@pytest.mark.parametrize("free", [0, 1, 2])
async def test_a_file_left_by_a_test_is_never_seen_by_another_where_descriptors_run_out(
    monkeypatch: pytest.MonkeyPatch, free: int
) -> None:
    real, short = DescriptorChannel._await_ready, [True]

    def starved(channel: DescriptorChannel) -> bytes:
        with few_descriptors(free) if short[0] else contextlib.nullcontext():
            return real(channel)

    async with open_sandbox("local", workers=1) as sandbox:
        monkeypatch.setattr(DescriptorChannel, "_await_ready", starved)
        first = await sandbox.run(LEAVES_A_FILE, ["", "", ""])
        short[0] = False
        second = await sandbox.run(LEAVES_A_FILE, ["", ""])
    seen = [execution.stdout for execution in (*first.executions, *second.executions)]
    assert "True\n" not in seen
    assert [execution.status for execution in first.executions[1:]] == [Status.INTERNAL_ERROR] * 2
    assert "Too many open files" in first.executions[1].stderr
    assert [execution.stdout for execution in second.executions] == ["False\n"] * 2


async def test_a_sandbox_that_was_not_opened_says_so() -> None:
    with pytest.raises(RuntimeError, match="must be opened first"):
        await open_sandbox("local", workers=1).run("print(1)", [""])
