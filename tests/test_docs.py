"""What README and docs show is run here, and what they say of the commands is what the commands say."""

import contextlib
import io
import os
import re
import runpy
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from alpha_codium.flows import load_flow
from alpha_codium.plugins import require_plugin
from tests.cli.here import gencode
from tests.servers.scripted import ScriptedServer
from tests.support import ROOT

PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")]
PAGES += sorted((ROOT / "docs").glob("*.md"))
PROGRAM = """n = int(input())
beans = list(map(int, input().split()))
print(max((a + b for a, b in zip(beans, beans[1:])), default=beans[0]))"""


def blocks(page: Path, language: str) -> list[str]:
    """The fenced blocks of one language."""
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)


def where(argument: str, folder: Path) -> str:
    """A path of the page's: the examples are ours, what is written goes to a folder of the test's."""
    if argument.startswith("examples/"):
        return str(ROOT / argument)
    return str(folder / argument) if argument.endswith(".jsonl") else argument


def printed_by(code: str, home: Path, env: dict[str, str] | None = None) -> list[str]:
    """The lines that a program prints, which is run here, in the clone."""
    out = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(out):
        patch.chdir(ROOT)
        for name, value in ((env or {}) | {"GENCODE_HOME": str(home)}).items():
            patch.setenv(name, value)
        exec(code, {"__name__": "__main__"})
    return out.getvalue().splitlines()


@pytest.mark.thorough
def test_every_command_and_python_line_of_the_quickstart_runs_in_order(tmp_path: Path) -> None:
    page = ROOT / "docs" / "quickstart.md"
    lines = [line for block in blocks(page, "console") for line in block.splitlines()]
    commands = [shlex.split(line.removeprefix("$ ")) for line in lines if line.startswith("$ ")]
    assert len(commands) == len(lines) >= 4
    said = ""
    with ScriptedServer([("", f"```python\n{PROGRAM}\n```")]) as server:
        env = {"OPENAI_API_KEY": "sk-of-the-page", "OPENAI_API_BASE": server.api_base}
        for program, *arguments in commands:
            assert program == "gencode"
            done = gencode(*(where(each, tmp_path) for each in arguments), home=tmp_path, env=env)
            assert done.returncode == 0, done.stderr
            said += done.stdout
        assert "pass@5   1.0000" in said
        assert "pass@1   0.8333" in said
    code = "\n".join(blocks(page, "python"))
    assert printed_by(code, tmp_path) == ["wrong_answer 1 of 2", "{'pass@1': 1.0, 'pass@5': 1.0}"]


def python_of(page: str) -> str:
    """The Python blocks of a page as one program."""
    return "\n".join(blocks(ROOT / "docs" / page, "python"))


@pytest.mark.thorough
def test_the_page_on_python_runs(tmp_path: Path) -> None:
    with ScriptedServer([("", f"```python\n{PROGRAM}\n```")]) as server:
        key = {"OPENAI_API_KEY": "sk-of-the-page", "OPENAI_API_BASE": server.api_base}
        printed = printed_by(python_of("python_api.md"), tmp_path, key)
    assert printed == [
        "wrong_answer 1 of 2",
        "['accepted', 'wrong_answer'] 8",
        "accepted",
        "['wrong_answer', 'accepted']",
        "['cba', 'zyx']",
        "['accepted', 'wrong_answer']",
        "{'pass@1': 1.0} local",
        "{'pass@1': 1.0}",
        "2 compared, 0 different",
        "{'pass@1': 0.8333333333333334}",
        "1 problem validated",
        "{'pass@1': 0.0} {'pass@1': 0.0}",
        "4 programs judged",
    ]


@pytest.mark.thorough
def test_the_page_on_reward_functions_runs(tmp_path: Path) -> None:
    # In a process of its own: the sandbox of the page stays open.
    done = subprocess.run(
        [sys.executable, "-c", python_of("reward_functions.md")],
        capture_output=True, text=True, check=True, timeout=240, cwd=ROOT,
        env=os.environ | {"GENCODE_HOME": str(tmp_path)},
    )  # fmt: skip
    printed = done.stdout.splitlines()
    assert printed == [
        "[1.0, 0.5, 0.0]",
        "[1.0, 0.0, None]",
        "{'score': 1.0, 'acc': 1.0, 'tests_passed': 1, 'tests_total': 1, 'judged': True, 'infra_failed': False, "
        "'data_failed': False}",
        "[[1.0], [0.0, 0.0]]",
    ]


@pytest.mark.thorough
def test_the_page_on_run_folders_runs(tmp_path: Path) -> None:
    with ScriptedServer([("", f"```python\n{PROGRAM}\n```")]) as server:
        key = {"OPENAI_API_KEY": "sk-of-the-page", "OPENAI_API_BASE": server.api_base}
        printed = printed_by(python_of("runs.md"), tmp_path, key)
    assert printed[0] == "[('Jars', 0, 2), ('Jars', 1, 2)]"
    assert printed[1].startswith("Counter({('generated', 'accepted'): 2")
    assert printed[2].startswith("['answer', ")
    assert len(printed) == 4


