"""Runs to report on, made by the command line, and a real browser."""

import functools
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.data.records import record, write_jsonl
from tests.gen.running import home, model_arguments, run_cli
from tests.servers.scripted import ScriptedServer, Text, last_user

__all__ = ["home"]

NONE = {"input": [], "output": []}
DOUBLE = {"input": ["1\n", "2\n"], "output": ["2\n", "4\n"]}
RIGHT = "print(int(input()) * 2)"
WRONG = "print(0)"
CRASH = "import sys\nprint('before', file=sys.stderr)\nprint(int('x'))"
# What would run, load something or break the page if any of it became markup.
HOSTILE = (
    "</script><script>owned = 1</script><img src=x onerror='owned = 1'>"
    "<!-- --><style>body{display:none}</style>\u2028&lt;{{7*7}}]]>"
)


class Page:
    """A page of a report in the browser; `said` is what its console said, `asked` all addresses that it asked for."""

    def __init__(self, page: Any) -> None:
        self.page, self.said, self.asked = page, [], []
        page.on("console", lambda message: self.said.append(message.text))
        page.on("pageerror", lambda error: self.said.append(str(error)))
        page.on("request", lambda request: self.asked.append(request.url))

    def open(self, path: Path, fragment: str = "") -> "Page":
        """Open a file, or the same file at another place."""
        self.page.goto(f"{path.as_uri()}#{fragment}")
        self.page.wait_for_selector("main:not([hidden]) h1")
        return self

    def text(self, selector: str) -> str:
        """The text of the first element that is found, waited for."""
        return self.page.locator(selector).first.inner_text()

    def fragment(self) -> str:
        """The part of the address that says what is shown."""
        return self.page.evaluate("decodeURIComponent(location.hash)").replace("+", " ")

    def press(self, *keys: str) -> None:
        """Press keys, one after the other."""
        for key in keys:
            self.page.keyboard.press(key)
            self.page.wait_for_timeout(80)


@functools.cache
def chromium() -> str:
    """The path of a Chromium of the system; the tests bring none."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), "")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium without a window, for a module: Playwright keeps an event loop running in the thread."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright isn't installed")
    if not chromium():
        pytest.skip("there is no Chromium: install Debian's package chromium")
    with playwright.sync_playwright() as started:
        arguments = ["--no-sandbox"] if os.getuid() == 0 else []
        opened = started.chromium.launch(executable_path=chromium(), args=arguments)
        yield opened
        opened.close()


@pytest.fixture
def page(browser: Any) -> Iterator[Page]:
    """An empty page of 1280 pixels."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    yield Page(context.new_page())
    context.close()


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The page on the run `one` of three problems: solved by one sample of two, by none, and without a sample.

    Its home is that of the module's tests that don't ask for one of their own.
    """
    folder = tmp_path_factory.mktemp("scored")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("GENCODE_HOME", str(folder / "home"))
        yield score(folder, "one", {"p/1": [WRONG, RIGHT], "p/2": [CRASH, WRONG], "p/3": []}, cf_tags=["maths"])


@pytest.fixture(scope="session")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The source of axe-core, which npm has; it checks that everybody can use the page."""
    if shutil.which("npm") is None:
        pytest.skip("there is no npm to get axe-core with")
    folder = tmp_path_factory.mktemp("axe")
    done = subprocess.run(
        ["npm", "pack", "axe-core@4.14.1"], cwd=folder, capture_output=True, text=True, timeout=120, check=False
    )
    if done.returncode != 0:
        pytest.skip(f"npm can't get axe-core: {done.stderr.strip()[-200:]}")
    shutil.unpack_archive(next(folder.glob("axe-core-*.tgz")), folder)
    return (folder / "package" / "axe.min.js").read_text()


def score(folder: Path, run: str, programs: dict[str, list[str]], *options: str, **fields: object) -> Path:
    """Score programs of problems that ask for twice a number; `fields` are the problems'. Returns the page."""
    tests: dict[str, Any] = {"public_tests": NONE, "private_tests": DOUBLE, **fields}
    problems = write_jsonl(folder / f"{run}-problems.jsonl", [record(name, **tests) for name in programs])
    rows = [{"task_id": name, "solution": sources} for name, sources in programs.items() if sources]
    samples = write_jsonl(folder / f"{run}-samples.jsonl", rows)
    done = run_cli("eval", "score", samples, "--dataset_name", problems, "--k", 1, "--run", run, *options)
    assert done.returncode == 0, done.stderr
    return report(run)


def report(*runs: str) -> Path:
    """Write the page on runs."""
    done = run_cli("report", *runs)
    assert done.returncode == 0, done.stderr
    return Path(done.stdout.strip())


def solve(folder: Path, answers: list[str], run: str = "made") -> Path:
    """Solve a problem by a flow that repairs, with these answers to its calls, and judge it; returns the problems."""
    problems = write_jsonl(
        folder / "problems.jsonl",
        [record("p/1", public_tests={"input": ["3\n"], "output": ["6\n"]}, private_tests=DOUBLE)],
    )
    left = iter(answers)

    def answer(body: dict[str, Any]) -> Text:
        return Text(f"Reply to {len(last_user(body))} characters.\n```python\n{next(left, answers[-1])}\n```")

    with ScriptedServer(answer) as server:
        done = run_cli(
            *("gen", "solve_set", "--dataset_name", problems, "--flow", "write_and_repair", "--samples", 1),
            *("--run", run, "--output_dataset_name", folder / "answers"),
            *("-o", "public_tests.max_allowed_calls=4", "-o", "initial_code_generation.max_attempts=1"),
            *("-o", "public_tests.use_self_reflection=false"),
            *model_arguments(server),
        )
    assert done.returncode == 0, done.stderr
    return problems
