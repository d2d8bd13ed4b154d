"""The tests of what was changed, for `make check`: prints their paths.

`alpha_codium/ROOM/NAME.py` is tested by `tests/ROOM/test_NAME*.py`, or by all of `tests/ROOM` where there is no such
file; a changed test file by itself. What every change may break is always tested: `ALWAYS`.
"""

import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = Path("alpha_codium")
ALWAYS = ("tests/test_imports.py", "tests/test_public_names.py", "tests/cli/test_main.py")


def affected(changed: Iterable[Path], root: Path = ROOT) -> list[str]:
    """The paths of the tests of these changed files, in order; all paths are relative to `root`."""
    found = dict.fromkeys(ALWAYS)
    for path in changed:
        found |= dict.fromkeys(_tests_of(path, root))
    return list(found)


def _tests_of(path: Path, root: Path) -> Iterator[str]:
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
    mirrored = sorted(str(test.relative_to(root)) for test in (root / folder).glob(f"test_{stem.strip('_')}*.py"))
    yield from mirrored or ([str(folder)] if folder != Path("tests") else [])


def changed_files() -> list[Path]:
    """The files that differ from origin's main branch, or from the last commit where there is no origin."""
    known = subprocess.run(
        ["git", "rev-parse", "--verify", "-q", "origin/main"], cwd=ROOT, capture_output=True, check=False
    )
    base = "origin/main" if known.returncode == 0 else "HEAD"
    commands = (["git", "diff", "--name-only", base], ["git", "ls-files", "--others", "--exclude-standard"])
    lines = (subprocess.run(each, cwd=ROOT, capture_output=True, text=True, check=True).stdout for each in commands)
    return [Path(line) for text in lines for line in text.splitlines()]


if __name__ == "__main__":
    print(" ".join(affected(changed_files())))
