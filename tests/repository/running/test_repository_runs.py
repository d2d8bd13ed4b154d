"""Whole runs, from the command line to the files of results, with a scripted model."""

import base64
import gzip
import json
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from alpha_codium.app.options.repository import RunOptions
from alpha_codium.app.repository_plan import checkpoints_of, configuration, reached
from alpha_codium.repository.providers import LocalProvider, ProviderError
from alpha_codium.repository.running.benchmarks import second_half
from alpha_codium.repository.running.config import load_config
from alpha_codium.runs.events import Transcript
from alpha_codium.runs.folder import to_toml
from alpha_codium.verdict import JUDGING_RULES
from tests.gen.running import Done, home, run_cli
from tests.repository.running.shop_runs import (
    TASKS,
    config,
    name_in,
    right_at_last,
    right_for,
    rows,
    run,
    the_folder,
)
from tests.repository.shop import GROSS, SOURCE
from tests.servers.scripted import ScriptedServer, Status, Text, When, last_user

__all__ = ["config", "home"]


@pytest.mark.thorough
def test_a_run_has_results_a_summary_transcripts_and_copies_of_its_inputs(config: Path) -> None:
    with ScriptedServer(right_at_last) as server:
        done = run(config, server, "--json", "out.json")
    assert done.returncode == 0, done.stderr
    assert "| 1 | 0.000" in done.stdout and "| 2 | 0.667 [" in done.stdout
    folder = the_folder()
    assert folder.name.startswith("openai-scripted_")
    long, short = rows(folder / "results.jsonl"), rows(folder / "results_short.jsonl")
    assert [(row["idx"], row["passed"], len(row["turns"])) for row in long] == [
        (10, True, 2),
        (11, True, 2),
        (12, False, 2),
    ]
    assert [row["turns"][0]["tests_passed"] for row in short] == [1, 1, 1]
    assert "answer" in long[0]["turns"][0] and "answer" not in short[0]["turns"][0]
    summary = json.loads((folder / "results_summary.json").read_text())
    assert [round(turn["pass_rate"]["value"], 3) for turn in summary["turns"]] == [0.0, 0.667]
    assert json.loads(Path("out.json").read_text()) == [
        {"checkpoint": "", "run_folder": str(folder.absolute()), **summary}
    ]
    assert yaml.safe_load((folder / "config.yaml").read_text())["inference"]["max_iter"] == 2
    assert (folder / "prompts" / "method_gen_multiturn.yaml").exists()
    transcripts = [Transcript.read(path) for path in folder.glob("transcripts/*/0.json")]
    assert {transcript.candidate.task_name for transcript in transcripts} == {task.dp_id for task in TASKS}


def test_a_page_on_a_run_has_its_tasks_turns_and_verdicts(config: Path) -> None:
    with ScriptedServer(right_at_last) as server:
        done = run(config, server)
    folder = the_folder()
    assert f"look at it: gencode report {folder.absolute()}\n" in done.stderr
    shown = run_cli("report", folder, "--output", "page.html")
    assert shown.returncode == 0, shown.stderr
    page = Path("page.html").read_text()
    index = json.loads(page.partition('id="index">')[2].partition("</script>")[0])
    assert [each["name"] for each in index["problems"]] == [task.dp_id for task in TASKS]
    assert [each["runs"][0]["verdicts"] for each in index["problems"]] == ["A", "A", "W"]
    assert index["problems"][0]["tags"] == ["shop/prices.py: Price.gross"]
    body = page.partition('class="body">')[2].partition("<")[0]
    sample = json.loads(gzip.decompress(base64.b64decode(body)))["runs"][0]["samples"][0]
    events = [event for stage in sample["stages"] for event in stage["events"]]
    assert sum(event["kind"] == "answer" for event in events) == 2
    assert "return 0" in json.dumps(events)


def test_the_progress_is_left_out_where_the_configuration_says_so(config: Path) -> None:
    for log_to_console in ("true", "false"):
        options = ("-o", "inference.check_ground_truth=true", "-o", f"inference.log_to_console={log_to_console}")
        done = run_cli("repo", "run", "--config", config, *options)
        assert done.returncode == 0, done.stderr
        assert ("items: 3/3" in done.stderr) == (log_to_console == "true")
    done = run_cli("runs", "show", done.stderr.split()[2])
    assert done.returncode == 2
    assert "is one of gencode repo run: see " in done.stderr


