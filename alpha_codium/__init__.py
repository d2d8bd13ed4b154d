"""Generate programs with language models, and measure how good they are.

Public names are imported on first use, so that importing the package is fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

# The names that each module has.
_NAMES = {
    "problem": "Problem TestCase TestType ExecutionSpec CheckerSpec Statement",
    "limits": "Limits",
    "program": "Program Job",
    "solution": "Candidate",
    "verdict": "Execution Judgement Report Verdict",
    "errors": "UserError",
    "judge": "Rules",
    "config": "Settings load_settings",
    "data.load": "load_problems",
    "answers.extraction": "extract_code",
    "sandbox": "Sandbox open_sandbox",
    "sandbox.blocking": "shared_sandbox",
    "app.judgements": "judge_program judge_program_async judge_programs judge_programs_async",
    "app.solving": "solve solve_async",
    "app.generation": "solve_set solve_set_async",
    "app.evaluation": "evaluate evaluate_async",
    "app.scoring": "score score_async",
    "app.validation": "validate validate_async",
    "app.auditing": "audit_grader audit_grader_async",
    "app.rejudging": "rejudge rejudge_async",
    "app.comparison": "compare compare_async",
    "app.replaying": "replay replay_async",
}
_HOMES = {name: f"alpha_codium.{module}" for module, names in _NAMES.items() for name in names.split()}
__all__ = [*_HOMES, "__version__"]  # noqa: PLE0604 - the names of the table above

if TYPE_CHECKING:  # the names of the table for type checkers and editors; `as` makes them public
    from alpha_codium.answers.extraction import extract_code as extract_code
    from alpha_codium.app.auditing import audit_grader as audit_grader
    from alpha_codium.app.auditing import audit_grader_async as audit_grader_async
    from alpha_codium.app.comparison import compare as compare
    from alpha_codium.app.comparison import compare_async as compare_async
    from alpha_codium.app.evaluation import evaluate as evaluate
    from alpha_codium.app.evaluation import evaluate_async as evaluate_async
    from alpha_codium.app.generation import solve_set as solve_set
    from alpha_codium.app.generation import solve_set_async as solve_set_async
    from alpha_codium.app.judgements import judge_program as judge_program
    from alpha_codium.app.judgements import judge_program_async as judge_program_async
    from alpha_codium.app.judgements import judge_programs as judge_programs
    from alpha_codium.app.judgements import judge_programs_async as judge_programs_async
    from alpha_codium.app.rejudging import rejudge as rejudge
    from alpha_codium.app.rejudging import rejudge_async as rejudge_async
    from alpha_codium.app.replaying import replay as replay
    from alpha_codium.app.replaying import replay_async as replay_async
    from alpha_codium.app.scoring import score as score
    from alpha_codium.app.scoring import score_async as score_async
    from alpha_codium.app.solving import solve as solve
    from alpha_codium.app.solving import solve_async as solve_async
    from alpha_codium.app.validation import validate as validate
    from alpha_codium.app.validation import validate_async as validate_async
    from alpha_codium.config import Settings as Settings
    from alpha_codium.config import load_settings as load_settings
    from alpha_codium.data.load import load_problems as load_problems
    from alpha_codium.errors import UserError as UserError
    from alpha_codium.judge import Rules as Rules
    from alpha_codium.limits import Limits as Limits
    from alpha_codium.problem import CheckerSpec as CheckerSpec
    from alpha_codium.problem import ExecutionSpec as ExecutionSpec
    from alpha_codium.problem import Problem as Problem
    from alpha_codium.problem import Statement as Statement
    from alpha_codium.problem import TestCase as TestCase
    from alpha_codium.problem import TestType as TestType
    from alpha_codium.program import Job as Job
    from alpha_codium.program import Program as Program
    from alpha_codium.sandbox import Sandbox as Sandbox
    from alpha_codium.sandbox import open_sandbox as open_sandbox
    from alpha_codium.sandbox.blocking import shared_sandbox as shared_sandbox
    from alpha_codium.solution import Candidate as Candidate
    from alpha_codium.verdict import Execution as Execution
    from alpha_codium.verdict import Judgement as Judgement
    from alpha_codium.verdict import Report as Report
    from alpha_codium.verdict import Verdict as Verdict
else:

    def __getattr__(name: str) -> Any:
        """Import a public name from its module."""
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
