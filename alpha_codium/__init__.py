"""Generate programs with language models, and measure how good they are.

Public names are imported on first use, so that importing the package is fast.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_HOMES = {
    "Problem": "alpha_codium.problem",
    "TestCase": "alpha_codium.problem",
    "Statement": "alpha_codium.problem",
    "Limits": "alpha_codium.limits",
    "Program": "alpha_codium.program",
    "Job": "alpha_codium.program",
    "Candidate": "alpha_codium.solution",
    "Execution": "alpha_codium.verdict",
    "Judgement": "alpha_codium.verdict",
    "Report": "alpha_codium.verdict",
    "Verdict": "alpha_codium.verdict",
    "UserError": "alpha_codium.errors",
    "Settings": "alpha_codium.config",
    "load_settings": "alpha_codium.config",
    "load_problems": "alpha_codium.data",
    "open_sandbox": "alpha_codium.sandbox",
    "solve": "alpha_codium.app.solving",
    "solve_async": "alpha_codium.app.solving",
    "solve_set": "alpha_codium.app.generation",
    "solve_set_async": "alpha_codium.app.generation",
    "evaluate": "alpha_codium.app.evaluation",
    "evaluate_async": "alpha_codium.app.evaluation",
    "score": "alpha_codium.app.scoring",
    "score_async": "alpha_codium.app.scoring",
    "validate": "alpha_codium.app.validation",
    "validate_async": "alpha_codium.app.validation",
    "compare": "alpha_codium.app.comparison",
    "compare_async": "alpha_codium.app.comparison",
    "replay": "alpha_codium.app.replaying",
    "replay_async": "alpha_codium.app.replaying",
}
__all__ = [*_HOMES, "__version__"]  # noqa: PLE0604 - the names of the table above


def __getattr__(name: str) -> Any:
    """Import a public name from its module."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
