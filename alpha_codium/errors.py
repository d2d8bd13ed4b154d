"""Errors with a meaning of their own.

UserError            the user can mend it: one clear line, exit status 2
├── SettingsError    a setting is unknown or has the wrong type
├── DatasetError     a dataset, split, problem or problem file can't be read
├── FlowError        a flow or one of its prompts can't be read
├── ModelNotFound    no such model, or no key for it
├── SandboxError     the sandbox asked for can't be had on this machine
└── Unjudgeable      a problem's checker or kind of tests isn't supported

Every other exception is ours: it keeps its traceback.
"""

import difflib
from collections.abc import Iterable


class UserError(Exception):
    """Something the user can mend; the message says what is wrong and how to mend it."""


class SettingsError(UserError):
    """A setting is unknown or has the wrong type."""


class DatasetError(UserError):
    """A dataset, a split, a problem or a problem file can't be read."""


class FlowError(UserError):
    """A flow or one of its prompts can't be read."""


class ModelNotFound(UserError):
    """The model asked for doesn't exist, or can't be reached for want of a key or a file."""


class SandboxError(UserError):
    """The sandbox asked for can't be had on this machine."""


class Unjudgeable(UserError):
    """A problem's programs can't be judged: its checker, or its kind of tests, isn't supported."""


def nearest(word: str, known: Iterable[str]) -> str:
    """A hint for a mistyped word: `` (did you mean 'x'?)``, or what there is, or nothing."""
    choices = sorted(map(str, known))
    close = difflib.get_close_matches(word, choices, n=1, cutoff=0.6)
    if close:
        return f" (did you mean {close[0]!r}?)"
    if not choices:
        return ""
    shown = ", ".join(choices[:8]) + (", ..." if len(choices) > 8 else "")
    return f" (there is: {shown})"
