"""Extraction of the one program in a model's answer, byte for byte.

1. Thinking, end tokens and invisible characters at the start are removed first.
2. A fence ends at the first fence line up to which its body parses, since a docstring may contain fences; else at the
   first fence line that can close it; else at prose or the end. The body loses the indentation of its fence; code is
   changed in no other way.
3. Of several fences: a program tagged as the language, else one without a tag, else anything tagged so, else a program
   under another tag, and so on. Of equals the last that is at least half as long as the longest: models correct
   themselves, and add short examples of use and test data.
4. Without fences: the whole answer if it parses and does anything, else a field such as `code` of a YAML or JSON
   answer, else the lines between prose that parse.

Other answers hold no program: refusals, prose, data.
"""

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from alpha_codium.flows.fences import LINE, ZERO_WIDTH, Fence, clean, dedent, find_fences
from alpha_codium.flows.fields import Field
from alpha_codium.flows.repairs import readings
from alpha_codium.flows.yaml_text import FormatError, read
from alpha_codium.languages import MAX_PROGRAM, CodeKind, Language, Reader, language_named
from alpha_codium.program import PYTHON

# `{}` stands for the language's tag.
CODE_FIELDS = ("fixed_code", "code", "{}_code", "solution_code", "program", "solution", "{}", "answer")
MOST_CLOSINGS = 8
MOST_STARTS = 8
MOST_CUTS = 8
PROSE_LINE = re.compile(
    r"^(?![A-Za-z_][\w.\[\]]*[ \t]*(?:[-+*/%|&^]?=|[(\[]))"
    r"(?:[A-Z][\w'\u2019]*(?:[ ,:.!]|\r?$)|\*\*|#{2,6} |[-*] |\d+[.)] |>|\[/|</|<\||`{3}|~{3}|---)",
    re.MULTILINE,
)
GLUED_CLOSING = re.compile(r"(?<=[^\s`])`{3,}[ \t\r]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Extracted:
    """A program in an answer.

    `complete` says that its end was seen: a closing fence, or text after it. `language` is the fence's tag, "" if it
    has none; all tags of the language asked for are its usual one.
    """

    code: str
    complete: bool = True
    language: str = ""


@dataclass(frozen=True, slots=True)
class _Block:
    """The body of a fence, its kind as code, and the offset at which it ends."""

    code: str
    kind: CodeKind
    complete: bool
    end: int
    language: str

    def rank(self, language: Language) -> int:
        """How likely this is the program asked for; 0 if it is none."""
        if self.kind is CodeKind.INERT or not self.code.strip():
            return 0
        if self.language == language.tag:
            return 6 if self.kind is CodeKind.PROGRAM else 4
        if self.kind is CodeKind.PROGRAM:
            return 3 if self.language else 5
        if self.language:
            return 0
        return 2 if self.kind is CodeKind.SNIPPET else int(bool(language.code_line.search(self.code)))


def extract_code(answer: str, language: str = PYTHON) -> Extracted | None:
    """Return the program in an answer; None if there is none."""
    text = clean(answer)
    reader = language_named(language).reader()
    return (
        _from_fences(text, reader) or _whole(text, reader) or _from_fields(text, reader) or _between_prose(text, reader)
    )


def fenced_texts(answer: str) -> list[Extracted]:
    """Return the bodies of an answer's fences, whatever they hold, in order."""
    blocks = _blocks(clean(answer), language_named(PYTHON).reader())
    return [Extracted(block.code, block.complete, block.language) for block in blocks]


def _from_fences(text: str, reader: Reader) -> Extracted | None:
    blocks = list(_blocks(text, reader))
    best = max((block.rank(reader.language) for block in blocks), default=0)
    if not best:
        return None
    equals = [block for block in blocks if block.rank(reader.language) == best]
    longest = max(len(block.code.strip()) for block in equals)
    block = next(block for block in reversed(equals) if 2 * len(block.code.strip()) >= longest)
    return Extracted(block.code, block.complete, block.language)


def _blocks(text: str, reader: Reader) -> Iterator[_Block]:
    """The blocks of a text in order; a fence around one that is tagged as the language is skipped."""
    fences, is_own = find_fences(text), reader.language.is_tag
    position = 0
    for number, opening in enumerate(fences):
        if opening.start < position:
            continue
        closings = _closings(fences, number, reader)
        if closings or is_own(opening.info) or not any(is_own(fence.info) for fence in fences[number + 1 :]):
            block = _block(text, opening, closings, reader)
            position = block.end
            yield block


def _closings(fences: Sequence[Fence], number: int, reader: Reader) -> list[Fence]:
    """The fences that may close fence `number`; one of another language ends before a fence of the language."""
    opening, is_own = fences[number], reader.language.is_tag
    found: list[Fence] = []
    for fence in fences[number + 1 :]:
        if len(found) == MOST_CLOSINGS or (is_own(fence.info) and not is_own(opening.info)):
            break
        if fence.can_close(opening):
            found.append(fence)
    return found


def _block(text: str, opening: Fence, closings: Sequence[Fence], reader: Reader) -> _Block:
    """The block that begins at a fence; point 2 of the module says where it ends."""
    is_own = reader.language.is_tag
    language = reader.language.tag if is_own(opening.info) else opening.tag
    for closing in closings:
        if closing.start - opening.end <= MAX_PROGRAM:
            code, kind = _read(text[opening.end : closing.start], opening.indent, reader)
            if kind is not CodeKind.BROKEN:
                # A fence that opens a program also closes this one if its closing was forgotten.
                return _Block(code, kind, True, closing.start if is_own(closing.info) else closing.end, language)
    closing = next((fence for fence in closings if not fence.info), closings[0] if closings else None)
    rest = text[opening.end : closing.start if closing else len(text)]
    code, kind = _read(rest, opening.indent, reader)
    for cut in (_before_glued_closing, _before_prose):
        if kind is CodeKind.BROKEN and (shorter := cut(code, reader)):
            return _Block(shorter, reader.kind_of(shorter), True, opening.end + len(rest), language)
    end = opening.end + len(rest) if not closing or is_own(closing.info) else closing.end
    return _Block(code, kind, closing is not None, end, language)


def _read(body: str, indent: str, reader: Reader) -> tuple[str, CodeKind]:
    """A fence's body without the fence's indentation, and its kind.

    If some lines have less indentation than the fence, the body stays as it is if it parses; else each line loses as
    much of the indentation as it has.
    """
    code = dedent(body, indent).lstrip(ZERO_WIDTH)
    kind = reader.kind_of(code)
    if indent and kind is CodeKind.BROKEN:
        looser = re.sub(rf"^[ \t]{{1,{len(indent)}}}", "", body, flags=re.MULTILINE)
        if (looser_kind := reader.kind_of(looser)) is not CodeKind.BROKEN:
            return looser, looser_kind
    return code, kind


def _before_glued_closing(text: str, reader: Reader) -> str | None:
    """The code up to a closing fence at the end of its last line (`main()````), if it parses."""
    match = GLUED_CLOSING.search(text)
    code = text[: match.start()] if match else ""
    return code if code and reader.kind_of(code) > CodeKind.BROKEN else None


def _before_prose(text: str, reader: Reader) -> str | None:
    """The longest beginning of a text that ends at a line of prose and does anything."""
    head = text[:MAX_PROGRAM]
    error = reader.line_of_error(head)
    if error is None:
        return None
    readable = sum(map(len, LINE.findall(head)[: error - 1]))
    starts = (match.start() for match in PROSE_LINE.finditer(head))
    cuts = list(itertools.takewhile(lambda start: start <= readable, starts))
    for cut in reversed(cuts[-MOST_CUTS:]):
        if reader.kind_of(head[:cut]) > CodeKind.BROKEN:
            return head[:cut]
    return None


def _whole(text: str, reader: Reader) -> Extracted | None:
    """The whole answer, without the white space that chat templates leave before it."""
    code = text.lstrip()
    return Extracted(code) if reader.kind_of(code) > CodeKind.BROKEN else None


def _from_fields(text: str, reader: Reader) -> Extracted | None:
    """The program in a field of a YAML or JSON answer, fenced there or not."""
    tag = reader.language.tag
    if not re.search(rf"(?:code|program|solution|{tag}|answer)\W{{0,3}}:", text, re.IGNORECASE):
        return None
    fields = [Field(name.format(tag)) for name in CODE_FIELDS]
    for reading in readings(text, fields):
        try:
            root = read(reading).value
        except FormatError:
            continue
        values = [root[field.name].value for field in fields if isinstance(root, dict) and field.name in root]
        for value in values:
            if isinstance(value, str) and (found := _from_fences(value, reader) or _whole(value, reader)):
                return Extracted(found.code, found.complete, tag)
    return None


def _between_prose(text: str, reader: Reader) -> Extracted | None:
    """The first program that begins at a line of code and ends at prose or the end; else the first snippet."""
    snippet = None
    for number, match in enumerate(reader.language.code_line.finditer(text)):
        if number == MOST_STARTS:
            break
        rest = text[match.start() :]
        code = rest if reader.kind_of(rest) > CodeKind.BROKEN else _before_prose(rest, reader)
        kind = reader.kind_of(code) if code else CodeKind.BROKEN
        if code and kind is CodeKind.PROGRAM:
            return Extracted(code)
        snippet = snippet or (Extracted(code) if code else None)
    return snippet
