"""Errors that users can fix; every other exception is a bug, and keeps its traceback."""

import difflib
from collections.abc import Iterable


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
    """The sandbox isn't available on this machine."""


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
