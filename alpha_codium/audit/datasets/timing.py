"""Calibration of limits for this machine, by the time and memory that known-correct programs need.

1. A limit is too tight if a known-correct program exceeds it, and near if one needs more than the share `near` of it. A
   program that ran out of wall time with CPU time left indicates a busy machine or a program that waits; this is noted,
   but isn't a fault of the limit.
2. The suggested limits are twice the needs of the slowest and the largest known-correct program, rounded up to half a
   second (at least one) and 64 MiB (at least 256). They apply to one test of a Python program on this machine.
3. The calibration factor of a split is the factor for its limits with which 95 % of its problems have their slowest
   known-correct program within `near` of the limit. A factor below 1 means that the limits are generous.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, NotRequired, TypedDict

from alpha_codium.audit.datasets.findings import Finding, Reason
from alpha_codium.audit.datasets.observation import WIDER, Known, ObservedProblem
from alpha_codium.verdict import Verdict
from alpha_codium.wording import counted

NEAR = 0.5
MARGIN = 2.0
CALIBRATED_SHARE = 0.95
WALL_TIME = "wall time (the machine is busy, or the program waits)"
STEP_SECONDS, LEAST_SECONDS = 0.5, 1.0
STEP_BYTES, LEAST_BYTES = 64 * 2**20, 256 * 2**20
# A program that is stopped by the limit may have used a little less CPU time than that.
BY_CPU = 0.95
NONE_FINISHED = "no known-correct program finished a test"
TOO_SMALL = "the CPU time of known-correct programs is too small to measure"
LIMIT_VERDICTS = (Verdict.TIME_LIMIT_EXCEEDED, Verdict.MEMORY_LIMIT_EXCEEDED)


@dataclass(frozen=True, slots=True)
class Timing:
    """The needs of a problem's known-correct programs.

    `slowest_cpu_seconds` is None if none finished a test. A program that also used up the wider limit counts with that
    limit. If any didn't finish, no limits are suggested.
    """

    limit_cpu_seconds: float
    slowest_cpu_seconds: float | None
    suggested_cpu_seconds: float | None
    suggested_memory_bytes: int | None
    findings: tuple[Finding, ...]

    @property
    def share(self) -> float | None:
        """The part of the limit that the slowest known-correct program needs."""
        return None if self.slowest_cpu_seconds is None else self.slowest_cpu_seconds / self.limit_cpu_seconds


def examine_limits(observed: ObservedProblem, near: float = NEAR) -> Timing:
    """Compare the needs of a problem's known-correct programs with its limits; more than `near` of a limit is near."""
    limits = observed.limits
    runs = [(known, place) for known in observed.correct for place in observed.usable]
    needs = [need for known, place in runs if (need := _need(known, place, limits.cpu_seconds)) is not None]
    slowest = max((min(need, limits.cpu_seconds * WIDER) for need in needs), default=None)
    largest = max((known.seen.max_rss_bytes[place] for known, place in runs), default=0)
    ends = {known.seen.verdicts[place] for known, place in runs}
    late = any(k.seen.verdicts[p] is LIMIT_VERDICTS[0] and k.seen.needs(p) is None for k, p in runs)
    seconds = None if slowest is None or late else _stepped(slowest, STEP_SECONDS, LEAST_SECONDS)
    memory = None if not needs or LIMIT_VERDICTS[1] in ends else int(_stepped(largest, STEP_BYTES, LEAST_BYTES))
    return Timing(limits.cpu_seconds, slowest, seconds, memory, (*_tight(observed), *_near(observed, near)))


class Calibration(TypedDict):
    """How the limits of a split fit this machine, by the shares of the limit that the slowest programs need."""

    problems: int
    factor: float | None
    reason: NotRequired[str]
    median_share: NotRequired[float]
    share_at_95_percent: NotRequired[float]
    largest_share: NotRequired[float]
    near: NotRequired[float]
    time_limit_factor: NotRequired[float]


