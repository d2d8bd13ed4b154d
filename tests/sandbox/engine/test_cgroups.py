"""Workers' control groups: real ones, where this machine lets us make them."""

import fcntl
import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from alpha_codium.sandbox.engine import cgroups
from alpha_codium.sandbox.engine.cgroups import WorkerGroup, make_group, open_worker_group, remove_stale
from alpha_codium.sandbox.engine.hierarchies import Part, own_hierarchies, tasks

MIB = 2**20
BUSY = "import time\nend = time.process_time() + 0.2\nwhile time.process_time() < end: pass\n"
WAIT = "import sys; print(flush=True); sys.stdin.read()"
NAME = f"gencode-{os.getpid()}-0"


@pytest.fixture
def group():
    found = open_worker_group(NAME)
    if found is None or not found.complete:
        if found is not None:
            found.kill_and_remove()
        pytest.skip("this machine lets us make no control group that counts memory and CPU time")
    yield found
    assert found.kill_and_remove()


def start_in(group: WorkerGroup, program: str) -> "subprocess.Popen[str]":
    """An interpreter that runs a program once it is in the group."""
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", f"input()\n{program}"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    group.add(process.pid)
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()
    return process


def finish(process: "subprocess.Popen[str]") -> int:
    process.communicate()
    return process.returncode


def test_cpu_time_of_all_processes_is_counted_ended_ones_too(group):
    before = group.cpu_seconds()
    program = f"import os, signal\nsignal.signal(signal.SIGCHLD, signal.SIG_IGN)\nos.fork()\n{BUSY}"
    process = start_in(group, program + "try: os.wait()\nexcept OSError: pass")
    assert finish(process) == 0
    assert 0.4 <= group.cpu_seconds() - before < 10


def test_the_memory_limit_holds_for_the_sum_of_processes(group):
    limit = group.memory_used() + 48 * MIB
    assert group.set_memory(limit)
    program = f"""
import os
ready, go = os.pipe()
children = []
for _ in range(4):
    child = os.fork()
    if not child:
        hoard = bytearray(24 * {MIB})
        os.close(go)
        os.read(ready, 1)
        os._exit(0)
    children.append(child)
for child in children[:]:
    pid, status = os.wait()
    if os.WIFSIGNALED(status):
        os._exit(77)
"""
    assert group.oom_kills() == 0
    process = start_in(group, program)
    assert finish(process) in (77, -signal.SIGKILL)
    assert group.oom_kills() >= 1


def test_one_process_below_the_limit_lives(group):
    assert group.set_memory(256 * MIB)
    assert finish(start_in(group, f"hoard = bytearray(50 * {MIB})")) == 0
    assert group.oom_kills() == 0


def test_a_limit_below_what_is_used_is_refused_and_kills_nobody(group):
    assert group.set_memory(512 * MIB)
    process = start_in(group, f"hoard = bytearray(64 * {MIB})\n{WAIT}")
    assert process.stdout is not None
    process.stdout.readline()
    assert not group.set_memory(16 * MIB)
    assert group.set_memory(1024 * MIB)
    assert group.set_memory(128 * MIB)
    assert finish(process) == 0
    assert group.oom_kills() == 0


def test_a_group_is_out_of_memory_before_the_kernel_kills_a_process(group):
    assert not group.is_out_of_memory()
    assert group.set_memory(128 * MIB)
    process = start_in(group, f"hoard = bytearray(64 * {MIB})\n{WAIT}")
    assert process.stdout is not None
    process.stdout.readline()
    assert not group.is_out_of_memory()
    assert group.set_memory(group.memory_used() + 8 * MIB)
    assert group.is_out_of_memory()
    assert finish(process) == 0
    assert group.oom_kills() == 0
    assert not group.is_out_of_memory()


def test_a_group_that_is_removed_is_not_out_of_memory():
    group = open_worker_group(f"gencode-{os.getpid()}-9")
    if group is None:
        pytest.skip("this machine lets us make no control group")
    assert group.kill_and_remove()
    assert not group.is_out_of_memory()


def test_a_limit_that_stands_is_not_written_again(group):
    assert group.set_memory(300 * MIB)
    memory = group.parts["memory"]
    file = memory.folder / ("memory.max" if memory.version == 2 else "memory.limit_in_bytes")
    file.write_text(str(200 * MIB))
    assert group.set_memory(300 * MIB)
    assert int(file.read_text()) == 200 * MIB


