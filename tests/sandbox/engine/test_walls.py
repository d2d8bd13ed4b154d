"""What the weaker jail is made of: folders that are cleared, rules of Landlock, users whose tasks are counted."""

import os
import struct
import tempfile
from pathlib import Path

import pytest

from alpha_codium.sandbox.engine import scratch
from alpha_codium.sandbox.engine.inside import trees
from alpha_codium.sandbox.engine.inside.kernel import READ, READ_DIR, READ_FILE
from alpha_codium.sandbox.engine.inside.walls import readable, tasks_of_user
from alpha_codium.sandbox.engine.inside.wire import OWN_PROCESS
from alpha_codium.sandbox.engine.scratch import FIRST_USER, USERS, make_scratch
from alpha_codium.sandbox.engine.seccomp import build_filter
from alpha_codium.sandbox.engine.syscalls import MACHINES


def test_folders_are_removed_however_deep_unreadable_or_linked(tmp_path: Path) -> None:
    host, box = tmp_path / "host", tmp_path / "box"
    (host / "kept").mkdir(parents=True)
    (box / "inner").mkdir(parents=True)
    (box / "link").symlink_to(host)
    (box / "inner" / "up").symlink_to("..")
    (box / "inner" / "shut").mkdir(mode=0)
    here = os.open(box, os.O_RDONLY)
    for _ in range(200):
        os.mkdir("d" * 200, 0o300, dir_fd=here)
        inner = os.open("d" * 200, os.O_PATH, dir_fd=here)
        os.close(here)
        here = inner
    os.close(here)
    trees.empty(str(box))
    assert list(box.iterdir()) == []
    assert (host / "kept").is_dir() and host.stat().st_mode & 0o777 != 0o700


def test_a_folder_of_a_dead_host_is_removed_and_that_of_a_living_one_or_of_another_user_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    living, dead = make_scratch(0), make_scratch(0)
    (Path(dead.path) / "box").mkdir()
    os.close(dead.lock)
    user = os.geteuid()
    with monkeypatch.context() as another:
        another.setattr(os, "geteuid", lambda: user + 1)
        scratch.remove_stale()
    assert Path(dead.path).exists()
    scratch.remove_stale()
    assert [path.name for path in tmp_path.iterdir()] == [Path(living.path).name]
    living.remove()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("machine", MACHINES)
def test_the_number_that_stands_for_the_own_process_is_found_in_constants_only(machine: str) -> None:
    program = build_filter(machine, processes=False, walled=True)
    constants = [constant for _, _, _, constant in struct.iter_unpack("<HBBI", program)]
    assert program.count(struct.pack("=I", OWN_PROCESS)) == constants.count(OWN_PROCESS) > 0
    assert struct.pack("=I", OWN_PROCESS) not in build_filter(machine, processes=True, narrowing=True)


def test_what_is_hidden_among_the_modules_has_no_rule(tmp_path: Path) -> None:
    for name in ("math", "packages/ours/tests", "packages/theirs"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "packages" / "module.py").touch()
    (tmp_path / "packages" / "link").symlink_to("/etc")
    rules = dict(readable(str(tmp_path), [str(tmp_path / "packages" / "ours")]))
    assert {path.removeprefix(str(tmp_path)): access for path, access in rules.items()} == {
        "": READ_DIR,
        "/math": READ,
        "/packages": READ_DIR,
        "/packages/theirs": READ,
        "/packages/module.py": READ_FILE,
    }


def test_tasks_of_a_user_are_counted_as_the_kernel_counts_them() -> None:
    """Root isn't limited, so another user's are: one process that counts, and the one that it forks."""
    if os.geteuid() != 0:
        pytest.skip("only root can take a user id that has no other process")
    pid = os.fork()
    if pid == 0:
        try:
            os.setresuid(*[FIRST_USER + USERS] * 3)
            os._exit(tasks_of_user())
        finally:
            os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 2