@pytest.mark.thorough
def test_the_plug_ins_of_the_page_on_plug_ins_are_found_and_used(tmp_path: Path, monkeypatch) -> None:
    (module,), (points,) = (blocks(ROOT / "docs" / "plugins.md", language) for language in ("python", "toml"))
    (tmp_path / "my_plugin.py").write_text(module)
    metadata = tmp_path / "mine-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n")
    groups = tomllib.loads(points)["project"]["entry-points"]
    lines = [f"[{group}]\n" + "".join(f"{n} = {v}\n" for n, v in found.items()) for group, found in groups.items()]
    (metadata / "entry_points.txt").write_text("".join(lines))
    flow = tmp_path / "flow"
    flow.mkdir()
    (flow / "flow.toml").write_text('description = "x"\n\n[[stages]]\nkind = "constant"\n')
    monkeypatch.syspath_prepend(tmp_path)
    env = {"OPENAI_API_KEY": "k"}
    options = ("--flow", flow, "--model", "openai/none", "--run", "mine", "--output_dataset_name", "answers")
    solved = gencode("gen", "solve_set", "--dataset_name", "sums:3", *options, home=tmp_path, env=env)
    assert solved.returncode == 0, solved.stderr
    judged = ("--evaluation_test_type", "private_tests", "--k", "1", "-o", "code_tester.known_solutions=0")
    scored = gencode(
        "eval", "eval_gen_solutions", "--solution_dataset", "answers", "--dataset_name", "sums:3", *judged,
        home=tmp_path, env=env,
    )  # fmt: skip
    assert "pass@1   0.6667" in scored.stdout, scored.stdout + scored.stderr
    require_plugin.cache_clear()
    del sys.modules["my_plugin"]


def test_no_page_or_message_advises_to_install_the_package_from_pypi() -> None:
    texts = [*PAGES, ROOT / "Makefile", *(ROOT / "alpha_codium").rglob("*.py")]
    assert [path for path in texts if re.search(r"pip(x)? install '?alpha_codium", path.read_text("utf-8"))] == []


def test_the_index_lists_every_page() -> None:
    index = (ROOT / "docs" / "README.md").read_text("utf-8")
    assert [page.name for page in PAGES if page.parent.name == "docs" and f"({page.name})" not in index] == [
        "README.md"
    ]


def test_the_navigation_of_the_site_lists_every_page() -> None:
    text = (ROOT / "mkdocs.yml").read_text("utf-8")
    assert [
        page.name for page in PAGES if page.parent.name == "docs" and not re.search(rf"\b{page.name}$", text, re.M)
    ] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_to_a_heading_leads_to_one(page: Path) -> None:
    for target, heading in re.findall(r"\]\(([^)#:]*)#([^)]+)\)", page.read_text("utf-8")):
        text = (page.parent / target if target else page).read_text("utf-8")
        titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
        assert heading in {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}, heading


@pytest.mark.thorough
def test_the_backend_of_the_page_on_backends_passes_the_suite_by_the_command_that_is_shown(tmp_path: Path) -> None:
    page = ROOT / "docs" / "backends.md"
    (module,), (points,), (command,) = (blocks(page, language) for language in ("python", "toml", "console"))
    ((name, target),) = tomllib.loads(points)["project"]["entry-points"]["alpha_codium.sandboxes"].items()
    (tmp_path / f"{target.partition(':')[0]}.py").write_text(module)
    metadata = tmp_path / "mine-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(f"[alpha_codium.sandboxes]\n{name} = {target}\n")
    program, *arguments = shlex.split(command.removeprefix("$ "))
    assert program == "python"
    done = subprocess.run(
        [sys.executable, *arguments, "-p", "alpha_codium.sandbox.conformance", "-k", "test_jobs", "-rA"],
        capture_output=True, text=True, check=False, timeout=240, cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr
    assert f"PASSED test_jobs.py::test_jobs_run_beside_each_other[{name}]" in done.stdout


def test_the_page_of_commands_is_what_the_commands_say() -> None:
    text = runpy.run_path(str(ROOT / "docs" / "make_commands.py"))["text"]()
    assert (ROOT / "docs" / "commands.md").read_text("utf-8") == text, "run `make docs`"


def test_the_readme_names_the_two_commands() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    makefile = (ROOT / "Makefile").read_text("utf-8")
    for target in ("demo", "test"):
        assert f"make {target}" in readme
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_to_a_file_leads_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text("utf-8")):
        assert target.startswith("https://") or (page.parent / target).exists(), target


def test_the_flow_shown_in_the_docs_is_the_shipped_one() -> None:
    shown, *_ = blocks(ROOT / "docs" / "flows.md", "toml")
    shipped = load_flow("write_and_repair").folder / "flow.toml"
    assert tomllib.loads(shown) == tomllib.loads(shipped.read_text("utf-8"))


def test_every_gencode_command_that_a_page_mentions_exists() -> None:
    known = (ROOT / "docs" / "commands.md").read_text("utf-8")
    for page in PAGES:
        for group, names in re.findall(r"`gencode (\w+) ([\w |\\]+?)[` ]", page.read_text("utf-8")):
            for name in re.split(r"[\s|\\]+", names.strip()):
                said = f"{page.name}: gencode {group} {name}"
                assert f"## gencode {group} {name}\n" in known or not name.islower(), said


def test_the_page_on_the_repository_benchmark_names_every_measure_and_its_options_exist() -> None:
    from alpha_codium.cli.repo_run import run
    from alpha_codium.repository.running.summary import MEASURES

    page = ROOT / "docs" / "repository.md"
    text = page.read_text("utf-8")
    assert [name for name in MEASURES if f"| `{name}` |" not in text] == []
    options = {name for parameter in run.params for name in parameter.opts}
    assert set(re.findall(r"^\| `(--?\w+)[ =]", text, re.MULTILINE)) <= options
