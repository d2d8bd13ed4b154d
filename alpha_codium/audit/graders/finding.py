"""Where a grader is: an adapter of ours, a file or module, a command, a URL, or a metric."""

import importlib.util
import shlex
from importlib import resources
from pathlib import Path

from alpha_codium.audit.graders.process import Grader
from alpha_codium.errors import UserError, nearest

TARGET, DIALECT = "GENCODE_AUDIT_TARGET", "GENCODE_AUDIT_DIALECT"
FORMS = (
    "give a file (grader.py, or grader.py:function), a module (module:function), command:COMMAND, a URL, metric:NAME, "
    "or the name of an adapter"
)
# Modules of `adapters` that are no adapter by themselves.
PARTS = {"__init__", "command", "lcb_samples", "metric", "service"}


def adapters() -> list[str]:
    """Return the names of our adapters."""
    folder = Path(str(resources.files("alpha_codium.audit.adapters")))
    return sorted(path.stem for path in folder.glob("*.py") if path.stem not in PARTS)


def find_grader(text: str, python: str, form: str = "stdin", dialect: str = "judge") -> Grader:
    """Return the grader that `text` names; raises UserError if it names none."""
    kind, _, target = text.partition(":")
    if kind in ("http", "https"):
        return Grader(
            text, _adapter("service"), python=python, variables={TARGET: text, DIALECT: dialect}, network=True
        )
    if kind == "command":
        words = _from_anywhere(target)
        variables, files = {TARGET: shlex.join(words)}, tuple(word for word in words if Path(word).is_absolute())
        return Grader(text, _adapter(kind), python=python, variables=variables, files=files)
    if kind == "metric":
        files = (target,) if Path(target).is_absolute() else ()
        return Grader(text, _adapter(kind), python=python, variables={TARGET: target}, files=files)
    if text in adapters():
        return Grader(text, _adapter(text), python=python)
    module, _, function = text.partition(":")
    if module.endswith(".py"):
        if not Path(module).is_file():
            raise UserError(f"there is no file {module}")
        module = str(Path(module).absolute())
    elif not function and "." not in module and importlib.util.find_spec(module) is None:
        raise UserError(f"there is no grader {text!r}{nearest(text, adapters())}: {FORMS}")
    return Grader(text, module, function, form, python)


def _from_anywhere(command: str) -> list[str]:
    """Return the words of a command that means the same in another folder: files are named by their whole paths."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UserError(f"the command {command!r} can't be read: {error}") from error
    return [str(Path(word).absolute()) if Path(word).is_file() else word for word in words]


def _adapter(name: str) -> str:
    return str(resources.files("alpha_codium.audit.adapters").joinpath(f"{name}.py"))
