"""Pages of HTML by Jinja: every text is escaped, and the browser lets a page do nothing but its own work."""

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any


def rendered(template: str, values: Mapping[str, Any], scripts: Sequence[str] = (), beside: bool = False) -> str:
    """Return the page of a template with these scripts; `beside` lets it load more of them from files beside it."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("alpha_codium.report"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    style, script = _template("page.css"), "\n".join(map(_template, scripts))
    environment.filters["data"] = _data
    environment.filters["figure"] = lambda value, digits=3: "n/a" if value is None else f"{value:.{digits}f}"
    own = {"style": style, "script": script, "policy": _policy(style, script, beside)}
    return environment.get_template(template).render(**values, **own)


def _data(value: Any) -> Any:
    """Return JSON that can stand in an element: no text in it ends the element, or begins a comment."""
    from markupsafe import Markup

    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))  # noqa: S704 - escaped here


def _policy(style: str, script: str, beside: bool) -> str:
    """Return what the browser lets the page do: run its own script, and nothing with the network."""
    files = " 'self' file:" if beside else ""
    return (
        f"default-src 'none'; script-src {_hash_of(script)}{files}; style-src {_hash_of(style)}; "
        "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types bodies"
    )


def _hash_of(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _template(name: str) -> str:
    return resources.files("alpha_codium.report").joinpath("templates", name).read_text("utf-8")
