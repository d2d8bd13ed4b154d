"""The tests of what was changed, for `make check`: prints their paths.

`alpha_codium/ROOM/NAME.py` is tested by `tests/ROOM/test_NAME*.py`, or by all of `tests/ROOM` where no such file was
there before the change, and by `tests/test_ROOM*.py` where there is no such folder; a changed test file by itself;
prompts, settings and pages by the tests of `DATA`; some modules also by those of `MORE`. What every change may break is
always tested: `ALWAYS`.
"""

import subprocess
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = Path("alpha_codium")
ALWAYS = ("tests/test_imports.py", "tests/test_public_names.py", "tests/cli/test_main.py")
SETTINGS = "tests/flows/test_switches.py::test_every_setting_has_a_test_that_it_changes_what_happens"
PAGES = ["tests/test_docs.py"]
DATA = {
    "docs": PAGES,
    "README.md": PAGES,
    "CONTRIBUTING.md": PAGES,
    "SECURITY.md": PAGES,
    "CHANGELOG.md": [*PAGES, "tests/test_packaging.py"],
    "CITATION.cff": ["tests/test_packaging.py"],
    "setup.py": ["tests/test_packaging.py"],
    "mkdocs.yml": PAGES,
    "prompts": ["tests/flows/test_prompts.py", "tests/flows/test_loading.py"],
    "settings": ["tests/test_config.py", SETTINGS],
}
# Tests of single modules beside those that mirror them.
MORE = {PACKAGE / "checkers.py": ["tests/test_linear_work.py"]}


def affected(changed: Iterable[Path], root: Path = ROOT, added: Collection[Path] = ()) -> list[str]:
    """The paths of the tests of these changed files, of which some were added; all paths are relative to `root`."""
    found = dict.fromkeys(ALWAYS)
    for path in changed:
        found |= dict.fromkeys(_tests_of(path, root, {str(each) for each in added}))
    return list(found)


def _tests_of(path: Path, root: Path, added: Collection[str]) -> Iterator[str]:
    yield from (*DATA.get(path.parts[0], ()), *MORE.get(path, ()))
    if path.suffix != ".py":
        return
    if path.parts[0] == "tests" and path.name.startswith("test_") and (root / path).exists():
        yield str(path)
    if not path.is_relative_to(PACKAGE):
        return
    folder = Path("tests") / path.relative_to(PACKAGE).parent
    while not (root / folder).is_dir():
        folder = folder.parent
    stem = path.stem if path.stem != "__init__" else path.parent.name
    mirrored = [test for test in _named(stem.strip("_"), root / folder, root) if test not in added]
    yield from mirrored or ([str(folder)] if folder != Path("tests") else _named(path.parent.name, root / folder, root))


def _named(stem: str, folder: Path, root: Path) -> list[str]:
    return sorted(str(test.relative_to(root)) for test in folder.glob(f"test_{stem}*.py"))


def changed_files(which: str = "") -> list[Path]:
    """The files that differ from origin's main branch, or from the last commit where there is no origin.

    `which` is a letter of git's --diff-filter, such as A for those that were added.
    """
    known = subprocess.run(
        ["git", "rev-parse", "--verify", "-q", "origin/main"], cwd=ROOT, capture_output=True, check=False
    )
    base = "origin/main" if known.returncode == 0 else "HEAD"
    commands = (
        ["git", "diff", "--name-only", f"--diff-filter={which}", base],
        ["git", "ls-files", "--others", "--exclude-standard"],
    )
    lines = (subprocess.run(each, cwd=ROOT, capture_output=True, text=True, check=True).stdout for each in commands)
    return [Path(line) for text in lines for line in text.splitlines()]


if __name__ == "__main__":
    print(" ".join(affected(changed_files(), added=changed_files("A"))))
