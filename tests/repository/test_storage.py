"""Folders in S3, against a server with its protocol on loopback."""

from pathlib import Path
from typing import Any

import pytest

from alpha_codium.errors import UserError
from alpha_codium.repository import storage
from alpha_codium.repository.storage import copy_of, fetched, is_remote, uploaded, uploading


def files_in(folder: Path) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()}


def test_a_local_path_stays_as_it_is() -> None:
    assert fetched("data/tasks") == "data/tasks"
    assert is_remote("s3://ours/data") and not is_remote("data/s3") and not is_remote("C://")


@pytest.mark.thorough
def test_a_folder_is_uploaded_and_fetched(bucket: Any, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    (folder / "transcripts").mkdir(parents=True)
    (folder / "results.json").write_text("{}")
    (folder / "transcripts" / "a b.json").write_text("é")
    assert uploaded(folder, "s3://ours/outputs/run/") == 2
    assert sorted(each.key for each in bucket.objects.all()) == [
        "outputs/run/results.json",
        "outputs/run/transcripts/a b.json",
    ]
    copy = Path(fetched("s3://ours/outputs"))
    assert copy == copy_of("s3://ours/outputs/")
    assert files_in(copy) == {"run/results.json": "{}", "run/transcripts/a b.json": "é"}
    (folder / "results.json").write_text("[]")
    uploaded(folder, "s3://ours/outputs/run")
    assert files_in(Path(fetched("s3://ours/outputs/run")))["results.json"] == "[]", "uploaded again, fetched again"


@pytest.mark.thorough
def test_a_file_is_fetched_and_what_is_there_already_is_not_fetched_again(
    bucket: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    bucket.put_object(Key="data/tasks.jsonl", Body=b"{}\n")
    assert Path(fetched("s3://ours/data/tasks.jsonl")).read_text() == "{}\n"
    monkeypatch.setattr(storage, "_fetch", lambda *_: pytest.fail("fetched again"))
    assert fetched("s3://ours/data/tasks.jsonl").endswith("storage/s3/ours/data/tasks.jsonl")


@pytest.mark.asyncio
async def test_results_are_uploaded_after_a_fault_too(bucket: Any, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="a fault"):
        async with uploading(tmp_path / "run", "s3://ours/a"):
            (tmp_path / "run").mkdir()
            (tmp_path / "run" / "journal.jsonl").write_text("{}")
            raise ValueError("a fault")
    async with uploading(tmp_path / "run", "s3://ours/b"):
        pass
    assert [each.key for each in bucket.objects.all()] == ["a/journal.jsonl", "b/journal.jsonl"]


@pytest.mark.thorough
@pytest.mark.asyncio
async def test_what_is_missing_or_not_ours_is_one_line(
    bucket: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "file").touch()
    with pytest.raises(UserError, match="there is nothing at s3://ours/none"):
        fetched("s3://ours/none")
    with pytest.raises(UserError, match=r"s3://others/a can't be used: .*bucket does not exist"):
        uploaded(tmp_path / "a", "s3://others/a")
    with pytest.raises(ValueError, match="the first one"):
        async with uploading(tmp_path / "a", "s3://others/a"):
            raise ValueError("the first one")
    with pytest.raises(UserError, match=r"is not a URL such as s3://BUCKET/FOLDER"):
        fetched("s3://ours/../../etc")
    with pytest.raises(UserError, match="nosuch://a can't be used: Protocol not known"):
        fetched("nosuch://a")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    with pytest.raises(UserError, match=r"s3://ours/data can't be used: .*127\.0\.0\.1:1"):
        fetched("s3://ours/data")


@pytest.mark.thorough
def test_a_file_whose_name_leads_elsewhere_is_refused(bucket: Any) -> None:
    bucket.put_object(Key="data/../../../../escaped", Body=b"x")
    with pytest.raises(UserError, match="which leads elsewhere"):
        fetched("s3://ours/data")


def test_without_s3fs_the_error_says_what_to_install(bucket: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    from fsspec.registry import _registry

    _registry.pop("s3", None)
    monkeypatch.setitem(sys.modules, "s3fs", None)
    with pytest.raises(UserError, match="needs a package: pip install s3fs"):
        fetched("s3://ours/data")
