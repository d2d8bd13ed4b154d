import contextlib
import errno
import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alpha_codium.runs import Journal
from alpha_codium.runs.journal import JournalError
from alpha_codium.wording import counted

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner, max_size=3), max_leaves=5
)
ENTRIES = st.lists(st.dictionaries(st.text(max_size=5), VALUES, max_size=3), max_size=8)
NEW = {"new": "entry"}


def written(path: Path, entries: list[dict]) -> bytes:
    with Journal(path) as journal:
        for entry in entries:
            journal.append(entry)
    return path.read_bytes() if path.exists() else b""


@pytest.mark.thorough
@settings(max_examples=100, deadline=None)
@given(ENTRIES, st.data())
def test_any_truncation_gives_a_prefix_and_appending_never_joins_lines(entries, data):
    with TemporaryDirectory() as folder:
        path = Path(folder) / "journal.jsonl"
        content = written(path, entries)
        path.write_bytes(content[: data.draw(st.integers(0, len(content)))])
        left = list(Journal(path).entries())
        assert left == entries[: len(left)]
        with Journal(path) as journal:
            journal.append(NEW)
            assert list(journal.entries()) == [*left, NEW]


@pytest.mark.thorough
@settings(max_examples=50, deadline=None)
@given(ENTRIES, ENTRIES)
def test_appended_entries_are_read_back_after_reopening(first, second):
    with TemporaryDirectory() as folder:
        path = Path(folder) / "journal.jsonl"
        written(path, first)
        written(path, second)
        assert list(Journal(path).entries()) == [*first, *second]


@settings(max_examples=50, deadline=None)
@given(ENTRIES)
def test_entries_appended_at_once_are_the_lines_of_those_appended_one_by_one(entries):
    with TemporaryDirectory() as folder:
        one, all_ = Path(folder) / "one.jsonl", Path(folder) / "all.jsonl"
        with Journal(all_) as journal:
            journal.append(*entries)
        assert all_.read_bytes() == written(one, entries)


@settings(max_examples=50, deadline=None)
@given(ENTRIES, st.binary(max_size=20).filter(lambda tail: b"\n" not in tail))
def test_a_torn_line_is_dropped_whatever_it_holds(entries, tail):
    with TemporaryDirectory() as folder:
        path = Path(folder) / "journal.jsonl"
        path.write_bytes(written(path, entries) + tail)
        assert list(Journal(path).entries()) == entries


def test_a_broken_line_in_the_middle_is_an_error_that_names_it(tmp_path):
    path = tmp_path / "journal.jsonl"
    written(path, [{"a": 1}, {"a": 2}])
    path.write_bytes(path.read_bytes().replace(b'{"a": 1}', b'{"a": 1'))
    with pytest.raises(JournalError, match=r"journal\.jsonl, line 1, was changed.*delete the line"):
        list(Journal(path).entries())


def test_a_broken_line_is_kept_when_more_is_appended(tmp_path):
    path = tmp_path / "journal.jsonl"
    path.write_bytes(b"broken\n")
    written(path, [NEW])
    assert path.read_bytes() == b"broken\n" + json.dumps(NEW).encode() + b"\n"


def test_a_journal_that_was_never_opened_has_no_entries(tmp_path):
    assert list(Journal(tmp_path / "journal.jsonl").entries()) == []


def test_lines_of_many_threads_stay_whole_until_the_journal_is_closed(tmp_path):
    def write(journal, thread):
        with contextlib.suppress(AssertionError):  # it is closed
            for number in range(10_000):
                journal.append({"thread": thread, "number": number, "program": "x" * 5000})

    path = tmp_path / "journal.jsonl"
    with ThreadPoolExecutor(4) as pool:
        with Journal(path) as journal:
            writers = [pool.submit(write, journal, thread) for thread in range(4)]
            while path.stat().st_size < 500_000:
                journal.append({"thread": -1, "number": 0})
        assert [writer.result() for writer in writers] == [None] * 4
    entries = list(Journal(path).entries())
    for thread in range(4):
        numbers = [entry["number"] for entry in entries if entry["thread"] == thread]
        assert numbers == list(range(len(numbers)))


