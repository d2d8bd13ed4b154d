"""Errors that users can fix; every other exception that leaves the package is a bug, and keeps its traceback.

UserError                   one line, exit status 2
|- SettingsError            a setting is unknown or has the wrong type
|- DatasetError             a dataset, split, problem or file can't be read
|- FlowError                a flow or one of its prompts can't be read
|- ModelNotFound            the model doesn't exist, or can't be used
|- AuthenticationFailed     the provider rejected the key; also a ModelError
|- UnknownModel             the provider doesn't know the model; also a ModelError
|- SandboxError             the sandbox isn't available
|  `- JobUnsupported        it can't run such a job
|     |- PairUnsupported    it can't connect two programs
|     `- RefusedByServer    a server of `remote` refuses a job
|- Unjudgeable              a problem's checker or kind of tests isn't supported
|- JournalError             the journal of a run is damaged
|- StoreBroken              the answers of a run can't be read or written
|- CacheUnusable            the shared cache can't be read or written
|  `- NotACache             the file isn't one, or it is damaged
|- ProviderError            the repository benchmark has no place to run tests
|- ServerFailed             a server of vLLM didn't start
|- LocalServerFailed        the server of a local model didn't start
`- JobFailed                a Job in Kubernetes failed

ModelError                  a call of a model failed for good; ends its sample, not the run (`llm.errors`)
"""

import difflib
from collections.abc import Iterable

# Names in a message.
MOST_NAMED = 8


class UserError(Exception):
    """An error that the user can fix: its message, one line, says what is wrong and how to fix it; exit status 2.

    It names arguments, settings and calls in backticks, such as `split`, `code_tester.timeout=9` and
    `ac.open_sandbox('local')`; the command line shows its options in their place.
    """


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


class JobUnsupported(SandboxError):
    """The sandbox can't run such a job; trying again won't help."""


class Unjudgeable(UserError):
    """A problem's checker or kind of tests isn't supported."""


def nearest(word: str, known: Iterable[str]) -> str:
    """Return a hint for a mistyped word: `` (did you mean 'x'?)``, or a list of what there is, or nothing."""
    choices = list(map(str, known))
    return did_you_mean(word, choices) or (f" (there is: {some_of(choices)})" if choices else "")


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return the hint `` (did you mean 'x'?)`` for a mistyped word; empty if nothing is near."""
    close = difflib.get_close_matches(word, sorted(set(known)), n=1, cutoff=0.6)
    return f" (did you mean {close[0]!r}?)" if close else ""


def some_of(names: Iterable[str]) -> str:
    """Return the first names in alphabetical order, with an ellipsis if there are more."""
    shown = sorted(set(names))
    return ", ".join(shown[:MOST_NAMED]) + (", ..." if len(shown) > MOST_NAMED else "")
