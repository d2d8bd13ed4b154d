"""Judging a program by its tests: running it in a sandbox and checking its outputs."""

from alpha_codium.judge.judge import Judge, ProblemJudge, kind_of
from alpha_codium.judge.rules import Rules

__all__ = ["Judge", "ProblemJudge", "Rules", "kind_of"]
