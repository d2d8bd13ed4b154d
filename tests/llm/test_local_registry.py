import hashlib
import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alpha_codium.errors import ModelNotFound
from alpha_codium.llm.local.registry import KNOWN, NAME, add, find, keep, known_model, stored_models


@pytest.fixture
def gguf(tmp_path):
    file = tmp_path / "mine.gguf"
    file.write_bytes(b"GGUF and the rest of it")
    return file


def test_an_added_file_is_found_and_its_checksum_recorded(tmp_path, gguf):
    added = add("mine", gguf, tmp_path / "models")
    assert find("mine", tmp_path / "models") == added
    assert added.path.read_bytes() == gguf.read_bytes()
    assert added.sha256 == hashlib.sha256(gguf.read_bytes()).hexdigest()
    assert added.source == str(gguf)


def test_an_added_file_is_linked_and_outlives_the_original(tmp_path, gguf):
    added = add("mine", gguf, tmp_path / "models")
    assert added.path.stat().st_ino == gguf.stat().st_ino
    gguf.unlink()
    assert find("mine", tmp_path / "models").path.read_bytes().startswith(b"GGUF")


def test_a_file_that_cannot_be_linked_is_copied(tmp_path, gguf, monkeypatch):
    def no_links(*_):
        raise OSError(18, "Invalid cross-device link")

    monkeypatch.setattr(os, "link", no_links)
    added = add("mine", gguf, tmp_path / "models")
    assert added.path.read_bytes() == gguf.read_bytes()
    assert added.path.stat().st_ino != gguf.stat().st_ino


def test_a_file_that_is_no_gguf_is_refused_and_leaves_nothing(tmp_path):
    file = tmp_path / "page.html"
    file.write_text("<html>")
    with pytest.raises(ModelNotFound, match="isn't a GGUF file"):
        add("mine", file, tmp_path / "models")
    assert not (tmp_path / "models").exists()


def test_a_missing_file_of_the_users_is_a_clear_error(tmp_path):
    with pytest.raises(ModelNotFound, match=r"nowhere\.gguf can't be read: No such file"):
        add("mine", tmp_path / "nowhere.gguf", tmp_path / "models")


def test_the_name_of_a_known_model_takes_only_its_own_file(tmp_path, gguf):
    with pytest.raises(ModelNotFound, match="choose another name"):
        add("smollm2-135m", gguf, tmp_path / "models")
    assert not list((tmp_path / "models").iterdir())


def test_a_name_that_is_taken_stays_with_its_file(tmp_path, gguf):
    folder = tmp_path / "models"
    first = add("mine", gguf, folder)
    other = tmp_path / "other.gguf"
    other.write_bytes(b"GGUF, another one")
    with pytest.raises(ModelNotFound, match="choose another name"):
        add("mine", other, folder)
    assert find("mine", folder) == first
    assert add("mine", gguf, folder) == first


def test_a_file_that_changed_its_size_does_not_count(tmp_path, gguf):
    added = add("mine", gguf, tmp_path / "models")
    with added.path.open("ab") as file:
        file.write(b"more")
    assert stored_models(tmp_path / "models") == []
    with pytest.raises(ModelNotFound, match="no local model 'mine'"):
        find("mine", tmp_path / "models")


def test_a_file_without_a_record_does_not_count(tmp_path):
    (tmp_path / "smollm2-135m.gguf").write_bytes(b"GGUF")
    with pytest.raises(ModelNotFound, match="gencode model get smollm2-135m"):
        find("smollm2-135m", tmp_path)


@pytest.mark.parametrize("record", ["", "[]", "{}", '{"size_bytes": "x", "sha256": "", "source": ""}', "null"])
def test_a_broken_record_counts_as_none(tmp_path, record):
    (tmp_path / "mine.gguf").write_bytes(b"GGUF")
    (tmp_path / "mine.json").write_text(record)
    assert stored_models(tmp_path) == []


def test_an_unknown_name_is_an_error_with_the_nearest(tmp_path):
    with pytest.raises(ModelNotFound, match="did you mean 'smollm2-135m'"):
        find("smolm2-135m", tmp_path)
    with pytest.raises(ModelNotFound, match=r"did you mean 'qwen2\.5-coder-0\.5b'"):
        known_model("qwen2.5-coder")


def test_a_wrong_checksum_leaves_the_folder_as_it_was(tmp_path, gguf):
    folder = tmp_path / "models"
    folder.mkdir()
    with pytest.raises(ModelNotFound, match="nothing was kept"):
        keep(gguf, "mine", folder, "there", "0" * 64)
    assert list(folder.iterdir()) == []


@given(st.text(max_size=20))
def test_no_name_leads_out_of_the_folder(tmp_path_factory, name):
    folder = tmp_path_factory.mktemp("models") / "inner"
    file = folder.parent / "mine.gguf"
    file.write_bytes(b"GGUF")
    try:
        added = add(name, file, folder)
    except ModelNotFound:
        assert not NAME.fullmatch(name) or name in KNOWN
    else:
        assert added.path.parent == folder
        assert [model.name for model in stored_models(folder)] == [name]
    assert {path.name for path in folder.parent.iterdir()} <= {"inner", "mine.gguf"}


@given(st.dictionaries(st.sampled_from(["size_bytes", "sha256", "source", "x"]), st.none() | st.integers() | st.text()))
def test_any_record_is_read_or_ignored(tmp_path_factory, record):
    folder = tmp_path_factory.mktemp("models")
    (folder / "mine.gguf").write_bytes(b"GGUF")
    (folder / "mine.json").write_text(json.dumps(record))
    assert all(model.size_bytes == 4 for model in stored_models(folder))
