"""Fences, thinking and end tokens in a model's answer.

1. Thinking (`<think>...</think>`) is removed; without a closing tag, everything after the opening one is removed.
2. Tokens that end a turn (`<|im_end|>`) are removed only at the very end.
3. A fence is a line of three or more backticks or tildes, after white space or a list marker. It is closed by at least
   as many of the same character. The text after them is the fence's tag.
4. All functions make one pass over the text, so that answers of megabytes take little time.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from alpha_codium.language_table import LANGUAGES
from alpha_codium.languages import language_named

ZERO_WIDTH = "\ufeff\u200b\u200c\u200d\u2060"

FENCE = re.compile(
    r"^(?P<lead>[ \t]*(?:(?:[-*+]|\d{1,3}[.)])[ \t]+)?)(?P<mark>`{3,}(?=[^`\n]*$)|~{3,})(?P<info>[^\n]*)$", re.MULTILINE
)
THINK = "(?:think|thinking|thought|reasoning)"
THINKING_OR_FENCE = re.compile(
    rf"^(?P<lead>[ \t]*)(?:(?P<mark>`{{3,}}|~{{3,}})(?P<info>[^\n]*)|<(?P<tag>{THINK})>|</{THINK}>)"
    rf"|</{THINK}>(?=[ \t\r]*$)",
    re.MULTILINE | re.IGNORECASE,
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


def clean(answer: str) -> str:
    """Remove thinking, tokens at the end, and invisible characters at the start."""
    return strip_end_tokens(strip_thinking(answer.lstrip(ZERO_WIDTH))).lstrip(ZERO_WIDTH)


def strip_thinking(text: str) -> str:
    """Remove the model's thinking; without a closing tag, everything after the opening one is removed.

    Tags are recognized only outside fences and at the start of a line, since a program may print `<think>`; an indented
    one only if it is closed, since a long value may be wrapped before it. A closing tag without an opening one, at the
    end of a line, removes everything before it, since many chat templates put the opening tag into the prompt.
    """
    kept: list[str] = []
    start = position = 0
    opening: re.Match[str] | None = None
    while match := THINKING_OR_FENCE.search(text, position):
        position = match.end()
        if match["mark"]:
            opening = _open_after(opening, match)
        elif not opening and match["tag"]:
            closing = re.compile(f"</{match['tag']}>", re.IGNORECASE).search(text, position)
            if closing is None and match["lead"]:
                continue
            kept.append(text[start : match.start()])
            start = position = closing.end() if closing else len(text)
        elif not opening:
            kept, start = [], position
    return "".join(kept) + text[start:]


def _open_after(opening: re.Match[str] | None, line: re.Match[str]) -> re.Match[str] | None:
    """Return the fence that is open after one more fence line, or None."""
    if not opening:
        return line
    same_sign = line["mark"][0] == opening["mark"][0] and len(line["mark"]) >= len(opening["mark"])
    closes = same_sign and not line["info"].strip() and len(line["lead"]) <= len(opening["lead"])
    return None if closes else opening


def strip_end_tokens(text: str) -> str:
    """Remove tokens that end a turn, and white space after them, from the end of a text."""
    end = len(text)
    while match := END_TOKEN.search(text, max(0, end - LONGEST_END_TOKEN), end):
        end = match.start()
    return text[:end]
