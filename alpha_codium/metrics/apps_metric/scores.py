"""Codes of tests as in `codeparrot/apps_metric`, and accuracies and pass@k from them."""

from collections.abc import Sequence
from typing import Any

from loguru import logger

from alpha_codium.eval.results import CandidateResult
from alpha_codium.statistics import mean_pass_at_k
from alpha_codium.verdict import Verdict
from alpha_codium.wording import counted

RUNTIME_ERROR, COMPILE_ERROR = -1, -2
# True, False, -1, -2, or None for no verdict.
Code = bool | int | None
CODES: dict[str, Code] = {
    **dict.fromkeys(Verdict, RUNTIME_ERROR),
    Verdict.ACCEPTED: True,
    Verdict.WRONG_ANSWER: False,
    Verdict.COMPILATION_ERROR: COMPILE_ERROR,
    Verdict.INTERNAL_ERROR: None,
}


def codes_of(candidate: CandidateResult) -> list[Code]:
    """The code of each test, in order; `[-2]` if the program doesn't compile, none if there is no test."""
    if candidate.verdict is Verdict.COMPILATION_ERROR:
        return [COMPILE_ERROR]
    if candidate.verdict is Verdict.INTERNAL_ERROR and not candidate.tests:
        return [None]
    return [CODES[test["verdict"]] for test in candidate.tests]


def passes(codes: Sequence[Code]) -> bool:
    """Whether all tests passed, and there was one."""
    return bool(codes) and all(code is True for code in codes)


def scores(codes: Sequence[Sequence[Sequence[Code]]], ks: Sequence[int], *, count_errors: bool) -> dict[str, Any]:
    """The scores from the codes of each program of each problem; a k above a problem's number of programs is left out.

    If a test got no verdict all scores are None, and `unjudged` is the number of such programs.
    """
    result: dict[str, Any] = {"avg_accuracy": None, "strict_accuracy": None, "pass_at_k": None}
    unjudged = sum(None in of_program for of_problem in codes for of_program in of_problem)
    if unjudged:
        logger.warning(
            f"{counted(unjudged, 'program')} got no verdict because of sandbox errors: no scores are computed"
        )
        result["unjudged"] = unjudged
    elif all(len(of_problem) == 1 for of_problem in codes):
        singles = [of_problem[0] for of_problem in codes]
        result["avg_accuracy"] = _mean([_mean([float(code is True) for code in single]) for single in singles])
        result["strict_accuracy"] = _mean([float(passes(single)) for single in singles])
    else:
        counts = [(len(of_problem), sum(map(passes, of_problem))) for of_problem in codes]
        estimates = [mean_pass_at_k(counts, k) for k in ks]
        result["pass_at_k"] = {f"pass@{e.k}": e.value for e in estimates if e.value is not None}
    return result | (errors(codes) if count_errors else {})


def errors(codes: Sequence[Sequence[Sequence[Code]]]) -> dict[str, int]:
    """How many codes are -2, how many are -1, and how many there are."""
    flat = [code for of_problem in codes for of_program in of_problem for code in of_program]
    return {
        "compile_errors": flat.count(COMPILE_ERROR),
        "runtime_errors": flat.count(RUNTIME_ERROR),
        "total_tests": len(flat),
    }


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
