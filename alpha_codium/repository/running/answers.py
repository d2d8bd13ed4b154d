"""Reading answers: the code in the text, and the change of the file that it stands for.

1. Thinking is removed; if it didn't end, there is no answer. Of several fenced blocks, the last one counts that begins
   as a method does; without fences the whole text must be code.
2. A method must have the right name. Its decorators are removed, since those of the file stay, and it is indented as
   the method in the file. Anything else isn't run, and the model is told why.
3. With `gen_target: class`, the answer is the whole class, under its own name and with the method.
"""

import ast
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

from alpha_codium.answers.extraction import fenced_texts
from alpha_codium.answers.fences import clean
from alpha_codium.languages.python.syntax import lines_of
from alpha_codium.repository.certificate import edit_for
from alpha_codium.repository.harness import Edit
from alpha_codium.repository.methods import (
    FUNCTIONS,
    AnswerError,
    Method,
    answered_method,
    class_lines,
    completion_parts,
    find_method,
    methods_of,
    only_statement,
    placed,
    spaced,
    statements_of,
)
from alpha_codium.repository.tasks import RepositoryTask

# Several times the length of the largest classes. A server refuses requests that are too large.
MOST_CHARACTERS = 250_000
METHOD = re.compile(r"\s*(?:@|(?:async\s+)?def\s+(?P<name>\w+)\b)")
CLASS = re.compile(r"(?<!\s)\s*(?:@|class\s+\w+\b)")


@dataclass(frozen=True, slots=True)
class ReadAnswer:
    """An answer as it is tested: the file with the `method`, whose text is `code`.

    `written` is what is compared with the repository's code: the method, or the lines that complete it.
    """

    edit: Edit
    method: str
    code: str
    written: str


def code_of(answer: str, beginning: re.Pattern[str] = METHOD) -> str:
    """Return the code in an answer, of several blocks the last with this beginning; raises AnswerError without any."""
    text = clean(answer.replace("\r\n", "\n").replace("\r", "\n"))
    if not text.strip():
        raise AnswerError("there was no answer" if not answer.strip() else "the answer had no text after the thinking")
    blocks = [block.code for block in fenced_texts(text) if block.code.strip()] or [text.strip("\n")]
    code = next((block for block in reversed(blocks) if beginning.match(block)), blocks[-1])
    if len(code) > MOST_CHARACTERS:
        raise AnswerError(f"the answer has {len(code):,} characters of code; at most {MOST_CHARACTERS:,} are allowed")
    return code


def read_method(task: RepositoryTask, code: str) -> ReadAnswer:
    """Return the answer that is the task's method; raises AnswerError."""
    _require_beginning(code, task.method.name)
    text = answered_method(code, task.method)
    edit = edit_for(task, placed(task.raw_file_content, task.method, text))
    return ReadAnswer(edit, task.method.qualified_name, text, text)


def read_class(task: RepositoryTask, code: str) -> ReadAnswer:
    """Return the answer that is the whole class of the task's method, or the function if it has none.

    Raises AnswerError.
    """
    method, lines = task.method, class_lines(task.raw_file_content, task.method)
    if lines is None:
        return read_method(task, code)
    name = method.class_name.partition(".")[0]
    statement, text = only_statement(code)
    if not isinstance(statement, ast.ClassDef) or statement.name != name:
        raise AnswerError(f"the answer must be only the class, beginning with `class {name}` or a decorator")
    file = lines_of(task.raw_file_content)
    whole = "".join([*file[: lines[0]], text, *file[lines[1] :]])
    try:
        answered = find_method(whole, method.qualified_name)
    except KeyError:
        raise AnswerError(f"the class must have the method `{method.qualified_name}`") from None
    written = "".join(lines_of(whole)[slice(*answered.lines)])
    return ReadAnswer(Edit(task.file_path, whole), method.qualified_name, text, written)


