"""Writes docs/openapi.json, what `gencode serve` promises below /v1, unless that would break clients.

`make docs` calls it; a test compares the file with the server.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from pydantic import TypeAdapter

from alpha_codium.problem import Problem
from alpha_codium.program import Job, PairJob
from alpha_codium.serve.api import application
from alpha_codium.serve.load import Load
from alpha_codium.verdict import PairReport, Report

FILE = Path(__file__).with_name("openapi.json")
# What requests and answers have as plain objects in the description of the server.
WHOLE: tuple[Any, ...] = (Problem, Job, PairJob, Report, PairReport)
# Limits that a server may only raise, and those that it may only lower.
UPPER, LOWER = ("maximum", "maxItems", "maxLength"), ("minimum", "minItems", "minLength")


def description() -> dict[str, Any]:
    """Return the server's OpenAPI description, with the schemas of problems, jobs and reports."""
    sandbox = SimpleNamespace(tool_version=lambda _language: "")
    identity = SimpleNamespace(digest="", interpreter="")
    judge = SimpleNamespace(sandbox=sandbox, rules=None)
    opened: Any = SimpleNamespace(executor=None, judge=judge, workers=1, identity=identity)
    spec = application(opened, Load(1, 1)).openapi()
    for kind in WHOLE:
        schema = TypeAdapter(kind).json_schema(ref_template="#/components/schemas/{model}")
        spec["components"]["schemas"] |= schema.pop("$defs", {}) | {kind.__name__: schema}
    spec["info"]["version"] = "v1"
    return spec


def breaking(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """Return what a client of the old description can't rely on in the new one; see SECURITY.md."""
    return list(_breaking(old, new))


def _breaking(old: dict[str, Any], new: dict[str, Any]) -> Iterator[str]:
    for path, operations in old["paths"].items():
        for method, before in operations.items():
            where, after = f"{method.upper()} {path}", new["paths"].get(path, {}).get(method)
            if after is None:
                yield f"{where}: it is gone"
                continue
            known = {each["name"] for each in before.get("parameters", ())}
            needed = {each["name"] for each in after.get("parameters", ()) if each.get("required")}
            yield from (f"{where}: the parameter {name} is required" for name in sorted(needed - known))
            bodies = (before.get("requestBody", {}), after.get("requestBody", {}))
            yield from _compare(Differ(old, new, request=True), *map(_content, bodies), f"{where}: request")
            answers = (each["responses"]["200"] for each in (before, after))
            yield from _compare(Differ(old, new, request=False), *map(_content, answers), f"{where}: answer")
    for name in (each.__name__ for each in WHOLE):
        reference = {"$ref": f"#/components/schemas/{name}"}
        request = not name.endswith("Report")
        yield from _compare(Differ(old, new, request=request), reference, reference, name)


def _content(body: dict[str, Any]) -> dict[str, Any]:
    """The schema of a body, of whatever type of media."""
    return next((each.get("schema", {}) for each in body.get("content", {}).values()), {})


class Differ:
    """Two descriptions, and which of the two directions is compared."""

    def __init__(self, old: dict[str, Any], new: dict[str, Any], *, request: bool) -> None:
        self.request = request
        self._specs, self.seen = (old, new), set[str]()

    def resolve(self, old: dict[str, Any], new: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return both schemas in place of references to them."""
        first, second = (self._follow(*each) for each in zip(self._specs, (old, new), strict=True))
        return first, second

    def _follow(self, spec: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
        while "$ref" in schema:
            schema = spec["components"]["schemas"].get(schema["$ref"].rpartition("/")[2], {})
        return schema


def _compare(differ: Differ, old: dict[str, Any], new: dict[str, Any], where: str) -> Iterator[str]:
    reference = old.get("$ref", "")
    if reference and reference in differ.seen:
        return
    differ.seen |= {reference} if reference else set()
    old, new = differ.resolve(old, new)
    yield from _compare_types(differ, old, new, where)
    before, after = old.get("properties", {}), new.get("properties", {})
    yield from (f"{where}: {name} is gone" for name in before if name not in after)
    required = (set(new.get("required", ())), set(old.get("required", ())))
    more, word = (required[0] - required[1], "is required") if differ.request else (
        (required[1] - required[0]) & after.keys(), "may be missing"
    )  # fmt: skip
    yield from (f"{where}: {name} {word}" for name in sorted(more))
    for name in before.keys() & after.keys():
        yield from _compare(differ, before[name], after[name], f"{where}: {name}")
    if "items" in old and "items" in new:
        yield from _compare(differ, old["items"], new["items"], f"{where}: an item")


def _compare_types(differ: Differ, old: dict[str, Any], new: dict[str, Any], where: str) -> Iterator[str]:
    before, after = types_of(differ.resolve(old, {})[0]), types_of(differ.resolve({}, new)[1])
    lost = before - after if differ.request else after - before
    if not after:  # anything
        lost = set() if differ.request else before
    if lost and before:
        yield f"{where}: {' or '.join(sorted(before))} became {' or '.join(sorted(after)) or 'anything'}"
    values = [set(map(str, each.get("enum", ()))) for each in (old, new)]
    if differ.request and all(values) and values[0] - values[1]:
        yield f"{where}: {', '.join(sorted(values[0] - values[1]))} is no longer a value"
    if not differ.request:
        return
    for names, narrower in ((UPPER, lambda a, b: b < a), (LOWER, lambda a, b: b > a)):
        for name in names:
            if name in new and (name not in old or narrower(old[name], new[name])):
                yield f"{where}: {name} is {new[name]}"


def types_of(schema: dict[str, Any]) -> set[str]:
    """The types that a value may have; a reference counts as an object."""
    if "anyOf" in schema:
        return set().union(*(types_of(each) for each in schema["anyOf"]))
    found = schema.get("type", "object" if "$ref" in schema else None)
    return {found} if isinstance(found, str) else set(found or ())


def main() -> None:
    """Write the file; a change that would break clients is an error."""
    new = description()
    if FILE.exists() and (broken := breaking(json.loads(FILE.read_text("utf-8")), new)):
        sys.exit("this would break clients of /v1:\n" + "\n".join(broken))
    FILE.write_text(json.dumps(new, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main()
