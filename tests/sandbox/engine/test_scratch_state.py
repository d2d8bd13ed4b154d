"""What a program can do to its folders, and that the host sees it."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from alpha_codium.sandbox.engine.scratch import ScratchState

CHANGES: dict[str, Callable[[Path], object]] = {
    "a file": lambda box: (box / "left").write_text("x"),
    "an empty file": lambda box: (box / "left").touch(),
    "a folder": lambda box: (box / "left").mkdir(),
    "a link": lambda box: (box / "left").symlink_to("x"),
    "a file that was removed again": lambda box: ((box / "left").touch(), (box / "left").unlink()),
    "another mode": lambda box: box.chmod(0o755),
    "another date": lambda box: os.utime(box, ns=(1, 0)),
    "a date set back": lambda box: ((box / "left").touch(), os.utime(box, ns=(0, 0))),
    "the program replaced": lambda box: ((box / "new").symlink_to("y"), (box / "new").replace(box / "program.py")),
    "the program gone": lambda box: (box / "program.py").unlink(),
    "the folder renamed": lambda box: box.rename(box.with_name("other")),
    "the folder gone": lambda box: ((box / "program.py").unlink(), box.rmdir()),
}


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[tuple[Path, ScratchState]]:
    box = tmp_path / "box"
    box.mkdir()
    (box / "program.py").symlink_to("../program.py")
    for folder in (tmp_path, box):
        os.utime(folder, ns=(0, 0))
    grips = [os.open(path, os.O_PATH | os.O_NOFOLLOW) for path in (tmp_path, box, box / "program.py")]
    watch = ScratchState(grips, own_file_system=False)
    yield box, watch
    watch.close()


@pytest.mark.parametrize("change", CHANGES)
def test_whatever_is_left_or_changed_is_seen(watched: tuple[Path, ScratchState], change: str) -> None:
    box, watch = watched
    assert not watch.touched
    CHANGES[change](box)
    assert watch.touched


def test_looking_is_no_change(watched: tuple[Path, ScratchState]) -> None:
    box, watch = watched
    assert box.stat().st_nlink
    assert (box / "program.py").is_symlink()
    assert not watch.touched


def test_closing_lets_go_of_all_descriptors_once(tmp_path: Path) -> None:
    before = set(Path("/proc/self/fd").iterdir())
    watch = ScratchState([os.open(tmp_path, os.O_PATH)], own_file_system=True)
    assert not watch.touched
    watch.close()
    watch.close()
    # Others may close some of theirs meanwhile.
    assert set(Path("/proc/self/fd").iterdir()) <= before
