"""Texts and tables for a terminal of 80 columns."""

import math
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

WIDTH = 80
GAP = "  "
Row = Sequence[str]


def table(header: Row, rows: Iterable[Row], left: int = 1) -> str:
    """Columns as wide as their cells, the first `left` of them aligned to the left, the others to the right.

    Columns that don't fit into the width follow in a table of their own, beside the first `left` again.
    """
    lines = [[plain(cell) for cell in row] for row in (header, *rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    blocks = [list(range(left))]
    for column in range(left, len(header)):
        if len(blocks[-1]) > left and _total(widths, [*blocks[-1], column]) > WIDTH:
            blocks.append(list(range(left)))
        blocks[-1].append(column)

    def aligned(line: Row, columns: Sequence[int]) -> str:
        cells = (line[i].ljust(widths[i]) if i < left else line[i].rjust(widths[i]) for i in columns)
        return GAP.join(cells).rstrip()

    return "\n\n".join("\n".join(aligned(line, columns) for line in lines) for columns in blocks)


def _total(widths: Sequence[int], columns: Sequence[int]) -> int:
    return sum(widths[column] for column in columns) + len(GAP) * (len(columns) - 1)


def wrapped(text: str, indent: str = "") -> str:
    """The text in lines of the table's width, those after the first behind `indent`."""
    return textwrap.fill(plain(text), WIDTH, subsequent_indent=indent, break_on_hyphens=False)


def plain(text: str) -> str:
    """A text with its control and other unprintable characters escaped: names are untrusted."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def shortened(text: str, width: int) -> str:
    """The text, cut in the middle where it is longer."""
    text = plain(text)
    if len(text) <= width:
        return text
    head = (width - 3) // 2
    return f"{text[:head]}...{text[len(text) - (width - 3 - head) :]}"


def number(value: float) -> str:
    """A number of calls, with a decimal if it is small."""
    return f"{value:.1f}" if value < 100 else count(value)


def count(value: float) -> str:
    """A large number, such as one of tokens."""
    return "unbounded" if math.isinf(value) else f"{value:,.0f}"


def share(count: int, of: int) -> str:
    """A count and its share of `of`."""
    return f"{count} ({count / of:.1%})" if of else "n/a"


def cell(value: Any) -> str:
    """A value of any kind."""
    return f"{value:g}" if isinstance(value, int | float) else str(value)
