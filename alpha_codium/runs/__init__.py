"""The run folder: what a run was asked for, what it has done, and how to go on after it was cut off."""

from alpha_codium.runs.answers import AnswerStore, without_secrets
from alpha_codium.runs.cache import AnswerCache
from alpha_codium.runs.folder import RunFolder
from alpha_codium.runs.journal import Journal

__all__ = ["AnswerCache", "AnswerStore", "Journal", "RunFolder", "without_secrets"]
