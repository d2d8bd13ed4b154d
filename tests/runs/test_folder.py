import errno
import fcntl
import json
import os
import subprocess
import sys
import threading
import tomllib

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from alpha_codium.errors import UserError
from alpha_codium.runs import RunFolder
from alpha_codium.runs.folder import new_run_name, to_toml

HOLD = """
import sys
from pathlib import Path
from alpha_codium.runs import RunFolder
with RunFolder(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_run_folder_holds_its_description(tmp_path):
    asked = {"command": "c", "samples": 3, "none": None, "settings": {"config": {"models": ("a", "b"), "seed": None}}}
    RunFolder.create(tmp_path, "r", asked)
    described = RunFolder.reopen(tmp_path, "r").description()
    assert described == {"command": "c", "samples": 3, "settings": {"config": {"models": ["a", "b"]}}}


def test_a_taken_name_is_refused_with_both_remedies(tmp_path):
    RunFolder.create(tmp_path, "r", {})
    with pytest.raises(UserError, match=r"exists already.*`resume` r, or choose another name"):
        RunFolder.create(tmp_path, "r", {})


def test_an_unknown_run_is_an_error_with_the_nearest(tmp_path):
    RunFolder.create(tmp_path, "first_try", {})
    with pytest.raises(UserError, match="did you mean 'first_try'"):
        RunFolder.reopen(tmp_path, "first_tri")


@pytest.mark.parametrize("name", ["-x", "a\nb", "\udcff", "a/-x"])
def test_a_name_that_would_break_a_line_or_be_taken_for_an_option_is_refused(tmp_path, name):
    with pytest.raises(UserError, match="isn't a valid name for a run"):
        RunFolder.create(tmp_path, name, {})


def test_two_processes_with_one_new_name_dont_both_go_on(tmp_path):
    with RunFolder.create(tmp_path, "r", {"command": "c"}) as first:
        with pytest.raises(UserError, match="in use by another process"):
            RunFolder.create(tmp_path, "r", {"command": "d"})
    with pytest.raises(UserError, match="exists already"):
        RunFolder.create(tmp_path, "r", {"command": "d"})
    assert first.description() == {"command": "c"}


def test_a_run_that_is_discarded_leaves_what_was_in_its_folder(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("kept")
    for name, left in (("mine", {"notes.txt"}), ("new", set())):
        with RunFolder.create(tmp_path, name, {"command": "c"}) as folder:
            folder.write_json("transcripts/p/0.json", {})
            folder.discard()
        assert {path.name for path in (tmp_path / name).glob("*")} == left
    assert not (tmp_path / "new").exists()


def test_a_look_at_the_lock_keeps_nobody_from_taking_it(tmp_path):
    with (tmp_path / ".lock").open("ab") as look:
        fcntl.flock(look, fcntl.LOCK_SH)
        threading.Timer(0.05, look.close).start()
        with RunFolder(tmp_path):
            pass


def test_what_is_not_unicode_is_refused_before_the_run_begins(tmp_path):
    with pytest.raises(UserError, match=r"'s\\udcff.jsonl' isn't valid Unicode, so the run can't be recorded"):
        RunFolder.create(tmp_path, "r", {"file": "s\udcff.jsonl"})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["", ".", "..", "a\0b"])
def test_an_invalid_name_is_refused(tmp_path, name):
    with pytest.raises(UserError, match="isn't a valid name for a run"):
        RunFolder.create(tmp_path, name, {})
    with pytest.raises(UserError, match="isn't a valid name for a run"):
        RunFolder.reopen(tmp_path, name)


def test_a_path_is_a_run_folder_anywhere(tmp_path):
    folder = RunFolder.create(tmp_path / "runs", f"{tmp_path}/elsewhere/mine", {"command": "c"})
    assert folder.path == tmp_path / "elsewhere" / "mine"
    assert RunFolder.reopen(tmp_path / "runs", f"{tmp_path}/elsewhere/mine").description() == {"command": "c"}


def test_a_folder_that_cannot_be_created_is_a_user_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match=r"cannot create the run folder .*: Not a directory"):
        RunFolder.create(tmp_path / "file", "r", {})


def test_a_folder_is_used_by_one_process_at_a_time(tmp_path):
    with RunFolder.create(tmp_path, "r", {}) as folder:
        pass
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, folder.path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(UserError, match="run 'r' is in use by another process"), folder:
            pass
        holder.kill()
        holder.wait()
        with folder:
            pass


def test_a_second_opening_in_the_same_process_is_refused_too(tmp_path):
    RunFolder.create(tmp_path, "r", {})
    with RunFolder.reopen(tmp_path, "r"):
        with pytest.raises(UserError, match="in use"), RunFolder.reopen(tmp_path, "r"):
            pass


def test_an_invalid_description_is_an_error(tmp_path):
    folder = RunFolder.create(tmp_path, "r", {})
    (folder.path / "run.toml").write_text("= broken")
    with pytest.raises(UserError, match=r"run\.toml can't be read"):
        folder.description()


@pytest.mark.parametrize(
    ("described", "said"),
    [
        ({}, "lacks command"),
        ({"command": "solve_set"}, "lacks dataset_name, fingerprint, samples"),
        ({"command": "c", "settings": 3}, "isn't a valid run description"),
    ],
)
def test_a_changed_description_is_an_error(tmp_path, described, said):
    folder = RunFolder.create(tmp_path, "r", described)
    with pytest.raises(UserError, match=rf"run\.toml was changed.*{said}"):
        folder.description()


def test_a_run_without_its_description_is_neither_resumed_nor_overwritten(tmp_path):
    with RunFolder.create(tmp_path, "r", {"command": "c"}) as folder, folder.journal as journal:
        journal.append({"a": 1})
    (folder.path / "run.toml").unlink()
    with pytest.raises(UserError, match=r"no run .r.: .*r/run\.toml doesn\'t exist"):
        RunFolder.reopen(tmp_path, "r")
    with pytest.raises(UserError, match=r"exists already"):
        RunFolder.create(tmp_path, "r", {})


def test_a_lock_that_cannot_be_opened_is_an_error(tmp_path):
    folder = RunFolder(tmp_path)
    (folder.path / ".lock").mkdir()
    with pytest.raises(UserError, match=r"\.lock can't be locked: Is a directory"), folder:
        pass


def test_a_json_file_is_replaced_and_no_other_file_is_left(tmp_path):
    folder = RunFolder.create(tmp_path, "r", {})
    folder.write_json("transcripts/p/0.json", {"text": "half \ud800 a pair"})
    path = folder.write_json("transcripts/p/0.json", {"text": "second"})
    assert json.loads(path.read_text()) == {"text": "second"}
    assert [p.name for p in path.parent.iterdir()] == ["0.json"]


def test_a_run_without_a_name_is_named_after_its_kind():
    assert new_run_name("solve_set").startswith("solve_set-2")


def test_none_is_left_out_at_any_depth():
    given = {"a": None, "b": {"c": None, "d": (1, 2), "e": [{"f": None}]}}
    assert tomllib.loads(to_toml(given)) == {"b": {"d": [1, 2], "e": [{}]}}


@given(
    st.dictionaries(
        st.from_regex(r"[A-Za-z0-9_-]+", fullmatch=True),
        st.text() | st.lists(st.text()) | st.integers(0, 9) | st.booleans(),
        max_size=4,
    )
)
def test_a_description_survives_toml(values):
    assume(not any("\ud800" <= letter <= "\udfff" for letter in str(values)))
    assert tomllib.loads(to_toml({"table": values})).get("table", {}) == values


@pytest.mark.parametrize("text", ["\\x1b", "C:\\x64", "a\x7fb", "\x00", 'say "so"', "two\nlines", "\U0001f600"])
def test_texts_that_the_toml_package_would_change_survive(text):
    assert tomllib.loads(to_toml({"extra": {"stop": [text], "one": text}})) == {"extra": {"stop": [text], "one": text}}


def test_a_file_that_cannot_be_written_is_an_error_and_leaves_nothing(tmp_path, monkeypatch):
    folder = RunFolder.create(tmp_path, "r", {})

    def full(_fd):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    before = sorted(path.name for path in folder.path.iterdir())
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UserError, match=r"results\.json can't be written: No space left on device"):
        folder.write_json("results.json", {})
    assert sorted(path.name for path in folder.path.iterdir()) == before
