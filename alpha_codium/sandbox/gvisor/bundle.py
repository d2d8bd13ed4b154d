"""The OCI bundle that runsc runs: a read-only root with the interpreter's folders, and nothing else of the host.

The root has empty folders for the mounts, and the links of the host's root (`/lib`). Fields are those of the OCI
runtime specification 1.0.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from alpha_codium.sandbox.engine.containers.launch import CAPABILITIES
from alpha_codium.sandbox.engine.inside import wire
from alpha_codium.sandbox.engine.interpreter import Interpreter
from alpha_codium.sandbox.engine.jail import SCRATCH_BYTES

UNLIMITED = (1 << 64) - 1
WRITABLE = {wire.SCRATCH: "mode=755", "/tmp": "mode=1777", "/dev/shm": "mode=1777"}  # noqa: S108 - the container's


def make_bundle(folder: Path, interpreter: Interpreter, script: str, environment: Mapping[str, str]) -> None:
    """Make a bundle in an empty folder."""
    root = folder / "root"
    root.mkdir(mode=0o755)
    executable = os.path.realpath(interpreter.executable)
    mounts = mounts_of(interpreter, executable)
    for link, target in interpreter.links:
        place = root / link.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(target)
    places = [root / mount["destination"].lstrip("/") for mount in mounts]
    for place, mount in zip(places, mounts, strict=True):
        is_file = Path(mount["source"]).is_file()
        (place.parent if is_file else place).mkdir(parents=True, exist_ok=True)
        if is_file:
            place.touch()
    for place in places:
        for above in place.parents:
            if above == root:
                break
            # Not readable: its entries are names of the host.
            above.chmod(0o711)
    config = configuration([executable, "-S", "-s", "-c", script], environment, mounts)
    (folder / "config.json").write_text(json.dumps(config))


def mounts_of(interpreter: Interpreter, executable: str) -> list[dict[str, Any]]:
    """Return the mounts: the host's folders that are visible, those hidden in them, and those that are writable."""
    shown = list(interpreter.read_only)
    if not any(Path(executable).is_relative_to(path) for path in shown):
        shown.append(executable)
    return [
        {"destination": "/proc", "type": "proc", "source": "proc"},
        *({"destination": p, "type": "bind", "source": p, "options": ["bind", "ro", "nosuid"]} for p in shown),
        *(tmpfs(path, "ro", "size=4k") for path in ("/sys", *interpreter.hidden)),
        *(tmpfs(path, "rw", f"size={SCRATCH_BYTES}", mode) for path, mode in WRITABLE.items()),
    ]


def tmpfs(path: str, *options: str) -> dict[str, Any]:
    """Return the mount of a file system in memory."""
    return {
        "destination": path,
        "type": "tmpfs",
        "source": "tmpfs",
        "options": ["nosuid", "nodev", "noexec", *options],
    }


def configuration(command: list[str], environment: Mapping[str, str], mounts: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the `config.json` of a bundle."""
    capabilities = [f"CAP_{name}" for name in CAPABILITIES]
    unlimited = {"hard": UNLIMITED, "soft": UNLIMITED}
    return {
        "ociVersion": "1.0.0",
        "root": {"path": "root", "readonly": True},
        "hostname": "sandbox",
        "process": {
            "terminal": False,
            "user": {"uid": 0, "gid": 0},
            "args": command,
            "env": [f"{name}={value}" for name, value in environment.items()],
            "cwd": "/",
            "capabilities": dict.fromkeys(("bounding", "effective", "permitted"), capabilities),
            "noNewPrivileges": True,
            "rlimits": [
                {"type": "RLIMIT_STACK", **unlimited},
                {"type": "RLIMIT_NOFILE", "hard": 4096, "soft": 4096},
            ],
        },
        "mounts": mounts,
        "linux": {"namespaces": [{"type": kind} for kind in ("pid", "network", "ipc", "uts", "mount")]},
    }
