"""Colours of programs, as data: the page makes elements of them, so that no text becomes markup.

Pygments finds the tokens. The colours of a program are pairs of a kind and a length, which cover it from its beginning.
"""

from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pygments.lexer import Lexer

# Pygments takes milliseconds for a program: with more distinct ones than this, they are shown without colours.
MOST_PROGRAMS = 20_000
# A longer program, such as one with a table of numbers, is shown without colours.
LONGEST = 40_000
# The only language of ours that Pygments doesn't know by its name.
PYPY = "pypy3"
# The kinds that have a colour, by the beginning of Pygments' names; "" is plain text.
KINDS = {
    "Comment": "c", "Keyword": "k", "Literal.String": "s", "Literal.Number": "n", "Name.Function": "f",
    "Name.Class": "f", "Name.Builtin": "b", "Name.Decorator": "b", "Operator.Word": "k",
}  # fmt: skip


def colours_of(source: str, language: str) -> list[str | int]:
    """Return the colours of a program: kind, length, kind, length, ...; empty if there are none."""
    lexer = _lexer(language)
    if lexer is None or len(source) > LONGEST:
        return []
    kinds = ((_kind(str(token)), len(text)) for _, token, text in lexer.get_tokens_unprocessed(source))
    return [part for kind, group in groupby(kinds, lambda each: each[0]) for part in (kind, sum(n for _, n in group))]


def _kind(token: str) -> str:
    name = token.removeprefix("Token.")
    return next((kind for beginning, kind in KINDS.items() if name.startswith(beginning)), "")


@cache
def _lexer(language: str) -> "Lexer | None":
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        return get_lexer_by_name("python" if language == PYPY else language)
    except ClassNotFound:
        return None
