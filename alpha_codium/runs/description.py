"""What `run.toml` must look like, so that a file which was cut off or changed by hand is told from a run's own.

Kinds of runs keep what they like in it; what stands there under a name that we know is of its type.
"""

import tomllib
from pathlib import Path
from typing import Any

from alpha_codium.errors import UserError

NUMBER = (int, float)
TYPES: dict[str, type | tuple[type, ...]] = {
    "command": str,
    "dataset_name": str,
    "split_name": str,
    "fingerprint": str,
    "output_dataset_name": str,
    "samples": int,
    "sample_rate": NUMBER,
    "flow": str,
    "without": list,
    "flow_fingerprint": str,
    "settings": dict,
    "code_tester": dict,
    "versions": dict,
}
# What those who read a run of this command count on, beside the command itself.
NEEDED = {
    "solve_set": ("dataset_name", "fingerprint", "samples", "sample_rate", "flow", "flow_fingerprint", "settings"),
}
MEND = "put back what it was, or start a new run"


def read_description(path: Path) -> dict[str, Any]:
    """What a run's file says; raises UserError where it can't be read, or isn't one that a run has written."""
    try:
        values = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise UserError(f"{path} can't be read: {error.strerror}: {MEND}") from error
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path} can't be read: it is no TOML ({error}): {MEND}") from error
    wrong = next((name for name, kind in TYPES.items() if name in values and not _is(values[name], kind)), None)
    if wrong is not None:
        raise UserError(f"{path} was changed: {wrong} can't be {values[wrong]!r:.80}: {MEND}")
    needed = ("command", *NEEDED.get(values.get("command", ""), ()))
    missing = [name for name in needed if name not in values]
    if missing:
        raise UserError(f"{path} was changed, or cut off: it lacks {', '.join(missing)}: {MEND}")
    return values


def _is(value: Any, kind: type | tuple[type, ...]) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)