def calibration(timings: Sequence[Timing], near: float = NEAR, time_limit_factor: float | None = None) -> Calibration:
    """Return how the limits of a split fit this machine.

    The factor is None if no known-correct program finished, or they need too little to measure: `reason` says which.
    With `time_limit_factor`, by which the problems' own limits were multiplied, the one to set instead is given, too.
    """
    shares = sorted(timing.share for timing in timings if timing.share is not None)
    if not shares:
        return {"problems": 0, "factor": None, "reason": NONE_FINISHED}
    at_95 = shares[math.ceil(CALIBRATED_SHARE * len(shares)) - 1]
    values: Calibration = {
        "problems": len(shares),
        "factor": _three_digits(at_95 / near) if at_95 else None,
        "median_share": round(median(shares), 4),
        "share_at_95_percent": round(at_95, 4),
        "largest_share": round(shares[-1], 4),
        "near": near,
    }
    if at_95 == 0:
        values["reason"] = TOO_SMALL
    elif time_limit_factor:
        values["time_limit_factor"] = _three_digits(time_limit_factor * (at_95 / near))
    return values


def _three_digits(number: float) -> float:
    """Round to three significant digits, so that small numbers don't become 0."""
    return float(f"{number:.3g}")


def _need(known: Known, place: int, limit: float) -> float | None:
    """Return the CPU seconds needed; infinite if the wider limit was used up, too; None if unknown."""
    wider = known.seen.wider.get(place)
    if wider is not None and wider.verdict is LIMIT_VERDICTS[0] and wider.cpu_seconds >= BY_CPU * limit * WIDER:
        return math.inf
    return known.seen.needs(place)


def _stepped(need: float, step: float, least: float) -> float:
    return max(least, math.ceil(MARGIN * need / step) * step)


def _tight(observed: ObservedProblem) -> list[Finding]:
    """Return known-correct programs that exceeded a limit."""
    evidence = [
        _limit_evidence(observed, known, place)
        for known in observed.correct
        for place in observed.usable
        if known.seen.verdicts[place] in LIMIT_VERDICTS
    ]
    if not evidence:
        return []
    programs = len({entry["solution"] for entry in evidence})
    by = " and ".join(sorted({entry["ran_out_of"] for entry in evidence}))
    text = f"{programs} of {counted(len(observed.correct), 'known-correct program')} ran out of {by}"
    fault = any(entry["ran_out_of"] != WALL_TIME for entry in evidence)
    return [Finding(Reason.TIGHT_LIMIT, text, tuple(evidence), fault)]


def _limit_evidence(observed: ObservedProblem, known: Known, place: int) -> dict[str, Any]:
    seen = known.seen
    entry = observed.evidence(known, place)
    if seen.verdicts[place] is Verdict.MEMORY_LIMIT_EXCEEDED:
        used = {"max_rss_bytes": seen.max_rss_bytes[place], "limit_bytes": observed.limits.memory_bytes}
        return entry | {"ran_out_of": "memory"} | used
    if seen.verdicts[place] is Verdict.TIME_LIMIT_EXCEEDED:
        by_cpu = seen.cpu_seconds[place] >= BY_CPU * observed.limits.cpu_seconds
        entry |= {"ran_out_of": "CPU time" if by_cpu else WALL_TIME}
    entry |= {"cpu_seconds": seen.cpu_seconds[place], "limit_seconds": observed.limits.cpu_seconds}
    wider = seen.wider.get(place)
    again = {"verdict_of_wider": wider.verdict.value, "cpu_seconds_of_wider": wider.cpu_seconds} if wider else {}
    return entry | again


def _near(observed: ObservedProblem, near: float) -> list[Finding]:
    """Return known-correct programs that finished near the limit, each on its slowest test."""
    evidence = []
    for known in observed.correct:
        finished = [p for p in observed.usable if known.seen.verdicts[p] not in LIMIT_VERDICTS]
        slowest = max(finished, key=lambda place: known.seen.cpu_seconds[place], default=None)
        if slowest is not None and known.seen.cpu_seconds[slowest] > near * observed.limits.cpu_seconds:
            evidence.append(_limit_evidence(observed, known, slowest))
    if not evidence:
        return []
    most = max(entry["cpu_seconds"] for entry in evidence)
    text = (
        f"{counted(len(evidence), 'known-correct program')} took more than {near:.0%} of the limit: "
        f"{most:.2f} of {observed.limits.cpu_seconds:g} s"
    )
    return [Finding(Reason.NEAR_LIMIT, text, tuple(evidence), fault=False)]
