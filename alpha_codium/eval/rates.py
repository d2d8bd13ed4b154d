"""Rates of samples that were cut off, had no program, were empty, or didn't compile.

They help to interpret a pass@k: if a quarter of the answers is cut off, it measures the token limit. A rate that a
Solutions dataset doesn't record is None, never 0.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypedDict

from alpha_codium.eval.prepare import Entry
from alpha_codium.eval.results import ProblemResult
from alpha_codium.languages.python.syntax import UNPARSABLE, parse
from alpha_codium.verdict import Verdict
from alpha_codium.wording import counted

EMPTY = "the program is empty"
HOW_TO_COMPLETE = "gencode eval score with `form` completion"
HOW_TO_CLEAN = "gencode eval score with `clean`, or gencode data clean_generations"
# If more programs than this share are empty or don't compile, they may be models' raw answers.
MANY_BROKEN = 0.1
FENCE = "```"
LONGEST_LINE = 60
Sample = tuple[Entry, Verdict]
COUNTED = ("truncated", "no_program", "empty", "does_not_compile")


class Share(TypedDict):
    """A number of samples, and their share, None if there are none."""

    count: int
    rate: float | None


class Rates(TypedDict):
    """What became of the samples; None for what isn't known."""

    asked: int | None
    present: int
    problems_without_samples: int
    truncated: Share | None
    no_program: Share | None
    empty: Share
    does_not_compile: Share


class CommonError(TypedDict):
    """The commonest error of programs that don't compile, with a line that has it."""

    error: str
    line: str
    count: int


class BrokenPrograms(TypedDict):
    """How many of the programs that are present are empty or don't compile."""

    count: int
    present: int
    commonest: CommonError | None


def rates_of(entries: Mapping[str, Sequence[Entry]], results: Sequence[ProblemResult]) -> Rates:
    """The rates of the candidates in `entries`, by problem, as JSON; `results` are of all problems.

    `present` samples are those that weren't lost; the rates `{"count", "rate"}` are shares of them. `truncated` had an
    answer cut off, `no_program` ended without one through the model's fault, `empty` are blank for no known reason.
    """
    samples, present = _samples(entries, results)
    errors_known = bool(samples) and all(entry.error_known for entry, _ in samples)
    truncated_known = bool(samples) and all(entry.truncated is not None for entry, _ in samples)
    total, errors = len(present), sum(entry.error is not None for entry, _ in present)
    broken = sum(v is Verdict.COMPILATION_ERROR and not entry.is_blank for entry, v in present)
    return {
        "asked": len(samples) if errors_known else None,
        "present": total,
        "problems_without_samples": sum(not problem.candidates for problem in results),
        "truncated": rate_of(sum(bool(e.truncated) for e, _ in present), total) if truncated_known else None,
        "no_program": rate_of(errors, total) if errors_known else None,
        "empty": rate_of(sum(entry.is_blank and entry.error is None for entry, _ in present), total),
        "does_not_compile": rate_of(broken, total),
    }


def broken_programs(entries: Mapping[str, Sequence[Entry]], results: Sequence[ProblemResult]) -> BrokenPrograms | None:
    """The number of programs that are empty or don't compile, and their commonest error.

    None if they are few, and none of them contains a Markdown fence.
    """
    _, present = _samples(entries, results)
    broken = [e.program for e, verdict in present if e.is_blank or verdict is Verdict.COMPILATION_ERROR]
    if len(broken) <= MANY_BROKEN * len(present) and not any(FENCE in program for program in broken):
        return None
    errors = list(filter(None, map(_syntax_error, broken)))
    first = Counter(error for error, _ in errors).most_common(1)
    # The commonest of the lines with it is the example.
    lines = Counter(line for error, line in errors if first and error == first[0][0])
    commonest = [CommonError(error=error, line=lines.most_common(1)[0][0], count=count) for error, count in first]
    return {"count": len(broken), "present": len(present), "commonest": commonest[0] if commonest else None}


def _samples(entries: Mapping[str, Sequence[Entry]], results: Sequence[ProblemResult]) -> tuple[list[Sample], ...]:
    """Return all samples with their verdicts, and those that weren't lost."""
    pairs = (pair for p in results for pair in zip(entries.get(p.name, ()), p.candidates, strict=True))
    samples = [(entry, result.verdict) for entry, result in pairs]
    return samples, [sample for sample in samples if not sample[0].is_lost]


def broken_lines(broken: BrokenPrograms) -> Iterator[str]:
    """Lines that say how many programs are empty or don't compile, why, and what to do."""
    yield f"empty or don't compile: {broken['count']} of {counted(broken['present'], 'program')}"
    if commonest := broken["commonest"]:
        where = f", for example {commonest['line']!r}" if commonest["line"] else ""
        yield f"the commonest error ({counted(commonest['count'], 'program')}): {commonest['error']}{where}"
    if commonest and commonest["error"].startswith("IndentationError"):
        yield f"if they continue the problems' prompts: {HOW_TO_COMPLETE}"
    if not commonest or commonest["error"] != EMPTY:
        yield f"if they are a model's raw answers, clean them: {HOW_TO_CLEAN}"


def _syntax_error(program: str) -> tuple[str, str] | None:
    """Return the error in a program and the line with it, or None if it is unknown."""
    if not program.strip():
        return EMPTY, ""
    try:
        parse(program)
    except SyntaxError as error:
        return f"{type(error).__name__}: {error.msg}", (error.text or "").strip()[:LONGEST_LINE]
    except UNPARSABLE as error:
        return f"{type(error).__name__}: {error}", ""
    return None


def rates_text(rates: Mapping[str, Any]) -> str:
    """`3 present of 4 asked; truncated 2 (66.7%), ...`, without what isn't known."""
    asked = "" if rates["asked"] is None else f" of {rates['asked']} asked"
    shares = ", ".join(f"{name.replace('_', ' ')} {_share(rates[name])}" for name in COUNTED if rates[name] is not None)
    return f"{rates['present']} present{asked}; {shares}"


def rate_of(count: int, total: int) -> Share:
    """A count and its share of `total`, None if that is 0."""
    return {"count": count, "rate": count / total if total else None}


def _share(rate: Mapping[str, Any]) -> str:
    return str(rate["count"]) if rate["rate"] is None else f"{rate['count']} ({rate['rate']:.1%})"
