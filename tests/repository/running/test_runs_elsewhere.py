"""Runs with data, checkpoints and outputs in S3, and with servers of their own."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from alpha_codium.repository.storage import copy_of
from tests.gen.running import home, run_cli
from tests.llm.test_vllm import free_ports
from tests.repository.conftest import bucket, s3
from tests.repository.running.shop_runs import (
    TASKS,
    config,
    name_in,
    right_at_last,
    right_for,
    rows,
    run,
)
from tests.repository.served import SCRIPT, command
from tests.servers.scripted import ScriptedServer, Status, When

__all__ = ["bucket", "config", "home", "s3"]
REMOTE = ("-o", "paths.data=s3://ours/data/tasks.jsonl", "-o", "paths.outputs=s3://ours/outputs")


@pytest.mark.thorough
def test_a_run_in_s3_is_uploaded_after_a_fault_too_and_resumed_from_there(config: Path, bucket: Any) -> None:
    bucket.upload_file("tasks.jsonl", "data/tasks.jsonl")
    broken = When(lambda seen: name_in(seen.body) == "free", Status(401))
    with ScriptedServer(right_at_last, faults=[broken]) as server:
        done = run(config, server, *REMOTE, "-o", "inference.batch_size=1")
    assert done.returncode == 2, done.stderr
    keys = [each.key for each in bucket.objects.all()]
    (journal,) = (key for key in keys if key.endswith("journal.jsonl"))
    name = journal.split("/")[1]
    assert f"outputs/{name}/run.toml" in keys and not any(".lock" in key for key in keys)
    (copy_of("s3://ours/outputs") / name / "journal.jsonl").unlink()
    with ScriptedServer(right_at_last) as server:
        again = ("repo", "run", "--resume", f"s3://ours/outputs/{name}", "-o", f"inference.api_base={server.api_base}")
        done = run_cli(*again)
        assert len(server.requests) == 4, "the first item is known from the journal in S3"
    assert done.returncode == 0, done.stderr
    summary = json.loads(bucket.Object(f"outputs/{name}/results_summary.json").get()["Body"].read())
    assert round(summary["turns"][1]["pass_rate"]["value"], 3) == 0.667


@pytest.mark.thorough
def test_each_checkpoint_in_s3_has_a_run_of_its_own_that_is_uploaded(
    config: Path, bucket: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    bucket.upload_file("tasks.jsonl", "data/tasks.jsonl")
    for name in ("step-10", "step-9"):
        bucket.put_object(Key=f"loras/{name}/adapter_config.json", Body=b'{"r": 8}')
    monkeypatch.setenv("STAND_IN_ANSWER", right_for("gross"))
    values = yaml.safe_load(config.read_text()) | {"vllm": {"command": command(SCRIPT, "{lora}")}}
    config.write_text(yaml.safe_dump(values))
    port = free_ports(1)
    done = run_cli(
        "repo", "run", "--config", config, *REMOTE, "-o", "paths.checkpoints=s3://ours/loras",
        "-o", "inference.model=small", "-o", "inference.provider=vllm",
        "--autorun", "--gpu_ids", "0", "--base_port", port, "--max_items", 1, "--json", "out.json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    runs = json.loads(Path("out.json").read_text())
    assert [(each["checkpoint"], each["turns"][0]["pass_rate"]["value"]) for each in runs] == [
        ("step-9", 1.0),
        ("step-10", 1.0),
    ]
    keys = {each.key for each in bucket.objects.all()}
    for each in runs:
        assert f"outputs/{Path(each['run_folder']).name}/results.jsonl" in keys
        (row,) = rows(Path(each["run_folder"]) / "results.jsonl")
        assert row["dp_id"] == TASKS[0].dp_id
    folder = copy_of("s3://ours/x").parents[3] / "servers"
    lines = (folder / "gpu-0.log").read_text().splitlines()
    assert [line for line in lines if "asked" in line] == ["asked for step-9", "asked for step-10"]
    assert not (folder / "servers.json").exists(), "the server was ended"
