"""An engine, and an image of this machine's own python, for the oci backend: made once for all test runs of this user.

The image holds the standard library of `/usr/bin/python3` and the shared libraries that it needs, nothing else, so it
is made in seconds and without network. Images as users have them are built in `tests/docker`.
"""

import fcntl
import functools
import hashlib
import json
import os
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

TESTS_HOME = Path(os.environ.get("GENCODE_TEST_HOME") or Path.home() / ".cache" / "gencode-tests")
STORE = TESTS_HOME / "containers"
PYTHON = "/usr/bin/python3"
ASK = "import json, sys, sysconfig; print(json.dumps([sys.version.split()[0], sysconfig.get_path('stdlib')]))"
# Podman takes no longer one.
LONGEST_RUNROOT = 50
# To be raised when what is in the image changes.
VERSION = 2
LEFT_OUT = {"__pycache__", "test", "idlelib", "tkinter", "lib2to3", "ensurepip", "pydoc_data"}
# Debian's runsc of 2022 knows nothing of hybrid control groups.
RUNSC_FLAGS = tuple(f"--runtime-flag={flag}" for flag in ("ignore-cgroups", "platform=ptrace", "network=none"))


@functools.cache
def driver() -> str:
    """How images are kept: in layers where this machine mounts them, else as whole copies, which takes far longer."""
    STORE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=STORE) as folder:
        trial = "mkdir l u w m && mount -t overlay overlay -o lowerdir=l,upperdir=u,workdir=w m"
        done = subprocess.run(["unshare", "--mount", "sh", "-c", trial], cwd=folder, capture_output=True, check=False)
    return "vfs" if done.returncode else "overlay"


def storage() -> tuple[str, ...]:
    """Options of podman and buildah: images and containers of this user's tests only."""
    state = f"{STORE}/run-{driver()}"
    if len(state) > LONGEST_RUNROOT:
        state = f"/tmp/gencode-tests-{hashlib.sha256(state.encode()).hexdigest()[:16]}"
    return f"--root={STORE}/{driver()}", f"--runroot={state}", f"--storage-driver={driver()}"


def podman() -> tuple[str, ...]:
    """The engine of the tests."""
    return "podman", *storage(), "--cgroup-manager=cgroupfs"


@functools.cache
def problem(runtime: str = "runsc") -> str:
    """Why containers can't be run here, or nothing."""
    if os.geteuid() != 0:
        return "running containers needs root here"
    missing = [name for name in ("podman", runtime, PYTHON) if shutil.which(name) is None]
    if missing:
        return f"there is no {' and no '.join(missing)}: apt-get install podman {runtime} python3"
    return ""


def installed() -> dict[str, Any]:
    """The options of the backend, in gVisor; skips the test where it can't be had."""
    return options("runsc")


def options(runtime: str) -> dict[str, Any]:
    """The options of the backend under that runtime; skips the test where it can't be had."""
    if problem(runtime):
        pytest.skip(problem(runtime))
    flags = RUNSC_FLAGS if runtime == "runsc" else ()
    return {"image": image(), "engine": " ".join((*podman(), *flags)), "runtime": shutil.which(runtime)}


@functools.cache
def image() -> str:
    """The name of the image, which is made where it isn't there yet."""
    version, library = json.loads(subprocess.check_output([PYTHON, "-I", "-c", ASK]))
    name = f"localhost/gencode-test-python:{version}-{VERSION}"
    STORE.mkdir(parents=True, exist_ok=True)
    with (STORE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if subprocess.run([*podman(), "image", "exists", name], check=False).returncode:
            with tempfile.NamedTemporaryFile(suffix=".tar") as file:
                pack(file.name, Path(library))
                subprocess.run([*podman(), "import", file.name, name], check=True, capture_output=True)
    return name


def pack(target: str, library: Path) -> None:
    """A file system with the interpreter and what it needs, as a tar file."""
    with tarfile.open(target, "w") as tar:
        tar.add(os.path.realpath(PYTHON), PYTHON.lstrip("/"))
        tar.add(library, str(library).lstrip("/"), filter=without_the_rest)
        for needed in sorted(shared_libraries([Path(PYTHON), *library.glob("lib-dynload/*.so")])):
            tar.add(os.path.realpath(needed), needed.lstrip("/"))
        for folder, mode in (("tmp", 0o1777), ("proc", 0o755), ("sys", 0o755), ("dev", 0o755)):
            entry = tarfile.TarInfo(folder)
            entry.type, entry.mode = tarfile.DIRTYPE, mode
            tar.addfile(entry)


def without_the_rest(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    """An entry as it is packed, or nothing where nobody needs it; what leads elsewhere is left out, too."""
    name = Path(entry.name).name
    return None if name in LEFT_OUT or name.startswith("config-") or entry.issym() else entry


def shared_libraries(binaries: list[Path]) -> Iterator[str]:
    """The paths of all libraries that these load."""
    told = subprocess.run(["ldd", *map(str, binaries)], capture_output=True, text=True, check=False).stdout
    return iter({word for word in told.split() if word.startswith("/") and not word.endswith(":")})
