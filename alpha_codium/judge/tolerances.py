"""Which errors of numbers a statement allows: read from its words, for problems that name no checker.

1. A number that is a power of ten, or a small decimal, counts where its sentence speaks of errors, accuracy or
   precision ("absolute or relative error ... 10^{-6}", "differs by at most 1e-9"). Datasets mangle powers: CodeContests
   has `10 - 6` for a raised -6, others a minus sign for the hyphen, `10^(-6)`, `$10^{-6}$` or `10<sup>-6</sup>`.
2. Of the words since the number before it, `absolute` and `relative` say which error it bounds; `differ` without either
   means the absolute one; else it bounds either, as most judges do.
3. What stands after the heading of the output comes first: inputs, too, are given with some precision.
"""

import functools
import re

SMALLEST, LARGEST = 1e-15, 0.1
POWER = r"10\s*(?:\*\*|\^|<sup>)?\s*[{(]*\s*[-\u2212\u2013\u2010\u2011]\s*(?P<power>1?\d)(?!\d)\s*[)}]*(?:</sup>)?"
SCIENTIFIC = r"(?P<scientific>\d(?:\.\d+)?[eE][-\u2212\u2013]\d+)"
DECIMAL = r"(?P<decimal>0\.0*[1-9]\d*)"
NUMBER = re.compile(rf"(?<![\w.^-])(?:{POWER}|{SCIENTIFIC}|{DECIMAL})(?![\w^]|-\d)")
# Where a sentence ends: not within 1e-6 or 0.01.
ENDS = re.compile(r"[.!?;]\s|\n\s*\n")
ABOUT = re.compile(
    r"\b(?:errors?|inaccuracy|accuracy|accurate|precision|precise|toleranc\w+|differs?)\b", re.IGNORECASE
)
OUTPUT = re.compile(r"^\W*Output\b", re.IGNORECASE | re.MULTILINE)


@functools.lru_cache(maxsize=256)
def tolerance_in(statement: str) -> tuple[float, float] | None:
    """The absolute and the relative error that `statement` allows (0: none of that kind); None where it names none."""
    heading = OUTPUT.search(statement)
    parts = [statement[heading.start() :], statement[: heading.start()]] if heading else [statement]
    for part in parts:
        for sentence in ENDS.split(part):
            found = _tolerance_of(sentence + " ")
            if found is not None:
                return found
    return None


def _tolerance_of(sentence: str) -> tuple[float, float] | None:
    if not ABOUT.search(sentence):
        return None
    numbers = [(match, value) for match in NUMBER.finditer(sentence) if SMALLEST <= (value := _value(match)) <= LARGEST]
    absolute = relative = 0.0
    for place, (match, value) in enumerate(numbers):
        before = numbers[place - 1][0].end() if place else 0
        words = sentence[before : match.start()].lower()
        if place == len(numbers) - 1:
            words += sentence[match.end() :].lower()
        is_absolute, is_relative = "absolut" in words, "relativ" in words
        if not is_absolute and not is_relative:
            is_absolute, is_relative = True, "differ" not in words
        absolute = absolute or value * is_absolute
        relative = relative or value * is_relative
    return (absolute, relative) if absolute or relative else None


def _value(match: re.Match[str]) -> float:
    if match["power"]:
        return float(f"1e-{match['power']}")
    return float((match["scientific"] or match["decimal"]).replace("\u2212", "-").replace("\u2013", "-"))
