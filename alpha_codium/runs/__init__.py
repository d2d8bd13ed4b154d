"""Run folders: the options of a run, its journal and its answers, from which it can be resumed."""

from alpha_codium.runs.answers import AnswerStore, without_secrets
from alpha_codium.runs.cache import AnswerCache
from alpha_codium.runs.folder import RunFolder
from alpha_codium.runs.journal import Journal

__all__ = ["AnswerCache", "AnswerStore", "Journal", "RunFolder", "without_secrets"]
