"""Wording of messages, and the order of names in them."""

import math
import re

# An absolute path with at least two parts; the last one is kept.
PATH = re.compile(r"(?<![\w:/.~-])/(?:[\w.+@~-]+/)+(?=[\w.+@~-])")


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: `1 problem`, `2 problems`, `0 problems`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def size_text(size: float) -> str:
    """Return a number of bytes as text, such as 1.5 GiB."""
    for unit in ("B", "KiB", "MiB"):
        if size < 1024:
            return f"{size:.0f} {unit}"
        size /= 1024
    return f"{size:.1f} GiB"


def natural_order(name: str) -> list[tuple[int, str]]:
    """Return a key that sorts numbers in names by their size, so that `checkpoint-9` comes before `checkpoint-10`."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", name)]


def money(dollars: float | None) -> str:
    """Format US dollars with at least two significant digits, so that a small cost isn't shown as 0."""
    if dollars is None:
        return "unknown"
    if math.isinf(dollars):
        return "unbounded"
    digits = 4 if dollars == 0 else max(4, 1 - math.floor(math.log10(dollars)))
    return f"{dollars:.{digits}f}"


def in_dollars(dollars: float | None) -> str:
    """Format US dollars with a dollar sign."""
    return f"${money(dollars)}" if dollars is not None and math.isfinite(dollars) else money(dollars)


def without_paths(error: object) -> str:
    """Return the text of an error with the names of files in place of their absolute paths."""
    return PATH.sub("", str(error))
