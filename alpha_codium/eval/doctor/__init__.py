"""How far the judge itself can be trusted: a kit of programs, and files of submissions, of known verdict."""

from alpha_codium.eval.doctor.examination import CaseFinding, CaseResult, Examination, examine
from alpha_codium.eval.doctor.kit import DoctorCase, load_kit
from alpha_codium.eval.doctor.witnesses import witnesses

__all__ = ["CaseFinding", "CaseResult", "DoctorCase", "Examination", "examine", "load_kit", "witnesses"]
