"""The run folder: what was requested, what is done, and how to continue after an interruption."""

from alpha_codium.runs.answers import AnswerStore, without_secrets
from alpha_codium.runs.cache import AnswerCache
from alpha_codium.runs.folder import RunFolder
from alpha_codium.runs.journal import Journal

__all__ = ["AnswerCache", "AnswerStore", "Journal", "RunFolder", "without_secrets"]
