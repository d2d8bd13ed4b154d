import json

import pytest

from tests.llm.local_support import hub_on_loopback, smallest_model
from tests.support import gencode


def test_the_known_models_are_listed_with_how_to_get_them(tmp_path):
    done = gencode("model", "list", "--json", tmp_path / "list.json", home=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "gencode model get smollm2-135m" in done.stdout
    listed = json.loads((tmp_path / "list.json").read_text())
    assert [model["name"] for model in listed] == ["qwen2.5-coder-0.5b", "smollm2-135m"]
    assert not any(model["here"] for model in listed)


def test_a_file_of_the_users_is_added_and_listed(tmp_path):
    file = tmp_path / "mine.gguf"
    file.write_bytes(b"GGUF...")
    done = gencode("model", "add", "mine", file, home=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(tmp_path / "models" / "mine.gguf")
    assert f"{file}" in gencode("model", "list", home=tmp_path).stdout


def test_a_file_that_is_no_model_is_refused_in_one_line(tmp_path):
    file = tmp_path / "page.html"
    file.write_text("<html>")
    done = gencode("model", "add", "mine", file, home=tmp_path)
    assert done.returncode == 2
    assert done.stderr.splitlines() == [f"error: {file} isn't a GGUF file: it doesn't start with the letters GGUF"]


def test_a_mistyped_model_is_met_with_the_nearest(tmp_path):
    done = gencode("model", "get", "smolm2-135m", home=tmp_path)
    assert done.returncode == 2
    assert "did you mean 'smollm2-135m'" in done.stderr


@pytest.mark.thorough
def test_a_hub_with_another_file_is_refused_and_nothing_is_kept(tmp_path):
    with hub_on_loopback() as hub:
        hub.content = b"GGUF tiny"
        done = gencode("model", "get", "qwen2.5-coder-0.5b", home=tmp_path, env={"HF_ENDPOINT": hub.url})
    assert done.returncode == 2
    assert "has 9 bytes, not 491400064" in done.stderr
    assert list((tmp_path / "models").iterdir()) == []


@pytest.mark.thorough
@pytest.mark.model
def test_a_known_model_that_is_here_is_got_at_once_and_its_path_printed(tmp_path):
    file = smallest_model().path
    assert gencode("model", "add", "smollm2-135m", file, home=tmp_path).returncode == 0
    done = gencode("model", "get", "smollm2-135m", home=tmp_path, env={"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": ""})
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(tmp_path / "models" / "smollm2-135m.gguf")
