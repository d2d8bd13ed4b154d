"""Where control groups can be made: read from texts of /proc, and from folders laid out like version 2's."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alpha_codium.sandbox.engine.hierarchies import Hierarchy, below, hierarchies, passed_on

SPLIT = r"""
23 28 0:21 / /sys rw,relatime - sysfs sysfs rw
31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
33 31 0:30 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct
35 31 0:32 / /sys/fs/cgroup/mem\040ory rw,relatime - cgroup cgroup rw,memory
39 31 0:36 /outer /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids
40 31 0:37 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,name=systemd
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
""".strip()
SPLIT_GROUPS = "5:name=systemd:/\n4:memory:/a/b\n3:cpu,cpuacct:/\n2:pids:/outer/inner\n0::/\n"


def test_split_hierarchies_are_found_with_our_own_group_in_each():
    assert hierarchies(SPLIT, SPLIT_GROUPS) == [
        Hierarchy(1, frozenset({"cpu", "cpuacct"}), Path("/sys/fs/cgroup/cpu,cpuacct")),
        Hierarchy(1, frozenset({"memory"}), Path("/sys/fs/cgroup/mem ory/a/b")),
        Hierarchy(1, frozenset({"pids"}), Path("/sys/fs/cgroup/pids/inner")),
        Hierarchy(2, frozenset(), Path("/sys/fs/cgroup/unified")),
    ]


def test_the_one_hierarchy_of_version_2_is_found():
    mounts = "29 22 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate,memory_recursiveprot"
    assert hierarchies(mounts, "0::/user.slice/run-1.scope\n") == [
        Hierarchy(2, frozenset(), Path("/sys/fs/cgroup/user.slice/run-1.scope"))
    ]


def test_a_group_outside_of_what_is_mounted_is_not_found():
    mounts = "29 22 0:26 /docker/x /sys/fs/cgroup rw - cgroup2 cgroup rw"
    assert hierarchies(mounts, "0::/elsewhere\n") == []
    assert hierarchies(mounts.replace("/docker/x", "/"), "0::/../../host\n") == []
    assert hierarchies(mounts, "4:memory:/\n") == []
    assert hierarchies("", "") == []


names = st.lists(st.from_regex(r"[a-z0-9._-]+", fullmatch=True).filter(lambda name: set(name) != {"."}), max_size=4)


@given(names, names)
def test_a_group_lies_below_the_root_that_is_mounted(outer, inner):
    path = "/" + "/".join([*outer, *inner])
    assert below(path, "/" + "/".join(outer), "/m") == Path("/m", *inner)


def fake_group(folder: Path, available: str, enabled: str, procs: str = "") -> Path:
    for name, text in (("controllers", available), ("subtree_control", enabled), ("procs", procs), ("events", "")):
        (folder / f"cgroup.{name}").write_text(text)
    return folder


def test_version_2_can_use_what_is_passed_on_already(tmp_path):
    folder = fake_group(tmp_path, "cpu io memory pids\n", "memory pids\n")
    assert passed_on(folder) == {"memory", "pids", "cpuacct"}


def test_version_2_is_asked_to_pass_on_what_it_can(tmp_path):
    folder = fake_group(tmp_path, "cpu memory\n", "\n")
    assert passed_on(folder) == {"memory", "cpuacct"}
    assert (folder / "cgroup.subtree_control").read_text() == "+memory"


def test_processes_of_others_are_not_moved_out_of_our_group(tmp_path):
    if not os.getppid():
        pytest.skip("there is no other process in this pid namespace")
    folder = fake_group(tmp_path, "memory pids\n", "pids\n", procs=f"{os.getppid()}\n{os.getpid()}\n")
    assert passed_on(folder) == {"pids", "cpuacct"}
    assert not list(folder.glob("gencode-*"))
