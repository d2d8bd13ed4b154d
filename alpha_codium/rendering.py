"""Prompts: TOML files whose texts are Jinja2 templates.

1. A prompt file has `system`, `user`, `temperature`, and, for structured answers, a table `fields`.
2. Templates are rendered in Jinja2's sandbox with `StrictUndefined`, so that a missing variable is an error. Values
   aren't rendered as templates.
3. `partials.toml` in the same folder has templates for `{% include "name" %}`; its entry `from = "../other"` adds those
   of another folder.
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from alpha_codium.config.layers import read, toml
from alpha_codium.errors import FlowError, nearest

PARTIALS = "partials.toml"
KNOWN_KEYS = {"system", "user", "temperature", "fields", "code"}


@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt: two templates, a temperature, and the required content of the answer.

    `fields` describes a structured answer (see `alpha_codium.answers.structured`). With `code`, the answer must contain
    a program in its own fence.
    """

    name: str
    user: str
    system: str = ""
    temperature: float = 0.2
    fields: dict[str, Any] = field(default_factory=dict)
    code: bool = False
    partials: dict[str, str] = field(default_factory=dict)
    # Isn't part of a flow's fingerprint.
    path: Path | None = field(default=None, repr=False, compare=False)

    def render(self, variables: Mapping[str, Any]) -> tuple[str, str]:
        """Return the system and the user text; raises FlowError if a template needs a missing variable."""
        return self._fill(self.system, variables), self._fill(self.user, variables)

    def _fill(self, template: str, variables: Mapping[str, Any]) -> str:
        import jinja2

        try:
            return _compiled(template, tuple(sorted(self.partials.items()))).render(variables).strip()
        except (jinja2.TemplateError, TypeError) as error:
            known = f"; there are: {', '.join(sorted(variables))}" if isinstance(error, jinja2.UndefinedError) else ""
            raise FlowError(f"prompt {self.name!r} can't be rendered: {error}{known}") from error


@functools.lru_cache(maxsize=256)
def _compiled(template: str, partials: tuple[tuple[str, str], ...]) -> Any:
    return _environment(partials).from_string(template)


@functools.lru_cache(maxsize=64)
def _environment(partials: tuple[tuple[str, str], ...]) -> Any:
    import jinja2
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    return ImmutableSandboxedEnvironment(
        loader=jinja2.DictLoader(dict(partials)),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )


def load_prompt(path: Path) -> Prompt:
    """Read a prompt file; raises FlowError if it is invalid."""
    values = read_toml(path)
    unknown = set(values) - KNOWN_KEYS
    if unknown:
        word = min(unknown)
        raise FlowError(f"{path}: unknown key {word!r}{nearest(word, KNOWN_KEYS)}")
    if not str(values.get("user", "")).strip():
        raise FlowError(f"{path}: a prompt needs a text `user`")
    return Prompt(name=path.stem, partials=_partials(path.with_name(PARTIALS)), path=path, **values)


def partials_file(prompt: Path, name: str) -> Path:
    """Return the file of the partial `name` of a prompt: the one beside it, or the one that this adds."""
    own = prompt.with_name(PARTIALS)
    table = read_toml(own)
    return own if name in table else own.parent / table["from"] / PARTIALS


def _partials(file: Path) -> dict[str, Any]:
    """Return the templates in a `partials.toml`, which override those in the folder of its entry `from`."""
    own = read_toml(file) if file.exists() else {}
    folder = own.pop("from", "")
    if not isinstance(folder, str):
        raise FlowError(f"{file}: `from` must be the folder of another flow, not {folder!r}")
    shared = read_toml(file.parent / folder / file.name) if folder else {}
    return {name: text for name, text in shared.items() if name != "from"} | own


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file of a flow; raises FlowError if it is missing or malformed."""
    return read(path, str(path), toml, FlowError)
