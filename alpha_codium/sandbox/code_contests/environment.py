"""The virtual environment of DeepMind's sandbox: its location, its installation, and the CPython 3.9 that it uses.

The wheel `code-contests-tester` 0.1.6 works only on CPython 3.9 for x86-64. This interpreter only holds the sandbox:
programs under test run on any interpreter.
"""

import fcntl
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from alpha_codium.errors import SandboxError
from alpha_codium.paths import home

WHEEL = "code-contests-tester==0.1.6"
INSTALL = "gencode sandbox install code_contests"
GET_PYTHON = "get one with `pyenv install 3.9` or `uv python install 3.9`, or name it: `python` PATH"
ASK = "import platform, sys; print(platform.python_implementation(), '.'.join(map(str, sys.version_info[:2])))"
NEEDED = "CPython 3.9"


def default_folder() -> Path:
    """Return where the environment is, unless the settings name another folder; raises UserError if unwritable."""
    return home() / "environments" / "code_contests"


def is_installed(folder: Path) -> bool:
    """Whether the environment is complete, and its interpreter still exists."""
    marker = folder / "installed"
    return marker.is_file() and marker.read_text("utf-8").strip() == WHEEL and (folder / "bin" / "python").exists()


def require(folder: Path) -> Path:
    """Return the environment's interpreter; raises SandboxError if it isn't installed."""
    if not is_installed(folder):
        raise SandboxError(f"the C++ sandbox is not installed in {folder}: run `{INSTALL}`")
    return folder / "bin" / "python"


def install(folder: Path, python: str = "", say: Callable[[str], None] = print) -> bool:
    """Make the environment in `folder`, and return whether there was anything to do.

    `python` is a CPython 3.9; if it is empty, one is searched for. Raises SandboxError if there is none, if the wheel
    isn't made for this machine, or if pip fails.
    """
    if sys.platform != "linux" or platform.machine() != "x86_64":
        raise SandboxError(
            f"the C++ sandbox exists for Linux on x86_64 only, and this is {sys.platform} on {platform.machine()}: "
            "use `ac.open_sandbox('local')`"
        )
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_suffix(".lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if is_installed(folder):
            return False
        base = find_python39(python)
        say(f"making an environment of {base} in {folder}")
        run([base, "-m", "venv", "--clear", str(folder)])
        say(f"installing {WHEEL}")
        pip = [str(folder / "bin" / "python"), "-m", "pip"]
        run([*pip, "install", "--quiet", "--disable-pip-version-check", WHEEL])
        # Written last: an installation that was cut off is made anew the next time.
        (folder / "installed").write_text(f"{WHEEL}\n", "utf-8")
        return True


def find_python39(wanted: str = "") -> str:
    """Return a CPython 3.9: `wanted`, else pyenv's newest, else the one on the path; raises SandboxError."""
    if wanted:
        found = version_of(wanted)
        if found != NEEDED:
            raise SandboxError(f"`python` {wanted} is {found or 'no python'}, and {WHEEL} needs {NEEDED}: {GET_PYTHON}")
        return wanted
    root = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    versions = sorted(root.glob("versions/3.9.*"), key=lambda path: int("0" + path.name.rpartition(".")[2]))
    on_path = shutil.which("python3.9")
    for candidate in (*(str(path / "bin" / "python3.9") for path in reversed(versions)), *filter(None, (on_path,))):
        # Run it: pyenv puts commands on the path that only print that they aren't installed.
        if version_of(candidate) == NEEDED:
            return candidate
    raise SandboxError(f"{WHEEL} needs {NEEDED}, and there is none here: {GET_PYTHON}")


def version_of(python: str) -> str:
    """Return implementation and version of an interpreter, or nothing if it can't be run."""
    try:
        done = subprocess.run([python, "-I", "-c", ASK], capture_output=True, text=True, check=False, timeout=60)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def run(command: list[str]) -> None:
    """Run a step of the installation; raises SandboxError with the last line of its output."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = [line for line in (done.stderr or done.stdout).splitlines() if line.strip()]
        raise SandboxError(f"`{' '.join(command[1:5])} ...` failed: {lines[-1] if lines else done.returncode}")
