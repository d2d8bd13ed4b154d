"""Where a model's answer marks code or data off from prose: fences, thinking, end tokens.

1. Thinking (`<think>...</think>`) is no part of an answer; thinking that never ends leaves nothing after it.
2. Tokens that end a turn (`<|im_end|>`) are no text either; only those at the very end are taken off.
3. A fence is a line of three or more backticks or tildes, after white space or a list marker. The same sign, at
   least as often, closes it. What stands after the sign is the fence's tag.
4. Everything works by offsets into the text and in one pass, so that an answer of megabytes costs little.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from alpha_codium.languages import LANGUAGES, language_named

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
    """One fence line; `start` and `end` are its offsets, `end` past its line break; `indent` is white space."""

    start: int
    end: int
    indent: str
    mark: str
    info: str

    @property
    def is_code(self) -> bool:
        """Whether the tag says that a program follows, in a language that we know."""
        return any(language_named(name).is_tag(self.info) for name in LANGUAGES)

    @property
    def tag(self) -> str:
        """The first word of what stands after the sign, in lower case."""
        return (self.info.strip("{}. ").split() or [""])[0].lower()

    def can_close(self, opening: "Fence") -> bool:
        """Whether this fence has the sign of `opening`, at least as often."""
        return self.mark[0] == opening.mark[0] and len(self.mark) >= len(opening.mark)


def find_fences(text: str, most: int = 200) -> list[Fence]:
    """The fence lines of a text in order, the first `most` of them."""
    fences = []
    for match in FENCE.finditer(text):
        indent = re.sub(r"[^\t]", " ", match["lead"])
        end = min(match.end() + 1, len(text))
        fences.append(Fence(match.start(), end, indent, match["mark"], match["info"].strip()))
        if len(fences) == most:
            break
    return fences


def fenced_texts(text: str) -> Iterator[tuple[Fence, str, bool]]:
    """What stands in the fences of a text: opening fence, body, whether it was closed.

    A fence that is indented deeper than the opening one, or that has a tag, doesn't close it: it belongs to a
    value inside.
    """
    fences = find_fences(text)
    at = 0
    while at < len(fences):
        opening, closing = fences[at], len(fences)
        for number in range(at + 1, len(fences)):
            fence = fences[number]
            if fence.can_close(opening) and not fence.info and len(fence.indent) <= len(opening.indent):
                closing = number
                break
        closed = closing < len(fences)
        yield (
            opening,
            dedent(text[opening.end : fences[closing].start if closed else len(text)], opening.indent),
            closed,
        )
        at = closing + 1


def dedent(body: str, indent: str) -> str:
    """The text without the indentation of its fence, if every line that isn't blank has it; else the text as it is."""
    lines = LINE.findall(body) if indent else []
    if not lines or not all(line.startswith(indent) or not line.strip() for line in lines):
        return body
    return "".join(line.removeprefix(indent) if line.strip() else line.lstrip(" \t") for line in lines)


def clean(answer: str) -> str:
    """The answer without thinking, without tokens at its end, and without invisible characters at its start."""
    return strip_end_tokens(strip_thinking(answer.lstrip(ZERO_WIDTH))).lstrip(ZERO_WIDTH)


def strip_thinking(text: str) -> str:
    """The text without what its model thought; thinking that never ends takes the rest with it.

    Tags count outside fences only and at the start of a line, since a program may well print `<think>`. Where only the
    closing tag is there (many templates open the thinking in the prompt), at an end of a line, all before it goes.
    """
    kept: list[str] = []
    start = position = 0
    opening: re.Match[str] | None = None
    while match := THINKING_OR_FENCE.search(text, position):
        position = match.end()
        if match["mark"]:
            opening = _open_after(opening, match)
        elif not opening and match["tag"]:
            kept.append(text[start : match.start()])
            closing = re.compile(f"</{match['tag']}>", re.IGNORECASE).search(text, position)
            start = position = closing.end() if closing else len(text)
        elif not opening:
            kept, start = [], position
    return "".join(kept) + text[start:]


def _open_after(opening: re.Match[str] | None, line: re.Match[str]) -> re.Match[str] | None:
    """The fence that is open after one more fence line."""
    if not opening:
        return line
    same_sign = line["mark"][0] == opening["mark"][0] and len(line["mark"]) >= len(opening["mark"])
    closes = same_sign and not line["info"].strip() and len(line["lead"]) <= len(opening["lead"])
    return None if closes else opening


def strip_end_tokens(text: str) -> str:
    """The text without the tokens that end a turn at its very end, and the white space after each."""
    end = len(text)
    while match := END_TOKEN.search(text, max(0, end - LONGEST_END_TOKEN), end):
        end = match.start()
    return text[:end]
