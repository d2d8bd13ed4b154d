"""Wrapping of candidates in programs that compile them with RestrictedPython.

1. The program contains `inside.py`, the candidate and the options as literals, and runs like any other program; no
   verdict is decided in its process. `inside.py` is compiled once, on the host, by the Python that also runs it in the
   sandbox; this saves 2 ms per candidate.
2. Values of `additional_globals` are made by the setup code, which the reference gets, too, in its own process. Guards
   among them, builtins under their own names, and those of `additional_locals` are the program's alone.
"""

import builtins
import functools
import marshal
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from alpha_codium.metrics.restrictedpython_code_eval.expressions import expression_of

# The engine preloads RestrictedPython because of the first two lines.
PROGRAM = """if False:
    import RestrictedPython
(lambda ours: (
    exec(__import__("marshal").loads(bytes.fromhex("{inside}")), ours),
    ours["run"](globals(), {candidate!r}, {options}),
))({{"__name__": "restricted"}})
"""


@dataclass(frozen=True, slots=True)
class Restrictions:
    """How candidates are compiled and run; see `compute`."""

    builtins: tuple[str, ...] = ("safe", "limited", "utility")
    additional_globals: Mapping[str, Any] = field(default_factory=dict)
    additional_locals: Mapping[str, Any] = field(default_factory=dict)
    allowed_imports: tuple[str, ...] | None = None
    allow_str_format: bool = False
    allow_underscore_variable_names: bool = False
    policy: type | None = None

    @property
    def shared(self) -> dict[str, Any]:
        """The values that both the program and the reference may use.

        Names such as `_getattr_` are looked up by RestrictedPython or Python, and a reference has the builtins anyway.
        """
        return {
            name: value
            for name, value in self.additional_globals.items()
            if not (name.startswith("_") and name.endswith("_")) and getattr(builtins, name, None) is not value
        }

    def setup_code(self) -> str:
        """Code that makes the shared values; raises UserError for one that can't be sent."""
        return "".join(f"{name} = {expression_of(value, name)}\n" for name, value in self.shared.items())

    def wrapper(self) -> Callable[[str], str]:
        """A function from a candidate's text to its program; raises UserError for a value that can't be sent."""
        options = self._options()
        return lambda candidate: PROGRAM.format(inside=_inside(), candidate=candidate, options=options)

    def _options(self) -> str:
        shared = self.shared
        own = {name: value for name, value in self.additional_globals.items() if name not in shared}
        texts = {
            "shared": repr(list(shared)),
            "globals": _expressions(own),
            "locals": _expressions(self.additional_locals),
            "builtins": repr(self.builtins),
            "imports": repr(self.allowed_imports),
            "str_format": repr(self.allow_str_format),
            "underscores": repr(self.allow_underscore_variable_names),
            "policy": expression_of(self.policy, "policy"),
        }
        return "{" + ", ".join(f"{name!r}: {text}" for name, text in texts.items()) + "}"


@functools.cache
def _inside() -> str:
    text = Path(__file__).with_name("inside.py").read_text("utf-8")
    return marshal.dumps(compile(text, "restricted.py", "exec", dont_inherit=True, optimize=2)).hex()


def _expressions(values: Mapping[str, Any]) -> str:
    return "{" + ", ".join(f"{name!r}: {expression_of(value, name)}" for name, value in values.items()) + "}"