def test_each_benchmark_runs_by_its_option(config: Path) -> None:
    answers = {
        "completion": lambda _: Text(f"```python\n{second_half(TASKS[0])}```"),
        "program_repair": lambda _: Text(right_for("gross")),
    }
    for benchmark, script in answers.items():
        with ScriptedServer(script) as server:
            done = run(config, server, "--benchmark", benchmark, "--max_items", 1, "--repo", "shop")
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith(f"{benchmark}, openai/scripted: 1 task") and "| 1 | 1.000" in done.stdout


def test_a_completion_that_can_not_be_put_into_the_file_counts_as_failed(config: Path) -> None:
    def answer(body: dict[str, Any]) -> Text:
        name = name_in(body)
        bad = {"gross": "        return 1\nelse:\n    pass\n", "free": "        return '\0'\n"}
        rest = next(second_half(task) for task in TASKS if task.method.name == name)
        return Text(f"```python\n{bad.get(name, rest)}```")

    with ScriptedServer(answer) as server:
        done = run(config, server, "--benchmark", "completion")
        told = [last_user(seen.body) for seen in server.requests if len(seen.body["messages"]) > 2]
    assert done.returncode == 0, done.stderr
    assert "| 1 | 0.333" in done.stdout and "last answers: 2 NOT_RUN, 1 OK" in done.stdout
    assert len(told) == 2 and all("don't complete the method" in text for text in told)


def test_a_task_of_other_files_is_refused_before_a_model_is_asked(config: Path) -> None:
    row = TASKS[0].row(0) | {"raw_file_content": SOURCE.replace("RATE = 2", "RATE = 3")}
    Path("tasks.jsonl").write_text(json.dumps(row) + "\n")
    with ScriptedServer(right_at_last) as server:
        done = run(config, server)
        assert not server.requests
    assert done.returncode == 2
    assert "shop/prices.py differs from that of shop 1 here" in done.stderr and "--checkout DIR" in done.stderr


@pytest.mark.thorough
def test_an_interrupted_run_is_resumed_without_its_configuration(config: Path) -> None:
    broken = When(lambda seen: name_in(seen.body) == "free", Status(401))
    with ScriptedServer(right_at_last, faults=[broken]) as server:
        done = run(config, server, "-o", "inference.batch_size=1")
    assert done.returncode == 2 and "--resume" in done.stderr
    folder = the_folder()
    assert len(rows(folder / "journal.jsonl")) == 1
    with ScriptedServer(right_at_last) as server:
        done = run_cli("repo", "run", "--resume", folder.absolute(), "-o", f"inference.api_base={server.api_base}")
        assert len(server.requests) == 4
    assert done.returncode == 0, done.stderr
    assert [row["passed"] for row in rows(folder / "results.jsonl")] == [True, True, False]
    done = run_cli("repo", "run", "--resume", folder.absolute(), "-o", "inference.max_iter=5")
    assert done.returncode == 2 and "was made with settings.inference.max_iter = 2, not 5" in done.stderr


def test_a_run_made_before_the_rules_had_a_version_is_judged_again_with_its_answers(config: Path) -> None:
    with ScriptedServer(right_at_last) as server:
        assert run(config, server).returncode == 0
    folder = the_folder()
    described = tomllib.loads((folder / "run.toml").read_text())
    assert described.pop("sandbox")["rules"] == JUDGING_RULES
    (folder / "run.toml").write_text(to_toml(described))
    made = [{key: value for key, value in row.items() if key != "judged_by"} for row in rows(folder / "journal.jsonl")]
    (folder / "journal.jsonl").write_text("".join(json.dumps(row) + "\n" for row in made))
    results = rows(folder / "results.jsonl")
    with ScriptedServer(right_at_last) as server:
        done = run_cli("repo", "run", "--resume", folder.absolute(), "-o", f"inference.api_base={server.api_base}")
        assert not server.requests
    assert done.returncode == 0, done.stderr
    assert "its programs are judged again" in " ".join(done.stderr.split())
    assert len(rows(folder / "journal.jsonl")) == 2 * len(made)
    assert [row["passed"] for row in rows(folder / "results.jsonl")] == [row["passed"] for row in results]


