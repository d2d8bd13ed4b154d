"""The sandbox's own environment: where it is, how it is made, and which CPython 3.9 it is made of.

The wheel `code-contests-tester` 0.1.6 works on CPython 3.9 only, for x86-64. The programs under test run on any
interpreter; this one only holds the sandbox.
"""

import fcntl
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from alpha_codium.errors import SandboxError
from alpha_codium.paths import home

WHEEL = "code-contests-tester==0.1.6"
INSTALL = "gencode sandbox install code_contests"
GET_PYTHON = "get one with `pyenv install 3.9` or `uv python install 3.9`, or name it: --python PATH"
ASK = "import platform, sys; print(platform.python_implementation(), '.'.join(map(str, sys.version_info[:2])))"
NEEDED = "CPython 3.9"
Say = Callable[[str], None]


def default_folder() -> Path:
    """Where the environment is, if the settings don't name another folder; raises UserError if that is unwritable."""
    return home() / "environments" / "code_contests"


def python_in(folder: Path) -> Path:
    """The environment's interpreter."""
    return folder / "bin" / "python"


def is_installed(folder: Path) -> bool:
    """Whether the environment there is whole, and its interpreter still there."""
    marker = folder / "installed"
    return marker.is_file() and marker.read_text("utf-8").strip() == WHEEL and python_in(folder).exists()


def require(folder: Path) -> Path:
    """The environment's interpreter; raises SandboxError where it isn't installed."""
    if not is_installed(folder):
        raise SandboxError(f"the C++ sandbox is not installed in {folder}: run `{INSTALL}`")
    return python_in(folder)


def install(folder: Path, python: str = "", say: Say = print) -> bool:
    """Make the environment in `folder`, unless it is there: whether there was anything to do.

    `python` is a CPython 3.9; where it is empty one is looked for. Raises SandboxError where there is none, where this
    machine isn't one that the wheel is for, or where pip fails.
    """
    check_machine()
    folder.parent.mkdir(parents=True, exist_ok=True)
    with locked(folder.with_suffix(".lock")):
        if is_installed(folder):
            return False
        base = find_python39(python)
        say(f"making an environment of {base} in {folder}")
        run([base, "-m", "venv", "--clear", str(folder)])
        say(f"installing {WHEEL}")
        pip = [str(python_in(folder)), "-m", "pip"]
        run([*pip, "install", "--quiet", "--disable-pip-version-check", WHEEL])
        # Last: what was cut off before is made anew the next time.
        (folder / "installed").write_text(f"{WHEEL}\n", "utf-8")
        return True


def check_machine() -> None:
    """Raise SandboxError where the wheel is for another kind of machine."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        raise SandboxError(
            f"the C++ sandbox exists for Linux on x86_64 only, and this is {sys.platform} on {platform.machine()}: "
            "use -o code_tester.tester_type=local"
        )


def find_python39(wanted: str = "") -> str:
    """A CPython 3.9: `wanted`, else pyenv's newest, else one of the path; raises SandboxError."""
    if wanted:
        said = version_of(wanted)
        if said != NEEDED:
            raise SandboxError(
                f"--python {wanted} is {said or 'no python'}, and {WHEEL} needs CPython 3.9: {GET_PYTHON}"
            )
        return wanted
    for candidate in candidates():
        # Asked, since pyenv leaves commands on the path that only say where they are not.
        if version_of(candidate) == NEEDED:
            return candidate
    raise SandboxError(f"{WHEEL} needs CPython 3.9, and there is none here: {GET_PYTHON}")


def candidates() -> Iterator[str]:
    """Where a CPython 3.9 may be."""
    root = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    versions = sorted(root.glob("versions/3.9.*"), key=lambda path: int("0" + path.name.rpartition(".")[2]))
    yield from (str(path / "bin" / "python3.9") for path in reversed(versions))
    found = shutil.which("python3.9")
    if found:
        yield found


def version_of(python: str) -> str:
    """What an interpreter says it is; empty where it doesn't answer."""
    try:
        done = subprocess.run([python, "-I", "-c", ASK], capture_output=True, text=True, check=False, timeout=60)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def run(command: list[str]) -> None:
    """Run a step of the installation; raises SandboxError with the last line that it said."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = [line for line in (done.stderr or done.stdout).splitlines() if line.strip()]
        raise SandboxError(f"`{' '.join(command[1:5])} ...` failed: {lines[-1] if lines else done.returncode}")


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """While no other process installs the same."""
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