def test_every_entry_is_one_line_whatever_it_holds(tmp_path):
    entries = [{"program": "a\nb\r\n\u2028\x85\ud800"}, {"program": "\x00"}]
    content = written(tmp_path / "journal.jsonl", entries)
    assert content.count(b"\n") == len(entries)
    assert list(Journal(tmp_path / "journal.jsonl").entries()) == entries


@pytest.mark.parametrize("fits", [0, 5, 13])
def test_a_partial_line_on_a_full_disk_is_removed(tmp_path, monkeypatch, fits):
    path, write, left = tmp_path / "journal.jsonl", os.write, [fits]

    def into_little_room(fd, content):
        if not left[0]:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written = write(fd, bytes(content)[: left[0]])
        left[0] -= written
        return written

    with Journal(path) as journal:
        journal.append({"a": 1})
        with monkeypatch.context() as patch:
            patch.setattr(os, "write", into_little_room)
            with pytest.raises(JournalError, match=r"journal\.jsonl can't be written: No space left on device"):
                journal.append({"lost": "because there is no room"})
        journal.append(NEW)
    assert list(Journal(path).entries()) == [{"a": 1}, NEW]


@pytest.mark.thorough
@settings(max_examples=50, deadline=None)
@given(ENTRIES)
def test_the_offset_of_an_entry_is_the_start_of_its_line(entries):
    with TemporaryDirectory() as folder:
        path = Path(folder) / "journal.jsonl"
        content = written(path, entries)
        found = list(Journal(path).placed(dict))
    assert [entry for _, entry in found] == entries
    assert [json.loads(content[place:].splitlines()[0]) for place, _ in found] == entries


@pytest.mark.parametrize("line", [b"[1]", b"5", b'{"b": 1}', b'{"a": []}', b"[" * 100_000])
def test_an_invalid_entry_is_an_error_that_names_its_line(tmp_path, line):
    path = tmp_path / "journal.jsonl"
    path.write_bytes(b'{"a": 1}\n' + line + b"\n")
    with pytest.raises(JournalError, match=r"journal\.jsonl, line 2, was changed.*delete the line"):
        list(Journal(path).read(lambda entry: int(entry["a"])))


@pytest.mark.parametrize("torn", [b'{"a": 1', b"{", b"\0\0\0"])
def test_a_torn_line_is_cut_off_with_a_warning(tmp_path, warnings, torn):
    path = tmp_path / "journal.jsonl"
    path.write_bytes(b'{"a": 1}\n' + torn)
    with Journal(path) as journal:
        assert list(journal.entries()) == [{"a": 1}]
    assert len(warnings) == 1
    assert f"{path}: the last line was cut off ({counted(len(torn), 'byte')})" in warnings[0]
    with Journal(path):
        assert len(warnings) == 1


def test_an_end_that_is_no_torn_line_is_refused_and_kept(tmp_path):
    path = tmp_path / "journal.jsonl"
    path.write_bytes(b'{"a": 1}\nremark')
    with pytest.raises(JournalError, match=r"its end \(6 bytes\) is no line"), Journal(path):
        pass
    assert path.read_bytes() == b'{"a": 1}\nremark'


@pytest.mark.parametrize("use", [lambda journal: list(journal.entries()), lambda journal: journal.__enter__()])
def test_a_folder_or_dangling_link_is_an_error(tmp_path, use):
    (tmp_path / "folder").mkdir()
    (tmp_path / "dangling").symlink_to(tmp_path / "no" / "where")
    for name, why in (("folder", "Is a directory"), ("dangling", "No such file")):
        with pytest.raises(JournalError, match=f"{name} can't be used: {why}"):
            use(Journal(tmp_path / name))
