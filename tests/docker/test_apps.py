"""A file of programs for APPS, scored by the evaluation image in gVisor, without network: the file is an argument."""

import json

import pytest

from tests.docker.test_images import AS_ITS_ROOT, build, built, in_gvisor, run
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


@pytest.mark.slow
def test_the_folder_for_another_machine_scores_both_splits_without_options_of_the_engine(tmp_path) -> None:
    with shared_path("data/apps.jsonl").open() as lines:
        records = [json.loads(line) for line in lines]
    run("make", "apps", f"OUT={tmp_path}/vm")
    (tmp_path / "vm/data/apps").mkdir(parents=True)
    for split in ("train", "test"):
        of_split = [json.dumps(each) + "\n" for each in records if each["x_meta"]["split"] == split]
        (tmp_path / f"vm/data/apps/{split}.jsonl").write_text("".join(of_split))
    programs = {_name(each): [json.loads(each["solutions"])[0], "print("] for each in records if _solved(each)}
    few = dict(list(programs.items())[:3])
    (tmp_path / "vm/data/generations.json").write_text(json.dumps(few))
    # On the image that has most of its layers already: from nothing it takes five minutes.
    image = build("apps", f"{tmp_path}/vm/Dockerfile", f"{tmp_path}/vm", on=built("eval", "."))
    # Only the runtime and its flags for this machine, no privileges.
    said = run(*in_gvisor(), image, "--split_name", "train", "--k", "1", "--only_present")
    assert "pass@1" in said and "0.5000" in said


def _solved(record: dict) -> bool:
    return json.loads(record["solutions"] or "[]") != []


def _name(record: dict) -> str:
    return f"apps/{record['x_meta']['split']}/{record['problem_id']}"