def read_repair(task: RepositoryTask, code: str) -> ReadAnswer:
    """Return the answer that is one method of the file with the bug, repaired; raises AnswerError.

    If several methods have the name, it is the one with the bug, or else the first.
    """
    _require_beginning(code)
    name = _name_of(code)
    alike = [method for method in methods_of(task.buggy_text) if method.name == name]
    if not alike:
        raise AnswerError(f"the file has no method `{name}`: answer with a method of the file, under its own name")
    target = find_method(task.buggy_text, task.method.qualified_name, task.method.lines[0])
    chosen = target if target in alike else alike[0]
    text = answered_method(code, chosen)
    edit = edit_for(task, placed(task.buggy_text, chosen, text))
    return ReadAnswer(edit, chosen.qualified_name, text, text)


def read_completion(task: RepositoryTask, code: str) -> ReadAnswer:
    """Return the answer that completes the task's method: its remaining lines, or all of it; raises AnswerError."""
    method, head = task.method, head_of(task)
    if METHOD.match(code) and _is_method(code, method):
        text = answered_method(code, method)
        written, whole = _without_head(text, head), placed(task.raw_file_content, method, text)
    else:
        written, whole = _continuation(task, head, code)
        text = head + written
    return ReadAnswer(edit_for(task, whole), method.qualified_name, text, written)


def head_of(task: RepositoryTask) -> str:
    """Return the part of the method that a completion continues: all but the second half of the body's lines."""
    method = task.method
    lines = lines_of(task.raw_file_content)
    return "".join(lines[method.lines[0] : method.body_lines[0]]) + completion_parts(method)[0]


def _require_beginning(code: str, name: str = "") -> None:
    match = METHOD.match(code)
    if match is None or (name and match["name"] not in (None, name)):
        wanted = f"`def {name}`, `async def {name}`" if name else "`def`, `async def`"
        raise AnswerError(f"the answer must begin with {wanted} or a decorator, and hold nothing but the method")


def _name_of(code: str) -> str:
    """Return the name of the first function in some code; raises AnswerError if it isn't Python."""
    return next((each.name for each in statements_of(code)[1] if isinstance(each, FUNCTIONS)), "")


def _is_method(code: str, method: Method) -> bool:
    """Whether some code is the whole method, and not a function within it."""
    try:
        return _name_of(code) == method.name
    except AnswerError:
        return False


def _without_head(text: str, head: str) -> str:
    """Return a method without the lines that were given, if it begins with them."""
    lines, given = lines_of(text), lines_of(head)
    alike = [line.strip() for line in lines[: len(given)]] == [line.strip() for line in given]
    return "".join(lines[len(given) :]) if alike else text


def _continuation(task: RepositoryTask, head: str, code: str) -> tuple[str, str]:
    """Return the lines that continue the method, indented so that they are a part of it, and the file with them."""
    for text in _indented(head, code):
        try:
            # Most are refused without reading the whole file.
            only_statement(head + text)
            return text, placed(task.raw_file_content, task.method, head + text)
        except AnswerError:
            continue
    raise AnswerError(f"the lines don't complete the method `{task.method.name}`: together with the given lines they "
                      "must be one method in valid Python")  # fmt: skip


def _indented(head: str, code: str) -> Iterator[str]:
    """Yield the code with each indentation that it may have been meant to have, the likeliest first."""
    code = code.strip("\n").rstrip() + "\n"
    yield code
    code = spaced(code)
    yield code
    lines = [line for line in head.splitlines() if line.strip()]
    last = lines[-1]
    deeper = [_indent(last) + "    "] if last.rstrip().endswith(":") else []
    known = sorted({_indent(line) for line in lines[1:]}, key=len, reverse=True)
    flush = textwrap.dedent(code)
    for indent in (*deeper, _indent(last), *known):
        yield textwrap.indent(flush, indent)
        # The first line often comes without the indentation that the others have.
        yield indent + code.lstrip(" ")


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]
