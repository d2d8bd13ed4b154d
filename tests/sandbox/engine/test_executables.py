"""Executables in memory: kept for programs that run again, and of no use for messages between tests."""

import gc
import os
import shutil
from pathlib import Path

import pytest

from alpha_codium.program import Job, Program
from alpha_codium.sandbox import open_sandbox
from alpha_codium.sandbox.engine import executables
from alpha_codium.sandbox.engine.executables import Executables
from alpha_codium.sandbox.protocol import report_of
from tests.sandbox.backends import BACKENDS

# Prints the time of its own executable's last change, and tries to change that.
LEAVES_A_TIME = """
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
int main(void) {
    struct stat before;
    stat("/proc/self/exe", &before);
    printf("%ld\\n", before.st_mtim.tv_sec * 1000000000L + before.st_mtim.tv_nsec);
    utimensat(AT_FDCWD, "/proc/self/exe", NULL, 0);
    chmod("/proc/self/exe", 0777);
}
"""


def stored(folder: Path, number: int, size: int = 10) -> Path:
    path = folder / str(number)
    path.write_bytes(bytes([number]) * size)
    return path


def test_an_executable_that_is_used_again_is_not_read_again(tmp_path: Path) -> None:
    kept, path = Executables(), stored(tmp_path, 1)
    first = kept.of(path)
    assert bytes(first) == path.read_bytes()
    assert kept.of(path) is first
    with pytest.raises(PermissionError):
        os.pwrite(first.fd, b"x", 0)


def test_those_that_were_not_used_for_the_longest_time_and_large_ones_are_closed(tmp_path: Path) -> None:
    kept = Executables()
    first, second = (kept.of(stored(tmp_path, number)).fd for number in range(2))
    large = kept.of(stored(tmp_path, 99, executables.LARGEST_KEPT + 1)).fd
    gc.collect()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(large)
    for number in range(2, executables.MOST_KEPT + 1):
        kept.of(tmp_path / "0")
        kept.of(stored(tmp_path, number))
    assert kept.of(tmp_path / "0").fd == first
    assert bytes(kept.of(tmp_path / "1")) == b"\1" * 10
    kept.close()
    gc.collect()
    for fd in {first, second}:
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(fd)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc: apt-get install gcc libc6-dev")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root's jails have another user than the owner of the executable")
async def test_a_test_leaves_no_message_for_the_next_in_the_times_of_its_executable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GENCODE_HOME", str(tmp_path))
    BACKENDS["local"].prepare()
    async with open_sandbox("local", workers=1) as sandbox:
        report = await report_of(sandbox, Job(Program.from_source("c", LEAVES_A_TIME), ("", "", "")))
    outputs = [execution.stdout for execution in report.executions]
    assert len(outputs) == 3
    assert outputs[0].strip().isdigit()
    assert len(set(outputs)) == 1
