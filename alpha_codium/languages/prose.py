"""Telling lines of prose from lines of code by their look, for all languages.

1. A line may be prose (`PROSE_LINE`): a text can be cut before it if the part before it is a program.
2. A line is a sentence (`SENTENCE`): it isn't code at the top level of any of the languages. Readers that have no
   parser rely on this.
"""

import re
from collections.abc import Iterator

PROSE_LINE = re.compile(
    r"^(?![A-Za-z_][\w.\[\]]*[ \t]*(?:[-+*/%|&^]?=|[(\[]))"
    r"(?:[A-Z][\w'\u2019]*(?:[ ,:.!]|\r?$)|\*\*|#{2,6} |[-*] |\d+[.)] |>|\[/|</|<\||`{3}|~{3}|---)",
    re.MULTILINE,
)
# Words that a statement begins with, in lower case.
_KEYWORDS = (
    "abstract assert async auto await begin bool break case catch char class const constexpr data def default del do "
    "double elif else end enum except export extends extern final float for friend from fun func function global goto "
    "if impl implements import include inline int interface internal let long mod module namespace new next not open "
    "override p package print private protected pub public puts raise record register require return sealed short "
    "signed static struct switch template throws try type typedef typename union unless unsigned until use using val "
    "var virtual void volatile when where while with yield"
)
_WORD = r"(?:[A-Za-z][A-Za-z'\u2019+#-]*+|`[^`\n]*`|\*\*[^*\n]*\*\*)(?=[ \t,.:;!?)]|\r?$)"
_LIST = r"(?:[-*+\u2022]|\d{1,3}[.)])[ \t]+"
# Three words, or fewer before a sign that ends a clause, of which the first begins with a capital.
_CAPITAL = rf"(?=[A-Z`*]){_WORD}(?:(?:,?[ \t]{_WORD}){{2}}|(?:,?[ \t]{_WORD})?(?:[.!?]|:(?!:))(?:[ \t][^\n]*)?\r?$)"
# No statement ends like this.
_ENDED = r"[A-Z`*][^\n]*[\w)`*'\"][.!?]\r?$"
# More words that begin with a small letter.
_SMALL = (
    rf"(?!(?:{_KEYWORDS.replace(' ', '|')})\b)(?=[a-z]){_WORD}"
    rf"(?:(?:,?[ \t]{_WORD}){{5}}|(?:,?[ \t]{_WORD}){{2,4}}[.:!?]\r?$)"
)
# Neither a statement nor an assignment to names.
_NO_CODE = r"(?![^\n]*[;{][ \t\r]*$|[\w \t,*&]*=[^=])"
SENTENCE = re.compile(
    rf"^[ \t]*+(?:{_LIST})?+(?:{_NO_CODE}(?:{_CAPITAL}|{_SMALL}|{_ENDED})|\*\*[A-Za-z]|#{{2,6}} [A-Za-z])", re.MULTILINE
)
# A title of a few words, such as `Solution` or `C++ code`, before or after a program.
TITLE = re.compile(r"[ \t]*[A-Z][A-Za-z+#]*(?:[ \t][A-Za-z+#]+){0,3}[ \t\r]*")


def is_sentence(line: str) -> bool:
    """Whether a line is a sentence, a heading or an item of a list in prose."""
    return bool(SENTENCE.match(line))


def sentences(text: str) -> Iterator[int]:
    """Yield where lines begin that are no code at the top level of a program: sentences, and titles at the ends."""
    lines = text.split("\n")
    filled = [number for number, line in enumerate(lines) if line.strip()]
    ends = {filled[0], filled[-1]} if filled else set[int]()
    start = 0
    for number, line in enumerate(lines):
        if is_sentence(line) or (number in ends and TITLE.fullmatch(line)):
            yield start
        start += len(line) + 1
