"""A file of programs for APPS, scored by the evaluation image in gVisor, without network: the file is an argument."""

import json

import pytest

from tests.docker.test_images import AS_ITS_ROOT, built, in_gvisor, run
from tests.support import shared_path

pytestmark = [pytest.mark.images, pytest.mark.timeout(900)]
# Arguments for the image as it stands: its entry point is gencode.
SCORE = ("eval", "score", "/work/programs.json", "--benchmark", "apps", "--dataset_name", "/data/apps.jsonl")
TRAIN = ("--split_name", "train")  # those that have solutions
GVISOR = ("-o", "code_tester.tester_type=gvisor", "--k", "1", "--json", "/work/results.json")


def test_programs_for_apps_are_scored_in_gvisor_without_network(tmp_path) -> None:
    data = shared_path("data/apps.jsonl")
    with data.open() as lines:
        records = [json.loads(line) for line in lines]
    programs = {_name(each): [json.loads(each["solutions"])[0], "print("] for each in records if _solved(each)}
    (tmp_path / "programs.json").write_text(json.dumps(programs))
    folders = (f"--volume={data}:/data/apps.jsonl:ro", f"--volume={tmp_path}:/work", "--env=GENCODE_HOME=/tmp/home")
    run(*in_gvisor(), *AS_ITS_ROOT, *folders, built("eval", "."), *SCORE, *TRAIN, *GVISOR)
    result = json.loads((tmp_path / "results.json").read_text())
    judged = {each["name"]: each["candidates"] for each in result["problems"] if each["candidates"]}
    assert result["complete"] is True and result["n_problems"] == 77
    assert judged.keys() == programs.keys() and len(judged) == 14
    verdicts = {tuple(candidate["verdict"] for candidate in candidates) for candidates in judged.values()}
    assert verdicts == {("accepted", "compilation_error")}
    assert result["pass_at_k"] == {"pass@1": pytest.approx(14 / 2 / 77)}


def _solved(record: dict) -> bool:
    return json.loads(record["solutions"] or "[]") != []


def _name(record: dict) -> str:
    return f"apps/{record['x_meta']['split']}/{record['problem_id']}"