@pytest.mark.thorough
def test_the_latest_run_is_continued_where_the_configuration_says_so(config: Path) -> None:
    with ScriptedServer(right_at_last) as server:
        for _ in range(2):
            assert run(config, server, "-o", "inference.do_continue=true").returncode == 0
        assert len(server.requests) == 6
    assert the_folder()


def test_items_without_a_verdict_are_counted_apart_and_run_again(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(*_: Any) -> Any:
        raise ProviderError("the service is gone")

    with ScriptedServer(right_at_last) as server:
        with monkeypatch.context() as patch:
            patch.setattr(LocalProvider, "run", fail)
            done = run(config, server, "-o", "inference.max_retries=0", "--max_items", 1)
        assert done.returncode == 1
        assert "without a verdict: 1 item: internal: the tests could not be run: the service is gone" in done.stdout
        options = ("--resume", the_folder().absolute(), "-o", f"inference.api_base={server.api_base}")
        done = run_cli("repo", "run", *options)
        assert done.returncode == 0, done.stderr
        assert len(server.requests) == 2, "the first answer was stored"


@pytest.mark.thorough
def test_ground_truth_passes_without_a_model(config: Path) -> None:
    for benchmark in ("method_gen_multiturn", "completion", "program_repair"):
        done = run_ground_truth(config, "--benchmark", benchmark)
        assert f"{benchmark}, ground truth: 3 tasks" in done.stdout and "| 1 | 1.000" in done.stdout
    assert "| 1 | 1.000" in run_ground_truth(config, "-o", "inference.gen_target=class").stdout


def run_ground_truth(config: Path, *options: str) -> Done:
    done = run_cli("repo", "run", "--config", config, "-o", "inference.check_ground_truth=true", *options)
    assert done.returncode == 0, done.stderr
    return done


def test_replicas_are_separate_samples(config: Path) -> None:
    with ScriptedServer(right_at_last) as server:
        done = run(config, server, "-o", "inference.num_replicas=2", "--max_items", 1)
    assert done.returncode == 0, done.stderr
    assert [(row["idx"], row["replica"]) for row in rows(the_folder() / "results.jsonl")] == [(10, 0), (10, 1)]


def test_each_checkpoint_has_a_run_in_natural_order(config: Path) -> None:
    for name in ("checkpoint-10", "checkpoint-9", "other"):
        (Path("adapters") / name).mkdir(parents=True)
    for name in ("checkpoint-10", "checkpoint-9"):
        (Path("adapters") / name / "adapter_config.json").write_text("{}")
    options = ("-o", "paths.checkpoints=adapters", "--max_items", 1, "-o", "inference.max_iter=1")
    with ScriptedServer(right_at_last) as server:
        done = run(config, server, *options, "-o", "paths.format_run_name={checkpoint}")
        assert [seen.body["model"] for seen in server.requests] == ["checkpoint-9", "checkpoint-10"]
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in Path("outputs").iterdir()) == ["checkpoint-10", "checkpoint-9"]
    only = load_config(config, ["paths.checkpoints=adapters", "inference.lora_ckpts_list=[checkpoint-9]"])
    assert checkpoints_of(only) == ["checkpoint-9"]


def test_a_task_is_always_sent_to_the_same_server(config: Path) -> None:
    with ScriptedServer(right_at_last) as one, ScriptedServer(right_at_last) as two:
        addresses = f"[{one.api_base}, {two.api_base}]"
        done = run_cli("repo", "run", "--config", config, "-o", f"inference.api_base={addresses}")
        asked = [{name_in(seen.body) for seen in server.requests} for server in (one, two)]
    assert done.returncode == 0, done.stderr
    assert asked == [{"gross", "net"}, {"free"}]


