import json
import tomllib

import pytest

from tests.gen.running import assert_refused, run_cli


def model_in_force(*arguments):
    done = run_cli("settings", *arguments)
    assert done.returncode == 0, done.stderr
    return tomllib.loads(done.stdout)["config"]["model"]


def test_later_sources_win(home, tmp_path, monkeypatch):
    file = tmp_path / "mine.toml"
    file.write_text('[config]\nmodel = "from/file"\n')
    assert model_in_force() == ""
    assert model_in_force("--config", file) == "from/file"
    monkeypatch.setenv("GENCODE_CONFIG__MODEL", "from/environment")
    assert model_in_force("--config", file) == "from/environment"
    assert model_in_force("--config", file, "-o", "config.model=from/option") == "from/option"


def test_what_is_printed_can_be_given_back_as_a_file(home, tmp_path):
    printed = run_cli("settings", "-o", "config.temperature=0.5", "-o", "solve.max_calls=7")
    file = tmp_path / "printed.toml"
    file.write_text(printed.stdout)
    again = run_cli("settings", "--config", file)
    assert tomllib.loads(again.stdout) == tomllib.loads(printed.stdout)


def test_the_comments_stay_and_a_changed_value_has_its_origin_above_it(home, tmp_path, monkeypatch):
    monkeypatch.setenv("GENCODE_CONFIG__SEED", "3")
    header = "code_tester.header=import math\n\x07import re"
    lines = run_cli("settings", "-o", "config.model=x", "-o", header).stdout.splitlines()
    place = lines.index("# from -o config.model=x")
    assert lines[place + 1].startswith('model = "x"                     # a litellm model string, or local/NAME; ')
    assert lines[lines.index("seed = 3") - 1] == "# from environment variable GENCODE_CONFIG__SEED"
    assert tomllib.loads("\n".join(lines))["code_tester"]["header"] == "import math\n\x07import re"
    assert sum(line.startswith("# from ") for line in lines) == 3


def test_a_settings_file_in_the_current_folder_is_read_before_the_other_sources(home, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gencode.toml").write_text('[config]\nmodel = "here"\nseed = 1\n')
    (tmp_path / "mine.toml").write_text("[config]\nseed = 2\n")
    done = run_cli("settings", "--config", "mine.toml")
    assert tomllib.loads(done.stdout)["config"]["model"] == "here"
    assert tomllib.loads(done.stdout)["config"]["seed"] == 2
    assert "# from settings file gencode.toml\nmodel =" in done.stdout
    assert f"settings are read from {tmp_path / 'gencode.toml'}" in done.stderr
    (tmp_path / "gencode.toml").write_text("[config]\nmodle = 1\n")
    assert_refused(run_cli("settings"), "settings file gencode.toml", "did you mean 'model'")


def test_the_settings_go_to_a_json_file_too(home, tmp_path):
    done = run_cli("settings", "--workers", 3, "--json", tmp_path / "s.json")
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "s.json").read_text())["code_tester"]["workers"] == 3
    assert tomllib.loads(done.stdout)["code_tester"]["workers"] == 3


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("nonsense", "settings are given as section.key=value"),
        ("config.modle=x", "unknown setting config.modle (did you mean 'model'?)"),
        ("confg.model=x", "unknown section confg (did you mean 'config'?)"),
        ("config.temperature=hot", "setting config.temperature: "),
        ("config.concurrency=0", "setting config.concurrency: "),
        ("solve.use_baseline=perhaps", "setting solve.use_baseline: "),
        ("code_tester.sandbox=lax", "setting code_tester.sandbox: "),
    ],
)
def test_a_setting_that_cannot_be_is_one_line(home, override, words):
    assert_refused(run_cli("settings", "-o", override), words)


def test_a_settings_file_that_cannot_be_read_is_one_line(home, tmp_path):
    assert_refused(run_cli("settings", "--config", tmp_path / "none.toml"), "can't be read: No such file")
    (tmp_path / "bad.toml").write_text("= bad")
    assert_refused(run_cli("settings", "--config", tmp_path / "bad.toml"), "is not valid TOML")
    assert_refused(run_cli("settings", "--config", tmp_path), "can't be read: Is a directory")


def test_a_variable_of_the_environment_with_an_unknown_key_is_named(home, monkeypatch):
    monkeypatch.setenv("GENCODE_CONFIG__MODLE", "x")
    assert_refused(run_cli("settings"), "GENCODE_CONFIG__MODLE", "did you mean 'model'")


@pytest.mark.thorough
def test_the_sandbox_is_checked_by_running_a_program(home):
    done = run_cli("sandbox", "check")
    assert done.returncode == 0, done.stderr
    facts = dict(line.split(maxsplit=1) for line in done.stdout.splitlines())
    assert facts["tester_type"] == "local"
    assert facts["network"] in ("no", "YES")
    without = run_cli("sandbox", "check", "-o", "code_tester.sandbox=false")
    assert "network          YES" in without.stdout


def test_a_mistyped_sandbox_is_one_line(home):
    assert_refused(run_cli("sandbox", "check", "-o", "code_tester.tester_type=locl"), "did you mean 'local'")
