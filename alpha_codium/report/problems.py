"""The problems of a run, as far as its dataset can still be read."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from alpha_codium.config import Settings
from alpha_codium.config.sections import CodeTesterSection, LanguagesSection
from alpha_codium.data.load import ProblemSet, load_problem_file, load_problems
from alpha_codium.errors import UserError
from alpha_codium.eval.prepare import parse_test_types
from alpha_codium.judge import Rules
from alpha_codium.limits import Limits
from alpha_codium.problem import Problem, TestCase, TestType
from alpha_codium.runs import RunFolder
from alpha_codium.runs.folder import PROBLEM


class RunProblems:
    """The problems of a run, found by the names in `run.toml`; `judge` is the description of the run that judged."""

    def __init__(self, folder: RunFolder, judge: Mapping[str, Any] | None = None) -> None:
        self.folder = folder
        self.described = folder.description()
        self.judge = self.described if judge is None else judge

    @cached_property
    def loaded(self) -> ProblemSet | None:
        """The run's dataset; None if it can't be read any more, or was changed since: `missing` says which."""
        return self._found[0]

    @property
    def missing(self) -> str:
        """Why the problems can't be shown; empty if they can."""
        return "" if self._own else self._found[1]

    def get(self, name: str) -> Problem | None:
        """Return a problem; None if it can't be read."""
        if self._own is not None:
            return self._own if self._own.name == name else None
        try:
            return None if self.loaded is None else self.loaded.get(name)
        except UserError:
            return None

    def tests_of(self, problem: Problem) -> list[tuple[TestType, TestCase]]:
        """Return the tests that samples were judged by, in their order, each with its kind."""
        kinds = parse_test_types(self.judge.get("test_types") or [TestType.PUBLIC])
        return [(kind, test) for kind in kinds for test in problem.tests([kind])]

    def limits_of(self, problem: Problem, language: str) -> Limits:
        """Return the limits of one test of a program."""
        return self._rules.limits_for(problem, language)

    @cached_property
    def _own(self) -> Problem | None:
        try:
            return load_problem_file(self.folder.path / PROBLEM)
        except UserError:
            return None

    @cached_property
    def _found(self) -> tuple[ProblemSet | None, str]:
        described = self.described
        name = described.get("dataset") or described.get("dataset_name") or described.get("known_verdicts")
        if not name:
            return None, "the run doesn't name its problems"
        try:
            problems = load_problems(str(name), described.get("split") or described.get("split_name"))
            same = problems.fingerprint == described.get("fingerprint")
        except UserError:
            return None, "the run's dataset can't be read any more"
        return (problems, "") if same else (None, "the run's dataset was changed since")

    @cached_property
    def _rules(self) -> Rules:
        values = self.judge.get("options", {}).get("settings") or self.judge.get("settings") or self.judge
        known = CodeTesterSection.model_fields
        tester = {key: value for key, value in values.get("code_tester", {}).items() if key in known}
        languages = LanguagesSection(**values.get("languages", {})) if "options" in self.judge else Settings().languages
        return Rules.of(CodeTesterSection(**tester), languages.time_limit_factors)
