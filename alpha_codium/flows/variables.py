"""The variables of prompts, and a check of templates before the first call.

A stage passes each prompt the variables of `TASK` and those that its field names (`prompt_file`). In partials, names
that a template of the prompt binds, such as the variable of a loop, are known, too.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from alpha_codium.errors import FlowError, nearest
from alpha_codium.problem import Statement
from alpha_codium.rendering import Prompt, partials_file

# The variables of every prompt of the built-in stages; docs/flows.md says what each is.
TASK = ("problem", "kind", "is_function", "beginning", "language", "tag", "tests")
FAILURE = ("program", "test", "actual", "verdict")
STATEMENT = tuple(field.name for field in fields(Statement))


def check_templates(prompt: Prompt, names: Sequence[str]) -> None:
    """Raise FlowError for an invalid template, or one that uses a variable that isn't in TASK or `names`."""
    import jinja2
    from jinja2 import nodes

    known = {*TASK, *names}
    trees = {place: _parsed(prompt, place, text) for place, text in _used_templates(prompt)}
    used = [(place, node) for place, tree in trees.items() for node in tree.find_all((nodes.Name, nodes.Getattr))]
    bound = {node.name for _, node in used if isinstance(node, nodes.Name) and node.ctx != "load"}
    usable = known | bound | {"loop"} | jinja2.defaults.DEFAULT_NAMESPACE.keys()
    for place, node in used:
        if isinstance(node, nodes.Name) and node.name not in usable:
            raise _unknown(prompt, place, node.lineno, f"variable {node.name!r}", node.name, sorted(known))
        of_problem = isinstance(node, nodes.Getattr) and getattr(node.node, "name", "") == "problem"
        if of_problem and node.attr not in STATEMENT:
            raise _unknown(prompt, place, node.lineno, f"problem.{node.attr}", node.attr, STATEMENT)


def _unknown(prompt: Prompt, place: str, line: int, what: str, name: str, known: Sequence[str]) -> FlowError:
    close = hint if "did you mean" in (hint := nearest(name, known)) else ""
    return FlowError(f"{_where(prompt, place, line)}: there is no {what}{close}; there are: {', '.join(known)}")


def _used_templates(prompt: Prompt) -> Iterator[tuple[str, str]]:
    """Yield `system` and `user`, and the partials that they include, each with its text."""
    from jinja2 import nodes

    waiting, seen = ["system", "user"], set[str]()
    texts = {**prompt.partials, "system": prompt.system, "user": prompt.user}
    while waiting:
        place = waiting.pop(0)
        seen.add(place)
        yield place, texts[place]
        for include in _parsed(prompt, place, texts[place]).find_all(nodes.Include):
            name = include.template.value if isinstance(include.template, nodes.Const) else None
            if name is not None and name not in prompt.partials:
                raise _unknown(prompt, place, include.lineno, f"partial {name!r}", str(name), sorted(prompt.partials))
            if name is not None and name not in seen:
                waiting.append(name)


def _parsed(prompt: Prompt, place: str, text: str) -> Any:
    import jinja2

    try:
        return jinja2.Environment(autoescape=False).parse(text)  # noqa: S701 - it is only parsed
    except jinja2.TemplateSyntaxError as error:
        raise FlowError(f"{_where(prompt, place, error.lineno)}: {error.message}") from error


def _where(prompt: Prompt, place: str, line: int) -> str:
    """Return the file and the line in it of a template's line."""
    path = prompt.path
    if path is None:
        return f"prompt {prompt.name!r}, `{place}`, line {line}"
    file = path if place in ("system", "user") else partials_file(path, place)
    return f"{file}, line {line + _first_line(file, place)}"


def _first_line(file: Path, key: str) -> int:
    """Return the number of lines of a TOML file before the text of a key."""
    lines = file.read_text("utf-8").splitlines()
    pattern = re.compile(rf"\s*[\"']?{re.escape(key)}[\"']?\s*=\s*(?P<text>.*)")
    for number, text in enumerate(lines):
        if match := pattern.match(text):
            # The line break after opening quotes isn't part of the text.
            return number + (match["text"].strip() in ("'''", '"""'))
    return 0
