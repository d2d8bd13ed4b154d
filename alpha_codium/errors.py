"""Errors that users can fix; every other exception is a bug, and keeps its traceback."""

import difflib
import re
from collections.abc import Iterable

TESTER_TYPE = re.compile(r"-o code_tester\.tester_type=(\w+)")
ISOLATION = re.compile(r"-o code_tester\.sandbox=(true|false)")


class UserError(Exception):
    """An error that the user can fix: its message, one line, says what is wrong and how to fix it; exit status 2."""


class SettingsError(UserError):
    """A setting is unknown or has the wrong type."""


class DatasetError(UserError):
    """A dataset, split, problem or problem file can't be read."""


class FlowError(UserError):
    """A flow or one of its prompts can't be read."""


class ModelNotFound(UserError):
    """The model doesn't exist, or can't be used without a key or a file."""


class SandboxError(UserError):
    """The sandbox isn't available on this machine.

    The message is written with options of the command line, `for_command_line`; `str` has calls of `ac` in their place.
    """

    @property
    def for_command_line(self) -> str:
        """The message with options of the command line."""
        return super().__str__()

    def __str__(self) -> str:
        text = TESTER_TYPE.sub(r'ac.open_sandbox("\1")', self.for_command_line)
        return ISOLATION.sub(lambda option: f"ac.open_sandbox(isolation={option[1].capitalize()})", text)


class Unjudgeable(UserError):
    """A problem's checker or kind of tests isn't supported."""


def nearest(word: str, known: Iterable[str]) -> str:
    """Return a hint for a mistyped word: `` (did you mean 'x'?)``, or a list of what there is, or nothing."""
    choices = sorted(set(map(str, known)))
    close = difflib.get_close_matches(word, choices, n=1, cutoff=0.6)
    if close:
        return f" (did you mean {close[0]!r}?)"
    if not choices:
        return ""
    shown = ", ".join(choices[:8]) + (", ..." if len(choices) > 8 else "")
    return f" (there is: {shown})"