def test_the_number_of_processes_is_limited(group):
    if not group.set_processes(3):
        pytest.skip("this machine doesn't count processes")
    program = """
import os
for _ in range(10):
    try: child = os.fork()
    except BlockingIOError: os._exit(7)
    if not child:
        import time; time.sleep(60)
"""
    process = start_in(group, program)
    assert finish_without_output(process) == 7


def finish_without_output(process: "subprocess.Popen[str]") -> int:
    """Its children hold its pipes open."""
    code = process.wait()
    for stream in (process.stdin, process.stdout):
        assert stream is not None
        stream.close()
    return code


def test_removing_a_group_ends_everything_in_it_and_leaves_nothing():
    group = open_worker_group(NAME)
    if group is None:
        pytest.skip("this machine lets us make no control group")
    process = start_in(group, f"import os\nfor _ in range(5): os.fork()\n{WAIT}")
    assert process.stdout is not None
    for _ in range(2**5):  # a line of each process: one that still forks would end with an error instead
        process.stdout.readline()
    folders = group.folders
    assert folders
    assert group.kill_and_remove()
    assert finish_without_output(process) == -signal.SIGKILL
    assert not [folder for folder in folders if folder.exists()]


def test_adding_a_process_that_is_gone_says_so(group):
    process = subprocess.Popen(["true"])
    process.wait()
    with pytest.raises(ProcessLookupError):
        group.add(process.pid)


def test_a_name_that_is_taken_gets_a_number(group):
    other = open_worker_group(NAME)
    assert other is not None
    assert {folder.name for folder in other.folders} == {f"{NAME}-2"}
    assert other.kill_and_remove()
    assert group.cpu_seconds() >= 0


def abandoned_group(then: str, *handed: int) -> tuple[str, list[Path]]:
    """The folders of a group whose owner was killed with -9; `then` runs in the owner before."""
    program = f"""
import os, signal, subprocess, sys
from alpha_codium.sandbox.engine.cgroups import open_worker_group
group = open_worker_group("gencode-%d-5" % os.getpid())
print(*(group.folders if group else ()), flush=True)
{then}
os.kill(os.getpid(), signal.SIGKILL)
"""
    command = [sys.executable, "-c", program]
    owner = subprocess.run(command, capture_output=True, text=True, check=False, pass_fds=handed)
    assert owner.returncode == -signal.SIGKILL, owner.stderr
    first, _, rest = owner.stdout.partition("\n")
    return rest.strip(), [Path(folder) for folder in first.split()]


def test_stale_groups_are_removed_and_living_ones_kept(group):
    _, stale = abandoned_group("")
    assert stale
    assert all(folder.exists() for folder in stale)
    remove_stale()
    assert not [folder for folder in stale if folder.exists()]
    assert all(folder.exists() for folder in group.folders)


def test_a_stale_group_with_a_process_in_it_is_kept_until_that_ends(group):
    receiver, sender = os.pipe()
    pipes = f"stdin={receiver}, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL"
    start = f"child = subprocess.Popen([sys.executable, '-c', {WAIT!r}], {pipes})"
    then = f"{start}; group.add(child.pid); child.stdout.readline(); print(child.pid, flush=True)"
    pid, stale = abandoned_group(then, receiver)
    child = os.pidfd_open(int(pid))
    remove_stale()
    assert stale
    assert all(int(pid) in tasks(folder) for folder in stale)
    os.close(sender)
    os.close(receiver)
    assert select.select([child], [], [], 60)[0]
    os.close(child)
    remove_stale()
    # Who adopted the process may not have reaped it yet; a dead one holds no group.
    assert not [folder for folder in stale if folder.exists()]


@pytest.fixture
def unified():
    """A group of version 2 below ours, whatever it can count."""
    for hierarchy in own_hierarchies():
        if hierarchy.version == 2 and os.access(hierarchy.folder, os.W_OK):
            group = make_group({"cpuacct": Part(2, hierarchy.folder)}, NAME)
            break
    else:
        pytest.skip("no writable hierarchy of version 2 here")
    assert group is not None
    yield group
    assert group.kill_and_remove()


def test_version_2_counts_cpu_time(unified):
    assert not unified.complete
    assert finish(start_in(unified, BUSY)) == 0
    assert 0.2 <= unified.cpu_seconds() < 10


def test_version_2_ends_its_processes(unified):
    process = start_in(unified, WAIT)
    assert unified.kill_and_remove()
    assert finish(process) == -signal.SIGKILL


def test_the_lock_goes_to_one_only(group):
    folder = group.folders[0]
    assert cgroups.lock_of(folder) is None
    descriptor = os.open(folder, os.O_RDONLY)
    with pytest.raises(BlockingIOError):
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(descriptor)
