"""Fences and end tokens in a model's answer.

1. Thinking is removed first (`alpha_codium.thinking`).
2. Tokens that end a turn (`<|im_end|>`) are removed only at the very end.
3. A fence is a line of three or more backticks or tildes, after white space or a list marker. It is closed by at least
   as many of the same character. The text after them is the fence's tag.
4. All functions make one pass over the text, so that answers of megabytes take little time.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from alpha_codium.language_table import LANGUAGES
from alpha_codium.languages import language_named
from alpha_codium.thinking import split_thinking

ZERO_WIDTH = "\ufeff\u200b\u200c\u200d\u2060"

FENCE = re.compile(
    r"^(?P<lead>[ \t]*(?:(?:[-*+]|\d{1,3}[.)])[ \t]+)?)(?P<mark>`{3,}(?=[^`\n]*$)|~{3,})(?P<info>[^\n]*)$", re.MULTILINE
)
END_TOKEN = re.compile(r"(?:<[|\uff5c][\w\u2581 ]{1,30}[|\uff5c]>|</s>|<eos>|<end_of_turn>)\s{0,8}\Z")
LONGEST_END_TOKEN = 64
LINE = re.compile(r"[^\n]*\n|[^\n]+")


@dataclass(frozen=True, slots=True)
class Fence:
    """One fence line from offset `start` to `end`, including its line break; `indent` is white space."""

    start: int
    end: int
    indent: str
    mark: str
    info: str

    @property
    def is_code(self) -> bool:
        """Whether the tag is a known language's."""
        return any(language_named(name).is_tag(self.info) for name in LANGUAGES)

    @property
    def tag(self) -> str:
        """The first word after the backticks or tildes, in lower case."""
        return (self.info.strip("{}. ").split() or [""])[0].lower()

    def can_close(self, opening: "Fence") -> bool:
        """Return whether this fence has at least as many backticks or tildes as `opening`."""
        return self.mark[0] == opening.mark[0] and len(self.mark) >= len(opening.mark)


def find_fences(text: str, most: int = 200) -> list[Fence]:
    """Return the first `most` fence lines of a text."""
    fences = []
    for match in FENCE.finditer(text):
        indent = re.sub(r"[^\t]", " ", match["lead"])
        end = min(match.end() + 1, len(text))
        fences.append(Fence(match.start(), end, indent, match["mark"], match["info"].strip()))
        if len(fences) == most:
            break
    return fences


def fenced_texts(text: str) -> Iterator[tuple[Fence, str, bool]]:
    """Yield the fenced blocks of a text: the opening fence, the body, and whether it was closed.

    A fence with a tag, or with more indentation than the opening one, is part of the body.
    """
    fences = iter(find_fences(text))
    for opening in fences:
        closers = (f for f in fences if f.can_close(opening) and not f.info and len(f.indent) <= len(opening.indent))
        closing = next(closers, None)
        body = text[opening.end : closing.start if closing else len(text)]
        yield opening, dedent(body, opening.indent), closing is not None


def dedent(body: str, indent: str) -> str:
    """Remove the indentation of its fence from a block, if all lines that aren't blank have it."""
    lines = LINE.findall(body) if indent else []
    if not lines or not all(line.startswith(indent) or not line.strip() for line in lines):
        return body
    return "".join(line.removeprefix(indent) if line.strip() else line.lstrip(" \t") for line in lines)


def clean(answer: str, reads: Callable[[str], bool] = bool) -> str:
    """Remove thinking, tokens at the end, and invisible characters at the start; `reads` is as for `split_thinking`."""
    return strip_end_tokens(split_thinking(answer.lstrip(ZERO_WIDTH), reads)[0]).lstrip(ZERO_WIDTH)


def strip_end_tokens(text: str) -> str:
    """Remove tokens that end a turn, and white space after them, from the end of a text."""
    end = len(text)
    while match := END_TOKEN.search(text, max(0, end - LONGEST_END_TOKEN), end):
        end = match.start()
    return text[:end]
