"""Which known solutions can be judged: by their language, the sandbox and the kind of their problem's tests."""

from collections import Counter
from collections.abc import Sequence

from alpha_codium.errors import SandboxError, Unjudgeable
from alpha_codium.judge import kind_of
from alpha_codium.language_table import LANGUAGES
from alpha_codium.languages import language_named
from alpha_codium.problem import Problem
from alpha_codium.program import PYTHON
from alpha_codium.sandbox import Sandbox

# The numbers of programs that aren't run, by their language and the reason.
Skipped = Counter[tuple[str, str]]
NOT_ASKED = "another language was asked for"


class Languages:
    """The languages in which programs are judged: those asked for, or else all that the sandbox runs.

    Without a sandbox, it is as if a local one ran them. Raises UserError for an unknown language, and SandboxError if
    one that is asked for can't be run.
    """

    def __init__(self, asked: Sequence[str] = (), sandbox: Sandbox | None = None, other: str = NOT_ASKED) -> None:
        self.asked, self.sandbox, self.other = tuple(asked), sandbox, other
        self._reasons: dict[str, str] = {}
        for language in asked:
            language_named(language)
            if sandbox is not None:
                sandbox.tool_version(language)

    def why_not(self, language: str, problem: Problem) -> str:
        """Return why programs in a language aren't judged by a problem's tests, empty if they are."""
        if language not in self._reasons:
            self._reasons[language] = self._why_not_run(language)
        return self._reasons[language] or why_not_tested(language, problem)

    def _why_not_run(self, language: str) -> str:
        if self.asked:
            return "" if language in self.asked else self.other
        if language not in LANGUAGES:
            return "not supported"
        try:
            self.sandbox.tool_version(language) if self.sandbox else language_named(language).tool()
        except SandboxError as error:
            return str(error)
        return ""


def why_not_tested(language: str, problem: Problem) -> str:
    """Return why the tests of a problem can't run programs in a language, empty if they can."""
    if language == PYTHON and problem.execution.language == PYTHON:
        return ""
    try:
        return kind_of(problem).why_not(language)
    except Unjudgeable:
        return ""  # all its programs get that reason
