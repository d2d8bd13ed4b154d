"""Programs that stand in an answer without a fence: alone, between prose, in HTML, in a quotation, in one line."""

import html
import itertools
import re
from collections.abc import Iterator

from alpha_codium.answers.fences import LINE
from alpha_codium.languages import MAX_PROGRAM, CodeKind, Reader
from alpha_codium.languages.prose import PROSE_LINE, TITLE, is_sentence

MAX_STARTS = 8
MAX_CUTS = 8
MAX_BLOCKS = 8
# A line that may stand before the first one that is surely code.
CODE_BEFORE = re.compile(r"[ \t]*+(?://|/\*|\*|#\w|@|[^\n]*[;{}>/][ \t\r]*$|[ \t\r]*$)", re.MULTILINE)
# The content of `<pre><code class="language-python">...</code></pre>`.
HTML = re.compile(
    r"^[ \t]*<(?P<tag>pre|code)\b[^<>\n]{0,200}>\s*(?:<code\b[^<>\n]{0,200}>)?(?P<code>.*?)(?:</(?:code|pre)>|\Z)",
    re.MULTILINE | re.DOTALL | re.IGNORECASE,
)
# The elements by which HTML colours code.
SPAN = re.compile(r"</?span\b[^<>\n]{0,200}>", re.IGNORECASE)
# The marks of quoted lines (`> `).
QUOTED = re.compile(r"^[ \t]{0,3}>[ \t]?", re.MULTILINE)
# Code between backticks within one line.
IN_LINE = re.compile(r"^[ \t]*(?P<mark>`{3,})(?P<code>[^`\n]+)(?P=mark)[ \t\r]*$", re.MULTILINE)


def whole(text: str, reader: Reader) -> str | None:
    """Return the whole text if it is code, without a title, and the leading white space of chat templates."""
    code = text.lstrip()
    title, _, rest = code.partition("\n")
    if rest.strip() and TITLE.fullmatch(title):
        code = rest.lstrip("\r\n")
    return code if reader.kind_of(code) > CodeKind.BROKEN else None


def between_prose(text: str, reader: Reader) -> str | None:
    """Return the first program that begins at a line of code and ends at prose or the end, else the first snippet."""
    snippet = None
    for match in itertools.islice(reader.language.code_line.finditer(text), MAX_STARTS):
        for start in dict.fromkeys((_with_code_before(text, match.start(), reader), match.start())):
            rest = text[start:]
            code = rest if reader.kind_of(rest) > CodeKind.BROKEN else before_prose(rest, reader)
            if code and reader.kind_of(code) is CodeKind.PROGRAM:
                return code
            snippet = snippet or code
    return snippet


def _with_code_before(text: str, start: int, reader: Reader) -> int:
    """Return where comments and the like begin that stand right before a line."""
    first, hash_begins_comment = start, reader.language.tag in ("python", "ruby")
    while start:
        start = text.rfind("\n", 0, start - 1) + 1
        line = CODE_BEFORE.match(text, start)
        if line is None and hash_begins_comment and text[start] == "#":
            first = start
            continue
        if line is None or is_sentence(text[start : text.find("\n", start)]):
            break
        if text[start : line.end()].strip():
            first = start
    return first


def before_prose(text: str, reader: Reader) -> str | None:
    """Return the longest part of a text, from the start to a line of prose, that parses and does anything."""
    head = text[:MAX_PROGRAM]
    error = reader.line_of_error(head)
    if error is None:
        return None
    lines = LINE.findall(head)
    readable = sum(map(len, lines[: error - 1]))
    starts = (match.start() for match in PROSE_LINE.finditer(head))
    cuts = list(itertools.takewhile(lambda start: start <= readable, starts))[-MAX_CUTS:]
    # An indented sentence may be a part of a docstring.
    if error <= len(lines) and is_sentence(lines[error - 1]) and not lines[error - 1][0].isspace():
        cuts = [*(cut for cut in cuts if cut < readable), readable]
    for cut in reversed(cuts):
        if reader.kind_of(head[:cut]) > CodeKind.BROKEN:
            return head[:cut]
    return None


def from_html(text: str, reader: Reader) -> str | None:
    """Return the last program in an element `pre` or `code` of HTML."""
    blocks = (html.unescape(SPAN.sub("", match["code"])) for match in HTML.finditer(text))
    return _last_program(blocks, reader)


def in_line(text: str, reader: Reader) -> str | None:
    """Return the last program between backticks within one line."""
    return _last_program(map(_without_tag, IN_LINE.finditer(text)), reader, CodeKind.SNIPPET)


def _without_tag(match: re.Match[str]) -> str:
    word, _, rest = match["code"].strip().partition(" ")
    return rest if word.isalnum() and rest else match["code"].strip()


def _last_program(blocks: Iterator[str], reader: Reader, least: CodeKind = CodeKind.PROGRAM) -> str | None:
    kept = list(itertools.islice(blocks, MAX_BLOCKS))
    return next((code for code in reversed(kept) if code.strip() and reader.kind_of(code) >= least), None)
