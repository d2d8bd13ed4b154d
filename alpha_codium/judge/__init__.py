"""One program and its tests -> verdicts: sandbox and checker together, in this one place."""

from alpha_codium.judge.judge import Judge, ProblemJudge
from alpha_codium.judge.rules import Rules

__all__ = ["Judge", "ProblemJudge", "Rules"]
