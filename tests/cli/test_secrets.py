import os
import subprocess
import sys
from pathlib import Path

import pytest

from alpha_codium.app.models import load_secrets
from alpha_codium.errors import SettingsError
from tests.gen.running import assert_refused, model_arguments, run_cli
from tests.servers.scripted import ScriptedServer


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    """Whatever a secrets file puts into the environment is taken out again."""
    monkeypatch.setattr(os, "environ", os.environ.copy())


def test_keys_of_the_secrets_file_are_used_where_the_environment_has_none(home, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY")
    Path(".secrets.toml").write_text('OPENAI_API_KEY = "sk-file-0123456789"\n')
    with ScriptedServer(api_key="sk-file-0123456789") as server:
        done = run_cli("gen", "ask", "hi", *model_arguments(server))
    assert done.returncode == 0, done.stderr
    assert done.stdout == "echo: hi\n"


def test_the_environment_wins_over_the_secrets_file(tmp_path, monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "of the environment")
    (tmp_path / "s.toml").write_text('SOME_API_KEY = "of the file"\nOTHER_API_KEY = "new"\n')
    load_secrets(tmp_path / "s.toml")
    assert os.environ["SOME_API_KEY"] == "of the environment"
    assert os.environ["OTHER_API_KEY"] == "new"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (".env", "# keys\nexport OPENAI_API_KEY='sk-file-0123456789'  # mine\n"),
        (".env", "OPENAI_API_KEY=sk-file-0123456789"),
        (".secrets.toml", '[openai]\nkey = "sk-file-0123456789"\n'),
    ],
)
def test_keys_are_also_read_from_these_files(home, monkeypatch, name, text):
    monkeypatch.delenv("OPENAI_API_KEY")
    Path(name).write_text(text)
    with ScriptedServer(api_key="sk-file-0123456789") as server:
        done = run_cli("gen", "ask", "hi", *model_arguments(server))
    assert (done.returncode, done.stdout) == (0, "echo: hi\n"), done.stderr


def test_the_secrets_file_wins_over_the_env_file(tmp_path, monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "of the environment")
    (tmp_path / "s.toml").write_text('TWO_API_KEY = "of the secrets"\n[some]\nkey = "no"\n[azure]\napi_base = "http"\n')
    (tmp_path / "e").write_text("SOME_API_KEY=no\nTWO_API_KEY=no\nTHREE_API_KEY=of $HOME\n")
    load_secrets(tmp_path / "s.toml", tmp_path / "e")
    found = [os.environ[f"{name}_API_KEY"] for name in ("SOME", "TWO", "THREE")]
    assert found == ["of the environment", "of the secrets", "of $HOME"]
    assert os.environ["AZURE_API_BASE"] == "http"


def test_without_a_secrets_file_nothing_happens(tmp_path):
    before = dict(os.environ)
    load_secrets(tmp_path / "none.toml")
    assert dict(os.environ) == before


def test_a_broken_secrets_file_is_one_line_that_does_not_quote_it(home):
    Path(".secrets.toml").write_text("OPENAI_API_KEY = sk-broken-0123456789\n")
    done = run_cli("gen", "ask", "hi", "--model", "openai/scripted")
    assert_refused(done, ".secrets.toml can't be read")
    assert "sk-broken" not in done.stderr


@pytest.mark.parametrize(
    ("text", "name"), [("OPENAI_API_KEY = 123456789", "OPENAI_API_KEY"), ("[a.b]\nkey = 'sk-123456789'", "A_B")]
)
def test_a_key_that_is_no_text_is_named_and_not_told(tmp_path, text, name):
    (tmp_path / "s.toml").write_text(text)
    with pytest.raises(SettingsError, match=f"{name} must be a string") as refused:
        load_secrets(tmp_path / "s.toml")
    assert "123456789" not in str(refused.value)


def test_the_programs_under_test_see_no_key(home, tmp_path):
    program = "import os; print([k for k in os.environ if 'KEY' in k])"
    script = (
        "import asyncio, sys\n"
        "from alpha_codium.sandbox import open_sandbox\n"
        "async def run():\n"
        "    async with open_sandbox('local', workers=1) as sandbox:\n"
        "        report = await sandbox.run(sys.argv[1], [''])\n"
        "        print(report.executions[0].stdout, end='')\n"
        "asyncio.run(run())\n"
    )
    done = subprocess.run([sys.executable, "-c", script, program], capture_output=True, text=True, check=False)
    assert done.stdout == "[]\n", done.stderr
