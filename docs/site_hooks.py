"""Hooks of mkdocs: pages that are made of code and of files outside of docs/, and llms.txt.

The pages link to files of the repository (`../CONTRIBUTING.md`), which GitHub and editors follow; in the site these are
pages, or files beside them.
"""

import inspect
import json
import re
from collections.abc import Iterator
from enum import EnumMeta
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page

import alpha_codium
from alpha_codium import rewards

ROOT = Path(__file__).parents[1]
# Files outside of docs/ that pages link to: pages of the site, and files that it has as they are.
PAGES = {
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "benchmarks/README.md": "benchmarking.md",
    "docker/apps/README.md": "apps_vm.md",
    "settings/configuration.toml": "settings.md",
}
FILES = (
    "examples/jars.json",
    "docker/compose.yaml",
    "docker/kubernetes/base/judge.yaml",
    "examples/arrays/score.sbatch",
    "examples/arrays/score-job.yaml",
    "examples/arrays/score-rayjob.yaml",
    "examples/trainers/lm_eval/humaneval.yaml",
    "examples/trainers/trl_grpo.py",
    "examples/trainers/verifiers_runtime.py",
    "examples/trainers/verl/reward.yaml",
)
LINK = re.compile(r"\[([^]]*)\]\((?!https?:)([^)#\s]+)(#[^)\s]*)?\)")
SUMMARY = "Generate programs with language models, judge programs in a sandbox, and know what a score is worth."


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages and the files that pages link to."""
    made = {"settings.md": settings_page(), "python_reference.md": python_page(), "http_reference.md": http_page()}
    made |= {"json_reference.md": json_page()}
    made |= {page: (ROOT / path).read_text("utf-8") for path, page in PAGES.items() if path.endswith(".md")}
    for name, text in made.items():
        files.append(File.generated(config, name, content=text))
    for path in FILES:
        files.append(File.generated(config, path, abs_src_path=str(ROOT / path)))
    return files


def on_page_markdown(markdown: str, page: Page, files: Files, **_: Any) -> str:
    """Make links to files outside of docs/ links to their places in the site, and call pages by their titles."""
    homes = {made: Path(path).parent for path, made in PAGES.items() if path.endswith(".md")}
    folder = homes.get(page.file.src_uri, Path("docs"))

    def linked(link: re.Match[str]) -> str:
        target = _target(folder, link[2])
        name = _title_of(target, files) if link[1] == Path(link[2]).name and target.endswith(".md") else link[1]
        return f"[{name}]({target}{link[3] or ''})"

    return LINK.sub(linked, markdown)


def _title_of(page: str, files: Files) -> str:
    file = files.get_file_from_path(page)
    heading = re.search(r"^# (.*)$", file.content_string if file else "", re.MULTILINE)
    return heading[1] if heading else page


def _target(folder: Path, target: str) -> str:
    path = (ROOT / folder / target).resolve().relative_to(ROOT)
    if path.is_relative_to("docs"):
        return str(path.relative_to("docs"))
    return PAGES.get(str(path), str(path))


def settings_page() -> str:
    """Return the page of all settings: the shipped file, a block for each section."""
    text = (ROOT / "settings" / "configuration.toml").read_text("utf-8").replace("|", "\\|")
    head, *sections = re.split(r"^(?=\[)", text, flags=re.MULTILINE)
    parts = ["# Settings", " ".join(line.lstrip("# ") for line in head.strip().splitlines())]
    parts.append("`gencode settings` prints those in force; [install.md](install.md#settings) says where to set them.")
    for section in sections:
        heading, *lines = section.strip().splitlines()
        name, _, said = heading[1:].partition("]")
        rows = (re.fullmatch(r"(?:# )?(\w+) = (.*?)(?: {2,}# (.*))?", line) for line in lines if line)
        table = "\n".join(f"| `{row[1]}` | `{row[2]}` | {row[3] or ''} |" for row in rows if row)
        parts += [f"## {name}", said.strip(" #"), f"| setting | default | |\n|---|---|---|\n{table}"]
    return "\n\n".join(parts) + "\n"


def python_page() -> str:
    """Return the page of the public names of Python, from their docstrings."""
    parts = ["# Python reference", "Made of the docstrings. [The guide](python_api.md) shows how the names are used."]
    for module in (alpha_codium, rewards):
        parts.append(f"## {module.__name__}")
        for name in sorted(set(module.__all__) - {"__version__"}, key=str.lower):
            if not name.endswith("_async"):
                parts += _entry(name, getattr(module, name))
    return "\n\n".join(parts) + "\n"


def _entry(name: str, value: Any) -> Iterator[str]:
    yield f"### {name}"
    if isinstance(value, EnumMeta):
        yield _prose(value)
        yield ", ".join(f"`{each.value}`" for each in value)
        return
    if not (inspect.isabstract(value) or name in ("Settings", "UserError")):
        yield f"```python\n{_signature(name, value)}\n```"
    yield _prose(value)
    if inspect.isclass(value):
        yield from _methods(value)


def _methods(value: type) -> Iterator[str]:
    for name, member in vars(value).items():
        function = getattr(member, "__func__", getattr(member, "fget", member))
        if name.startswith("_") or not inspect.isfunction(function) or not function.__doc__:
            continue
        first = inspect.cleandoc(function.__doc__).partition("\n\n")[0].replace("\n", " ")
        shown = name if isinstance(member, property) else f"{name}()"
        yield f"- `{shown}`: {first}"


def _signature(name: str, value: Any) -> str:
    signature = inspect.signature(value)
    plain = re.sub(r"(: |-> )'([^']*)'", r"\1\2", str(signature))
    text = name + re.sub(r"<\w+\.\w+: ('\w+')>|<factory>", lambda found: found[1] or "...", plain)
    text = re.sub(r"\b(?:[a-z_]\w*\.)+([A-Za-z_]\w*)", r"\1", text)
    if len(text) <= 100:
        return text
    # A parameter a line: the commas outside of all brackets but the outermost.
    parts, depth = [""], 0
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        parts[-1] += character
        if character == "," and depth == 1:
            parts.append("")
    first, _, rest = parts[0].partition("(")
    lines = [rest, *parts[1:]]
    last, _, result = lines[-1].rpartition(")")
    return "\n".join([f"{first}(", *(f"    {line.strip()}" for line in [*lines[:-1], last]), f"){result}"])


def _prose(value: Any) -> str:
    text = inspect.cleandoc(value.__doc__ or "")
    before, _, arguments = text.partition("\nArguments:\n")
    items = re.findall(r"^ {4}(\w+): (.*(?:\n {8}.*)*)", arguments, re.MULTILINE)
    listed = "\n".join(f"- `{name}`: {' '.join(said.split())}" for name, said in items)
    return "\n\n".join(filter(None, [before.strip(), listed]))


def http_page() -> str:
    """Return the page of the HTTP API, from docs/openapi.json."""
    spec = json.loads((ROOT / "docs" / "openapi.json").read_text("utf-8"))
    parts = [
        "# HTTP reference",
        "Made of [openapi.json](openapi.json), which changes only by additions "
        "([versions](../SECURITY.md#versions-and-deprecation)). [service.md](service.md) shows how to use it.",
    ]
    for path, operations in spec["paths"].items():
        for method, operation in operations.items():
            said = operation.get("description", operation.get("summary", ""))
            parts += [f"## {method.upper()} {path}", said.strip()]
            sent, back = (_schema_of(each) for each in (operation.get("requestBody"), operation["responses"]["200"]))
            parts += [f"{word}: {_linked(each)}" for word, each in (("Request", sent), ("Answer", back)) if each]
    parts.append("## Schemas")
    for name, schema in spec["components"]["schemas"].items():
        parts += [f"### {name}", schema.get("description", "")]
        if "properties" in schema:
            parts.append(_table(schema))
    return "\n\n".join(filter(None, parts)) + "\n"


def json_page() -> str:
    """Return the page of what `--json` writes, from docs/json-schema.json."""
    schemas = json.loads((ROOT / "docs" / "json-schema.json").read_text("utf-8"))["$defs"]
    parts = [
        "# JSON reference",
        "What `--json` of each command writes. Made of [json-schema.json](json-schema.json); "
        "[runs.md](runs.md#json-results) says what may change.",
    ]
    for name, schema in schemas.items():
        command = name[0].islower()
        parts += [f"## gencode {name.replace('.', ' ')}" if command else f"### {name}", schema.get("description", "")]
        parts.append(_table(schema) if "properties" in schema else _linked(schema))
    return "\n\n".join(filter(None, parts)) + "\n"


def _schema_of(body: dict[str, Any] | None) -> dict[str, Any]:
    contents = list((body or {}).get("content", {}).values())
    return contents[0].get("schema", {}) if contents else {}


def _table(schema: dict[str, Any]) -> str:
    return "| field | type | default | |\n|---|---|---|---|\n" + "\n".join(_rows(schema))


def _rows(schema: dict[str, Any]) -> Iterator[str]:
    for name, field in schema["properties"].items():
        default = f"`{json.dumps(field.get('default'))}`" if "additionalProperties" not in schema else "may be missing"
        default = "required" if name in schema.get("required", ()) else default
        said = field.get("description", "").replace("\n", " ").replace("|", "\\|")
        yield f"| `{name}` | {_linked(field)} | {default} | {said} |"


def _linked(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in schema:
        return " or ".join(_linked(each) for each in schema["anyOf"])
    if "enum" in schema:
        return ", ".join(f"`{each}`" for each in schema["enum"])
    inner = schema.get("items") or schema.get("additionalProperties")
    many = "list" if schema.get("type") == "array" else "object"
    return f"{many} of {_linked(inner)}" if isinstance(inner, dict) else schema.get("type", "any")


def on_nav(nav: Navigation, config: MkDocsConfig, **_: Any) -> Navigation:
    """Keep the navigation for llms.txt."""
    config.extra["pages_of_nav"] = nav
    return nav


def on_post_build(config: MkDocsConfig) -> None:
    """Write llms.txt (llmstxt.org): every page with its first sentence, and the pages as Markdown beside them."""
    lines = ["# alpha_codium", "", f"> {SUMMARY}", ""]
    for item in config.extra["pages_of_nav"].items:
        pages = [item] if item.is_page else list(_pages_below(item))
        lines += [f"## {item.title}", "", *map(_line, pages), ""]
        for page in pages:
            (Path(config.site_dir) / page.file.src_uri).write_text(page.markdown, "utf-8")
    (Path(config.site_dir) / "llms.txt").write_text("\n".join(lines), "utf-8")


def _pages_below(item: Any) -> Iterator[Page]:
    for child in item.children:
        yield from [child] if child.is_page else _pages_below(child)


def _line(page: Page) -> str:
    text = re.sub(r"^```.*?^```|<!--.*?-->", "", page.markdown or "", flags=re.MULTILINE | re.DOTALL)
    prose = (each for each in re.split(r"\n{2,}", text) if re.match(r"[\w`\[]", each))
    first = re.split(r"(?<=[.:]) |:$", " ".join(next(prose, "").split()))[0]
    plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", first)
    return f"- [{page.title}]({page.file.src_uri}): {plain}"