def test_a_proxy_is_reached_by_its_variables(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path(".env").write_text("LITELLM_KEY=sk-of-the-proxy\n")
    monkeypatch.setenv("LITELLM_KEY", "")
    monkeypatch.delenv("LITELLM_KEY")
    with ScriptedServer(right_at_last) as server:
        monkeypatch.setenv("LITELLM_ENDPOINT", server.api_base)
        options = ("-o", "inference.model=claude", "--max_items", 1)
        done = run_cli("repo", "run", "--config", config, *options)
        assert done.returncode == 0, done.stderr
        assert {seen.body["model"] for seen in server.requests} == {"claude"}
        assert {seen.headers.get("Authorization") for seen in server.requests} == {"Bearer sk-of-the-proxy"}


@pytest.mark.parametrize(
    ("values", "servers", "environment", "expected"),
    [
        (["inference.model=gpt"], (), {}, ("gpt", (), None)),
        (["inference.model=gpt"], (), {"LITELLM_KEY": "k"}, ("gpt", (), "k")),
        (["inference.model=gpt"], (), {"LITELLM_ENDPOINT": "http://p"}, ("openai/gpt", ("http://p",), None)),
        (["inference.model=local/x"], (), {"LITELLM_ENDPOINT": "http://p", "LITELLM_KEY": "k"}, ("local/x", (), None)),
        (["inference.model=qwen"], ("http://a", "http://b"), {}, ("openai/qwen", ("http://a", "http://b"), None)),
        (
            ["inference.model=qwen", "inference.provider=vllm", "inference.api_base=http://a"],
            (),
            {},
            ("openai/qwen", ("http://a",), None),
        ),
    ],
)
def test_where_a_model_is_reached(values: Any, servers: Any, environment: Any, expected: Any) -> None:
    assert reached(load_config(overrides=values), servers, environment) == expected


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-o", "inference.max_itr=3"], "unknown setting inference.max_itr (did you mean 'max_iter'?)"),
        (["--repo", "djago"], "there is no repository 'djago' (did you mean 'django'?)"),
        (["--repo", "django"], "tasks.jsonl has tasks of shop, not of django"),
        (["-o", "paths.data=nothing.jsonl"], "nothing.jsonl"),
        (["-o", "paths.data=shop"], "make it with `gencode repo build` (repository shop, stored as shop)"),
        (["-o", "paths.data=mine"], "make it with `gencode repo build` (repository shop, stored as mine)"),
        (["-o", "inference.sandbox_provider=lokal"], "there is no sandbox_provider 'lokal' (did you mean 'local'?)"),
        (["-o", "paths.format_run_name={modl}"], "has a field that isn't known: 'modl'"),
        (["-o", "paths.checkpoints=adapters"], "adapters has no folder with an adapter_config.json"),
    ],
)
def test_what_cannot_work_is_said_in_one_line(config: Path, options: list[str], message: str) -> None:
    done = run_cli("repo", "run", "--config", config, *options)
    assert done.returncode == 2
    assert message in done.stderr and done.stderr.count("\n") == 1


def test_a_configuration_must_be_given(home: Path) -> None:
    done = run_cli("repo", "run")
    assert done.returncode == 2
    assert done.stderr.startswith("error: no configuration is given: use --config FILE")


def test_resources_are_copied_once_and_can_be_run(config: Path) -> None:
    done = run_cli("repo", "get-resources", "resources")
    assert done.returncode == 0, done.stderr
    assert {path.name for path in Path("resources").rglob("*.yaml")} >= {
        "config.yaml", "config_default.yaml", "completion.yaml", "program_repair.yaml", "method_gen_multiturn.yaml",
    }  # fmt: skip
    loaded = configuration(RunOptions(config=Path("resources/config.yaml")))
    assert loaded.paths.prompts == "resources/prompts"
    again = run_cli("repo", "get-resources", "resources")
    assert again.returncode == 2 and "exists already" in again.stderr


def test_a_tracker_gets_each_turn_and_its_failure_ends_nothing(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    logged: list[Any] = []

    class Tracker:
        def init(self, **options: Any) -> None:
            logged.append(options)

        def log(self, values: dict[str, Any]) -> None:
            logged.append(values)

        def finish(self) -> None:
            raise OSError("no network")

    monkeypatch.setitem(sys.modules, "wandb", Tracker())
    monkeypatch.setenv("WANDB_API_KEY", "k")
    done = run_cli("repo", "run", "--config", config, "-o", "inference.check_ground_truth=true")
    assert done.returncode == 0, done.stderr
    assert logged[0]["project"] == "gencode" and logged[1]["turn"] == 1 and logged[1]["pass_rate"] == 1.0
    assert "the summary could not be reported to wandb: no network" in done.stderr


def test_the_model_sees_its_own_answer_and_what_the_tests_say(config: Path) -> None:
    with ScriptedServer(right_at_last) as server:
        run(config, server, "--max_items", 1)
        told = last_user(server.requests[-1].body)
    assert f"{GROSS}: failed" in told and "AssertionError: 0 != 6" in told
