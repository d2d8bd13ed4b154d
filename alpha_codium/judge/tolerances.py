"""The numerical errors that a problem's statement allows, found by its words, for problems that name no checker.

1. A power of ten (or a multiple of one) or a small decimal counts if its sentence speaks of errors, accuracy or
   precision ("absolute or relative error ... 10^{-6}", "differs by at most 1e-9"), says that an answer within it is
   accepted, as LeetCode does ("Answers within 10^-5 of the actual answer will be accepted."), or has Codeforces'
   formula, |a - b| / max(1, |b|). Datasets mangle powers: CodeContests has `10 - 6` for a raised -6, others a minus
   sign or `&minus;` for the hyphen, `10^(-6)`, `$10^{-6}$`, `10<sup>-6</sup>`, raised digits or a fraction.
2. The words between it and the previous number decide which error it bounds: `absolute` or `relative`; `differ` or
   `within` alone means the absolute error. Otherwise either error may be within it, as in most judges, and it must be
   at most 1e-2.
3. Sentences after the heading of the output come first. Before it a sentence must speak of what is printed or of kinds
   of errors, since inputs have a precision, too. Without a heading it must not speak of inputs.
4. "At least 0.001" bounds no error ("a precision of at least 0.001" does), nor does the probability of an error.
"""

import functools
import re
from collections.abc import Iterable

SMALLEST, LARGEST = 1e-15, 0.1
# A larger number counts only with `absolute` or `relative`.
USUAL = 1e-2
# White space stands after a sign, never beside other white space: matching would take time cubic in its length.
FACTOR = r"(?:(?P<factor>\d+(?:\.\d+)?)\s*(?:\*|\u00b7|\u22c5|\u00d7|\\cdot|\\times)\s*)?"
MINUS = r"[-\u2212\u2013\u2010\u2011]"
POWER = rf"10\s*(?:(?:\*\*|\^|<sup>)\s*)?(?:[{{(]+\s*)?{MINUS}\s*(?P<power>1?\d)(?!\d)\s*[)}}]*(?:</sup>)?"
ONE_OVER = r"(?:1\s*/\s*|\\[dt]?frac\s*(?:\{\s*)?1\s*(?:\}\s*)?)"
FRACTION = rf"{ONE_OVER}(?:\{{\s*)?10\s*\^\s*(?:\{{\s*)?(?P<root>1?\d)(?!\d)(?:\s*\}})*"
SCIENTIFIC = r"(?P<scientific>\d(?:\.\d+)?[eE][-\u2212\u2013]\d+)"
DECIMAL = r"(?P<decimal>0\.0*[1-9]\d*)"
NUMBER = re.compile(rf"(?<![\w.^-])(?:{FACTOR}{POWER}|{FRACTION}|{SCIENTIFIC}|{DECIMAL})(?![\w^]|-\d)")
RAISED = str.maketrans("\u207b\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079", "-0123456789")
# LaTeX's thin spaces.
THIN = re.compile(r"\\[,;:!]")
# The end of a sentence; not the point in 0.01.
ENDS = re.compile(r"[.!?;]\s|\n\s*\n")
ABOUT = re.compile(
    r"\b(?:errors?(?!\s+(?:probabilit|rate))|inaccuracy|accuracy|accurate|precision|precise|toleranc\w+|differs?"
    r"|deviat\w+|off\s+by)\b|\bmax[\s({\\]*1(?:\.0)?\s*,",
    re.IGNORECASE,
)
WITHIN = re.compile(r"\b(?:within|difference)\b", re.IGNORECASE)
# What such a sentence says of what is compared, and of what happens then.
OF_RIGHT_ONES = re.compile(
    r"\b(?:answers?|outputs?|values?|results?|solutions?)\b(?:.|\n){0,200}?"
    r"\b(?:accepted|acceptable|considered|correct|actual|exact|expected|true|jury|judges?|reference|official)\b",
    re.IGNORECASE,
)
# Errors of this kind are absolute unless the words say otherwise.
ABSOLUTE = re.compile(r"\b(?:differ|deviat|off\s+by)", re.IGNORECASE)
OF_A_KIND = re.compile("absolut|relativ", re.IGNORECASE)
OF_OUTPUTS = re.compile("answer|output|print", re.IGNORECASE)
OF_KIND_OR_OUTPUTS = re.compile(f"{OF_A_KIND.pattern}|{OF_OUTPUTS.pattern}", re.IGNORECASE)
OF_INPUTS = re.compile("given|input|guarantee|coordinates|probabilit", re.IGNORECASE)
FROM_BELOW = re.compile(r"\b(?:at least|no(?:t)? less than)[\s$\\{(]*$", re.IGNORECASE)
PRECISION = re.compile("precis|accura", re.IGNORECASE)
OUTPUT = re.compile(r"^[^\w\n]*Output\b", re.IGNORECASE | re.MULTILINE)


