"""How far the judge itself can be trusted: a kit of programs, and files of submissions, of known verdict."""

from alpha_codium.eval.doctor.examination import CaseResult, Examination, Finding, examine
from alpha_codium.eval.doctor.kit import Case, load_kit
from alpha_codium.eval.doctor.witnesses import witnesses

__all__ = ["Case", "CaseResult", "Examination", "Finding", "examine", "load_kit", "witnesses"]
