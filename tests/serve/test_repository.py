"""Tests of a repository on edited files, at the server that judges programs."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.repository.shop import FILE, NET, SOURCE, TESTS
from tests.serve.serving import started

RECIPE = """
distribution = "shop"
version = "1"
sources = ["shop"]
runner = "unittest"
labels = ["test_prices"]
"""
WHOLE = {"file_path": FILE, "start_line": 1, "end_line": SOURCE.count("\n"), "tests": [NET]}


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shop") / "clone"
    (folder / "shop").mkdir(parents=True)
    (folder / "shop" / "__init__.py").touch()
    (folder / FILE).write_text(SOURCE)
    (folder / "test_prices.py").write_text(TESTS)
    return folder


@pytest.fixture(scope="module")
def client(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    home = tmp_path_factory.mktemp("home")
    home.chmod(0o755)
    (home / "recipes").mkdir()
    (home / "recipes" / "shop.toml").write_text(RECIPE)
    options = ("--repository", "shop", "--checkout", str(checkout))
    with (
        started(*options, GENCODE_HOME=str(home)) as (address, _),
        httpx.Client(base_url=address, timeout=120) as client,
    ):
        yield client


@pytest.mark.parametrize("path", ["/run_item", "/v1/repository"])
def test_tests_are_run_on_an_edited_file(client, path):
    wrong = SOURCE.replace("* self.percent // 100", "* self.percent // 50")
    for text, status in ((SOURCE, "OK"), (wrong, "FAILED"), ("def (", "CRUSHED")):
        answer = client.post(path, json=WHOLE | {"idx": 7, "replace_content": text})
        assert answer.status_code == 200, answer.text
        found = answer.json()
        assert (found["idx"], found["status"], found["edited_file"]) == (7, status, text.rstrip("\n") + "\n")
    unedited = client.post(path, params={"do_edit": "False"}, json=WHOLE | {"replace_content": "def ("})
    assert unedited.json()["status"] == "OK"


def test_programs_are_judged_by_the_same_server(client):
    request = {"program": "print(input())", "tests": [{"input": "a", "output": "a"}]}
    assert client.post("/v1/judge", json=request).json()["accepted"]


def test_the_server_says_which_repository_it_has(client):
    found = client.get("/v1/repository").json()
    assert found["repository"] == "shop"


def test_an_item_that_does_not_fit_is_refused(client):
    for changes, reason in (
        ({"file_path": "../x"}, "is not a source file"),
        ({"end_line": 400}, "which has 38"),
        ({"tests": ["x"] * 1001}, "tests: List should have at most 1000 items"),
    ):
        answer = client.post("/run_item", json=WHOLE | {"replace_content": ""} | changes)
        assert (answer.status_code, reason in answer.json()["detail"]) == (422, True), answer.text


def test_tracebacks_of_tests_name_files_by_their_places_in_the_repository(client):
    wrong = SOURCE.replace("return self.amount * self.percent // 100", "import json; json.loads(__file__)")
    text = client.post("/run_item", json=WHOLE | {"replace_content": wrong}).json()["test_output"]
    files = [line.split('"')[1] for line in text.splitlines() if line.lstrip().startswith("File ")]
    assert files == ["test_prices.py", FILE, "json/__init__.py", "json/decoder.py", "json/decoder.py"]
    assert "JSONDecodeError" in text