@functools.lru_cache(maxsize=256)
def tolerance_in(statement: str) -> tuple[float, float] | None:
    """Return the absolute and relative error that `statement` allows (0: none of that kind), None if it names none."""
    statement = statement.replace("&minus;", "-").replace("&#8722;", "-")
    heading = OUTPUT.search(statement)
    if heading is None:
        return _first_of(sentence for sentence in ENDS.split(statement) if _is_of_outputs(sentence))
    after, before = statement[heading.start() :], statement[: heading.start()]
    return _first_of(ENDS.split(after)) or _first_of(
        sentence for sentence in ENDS.split(before) if _is_surely_of_outputs(sentence)
    )


def _first_of(sentences: Iterable[str]) -> tuple[float, float] | None:
    return next((found for sentence in sentences if (found := _tolerance_of(sentence + " "))), None)


def _is_of_outputs(sentence: str) -> bool:
    """Whether a sentence, in a statement without headings, is about outputs."""
    return not OF_INPUTS.search(sentence) or bool(OF_KIND_OR_OUTPUTS.search(sentence))


def _is_surely_of_outputs(sentence: str) -> bool:
    """Whether a sentence before the heading of the output is about outputs."""
    of_a_kind, of_outputs = OF_A_KIND.search(sentence), OF_OUTPUTS.search(sentence)
    return bool(of_a_kind and of_outputs) or (bool(of_a_kind or of_outputs) and not OF_INPUTS.search(sentence))


def _tolerance_of(sentence: str) -> tuple[float, float] | None:
    is_within = not ABOUT.search(sentence)
    if is_within and not (WITHIN.search(sentence) and OF_RIGHT_ONES.search(sentence)):
        return None
    sentence = THIN.sub(" ", sentence.translate(RAISED))
    numbers = [(match, value) for match in NUMBER.finditer(sentence) if SMALLEST <= (value := _value(match)) <= LARGEST]
    absolute = relative = 0.0
    for place, (match, value) in enumerate(numbers):
        words = sentence[numbers[place - 1][0].end() if place else 0 : match.start()]
        if FROM_BELOW.search(words) and not PRECISION.search(words):
            continue
        if place == len(numbers) - 1:
            words += sentence[match.end() :]
        is_absolute, is_relative = _kinds_of(words.lower(), value, is_within=is_within)
        absolute = absolute or value * is_absolute
        relative = relative or value * is_relative
    return (absolute, relative) if absolute or relative else None


def _kinds_of(words: str, value: float, *, is_within: bool) -> tuple[bool, bool]:
    """Whether `value` bounds the absolute error, and whether the relative one."""
    is_absolute, is_relative = "absolut" in words, "relativ" in words
    if is_absolute or is_relative:
        return is_absolute, is_relative
    return value <= USUAL, value <= USUAL and not is_within and not ABSOLUTE.search(words)


def _value(match: re.Match[str]) -> float:
    power = match["power"] or match["root"]
    if power:
        return float(f"{match['factor'] or 1}e-{power}")
    return float((match["scientific"] or match["decimal"]).replace("\u2212", "-").replace("\u2013", "-"))
