"""Writes docs/json-schema.json: what `--json` of each command writes, as JSON Schema made of the types in the code.

`make docs` calls it; tests validate what commands write. `JsonValue` says how the JSON of a class is made of it.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import Enum
from inspect import cleandoc
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

from alpha_codium.answers.cleaning import Cleaning
from alpha_codium.app.demonstration import DemoRun
from alpha_codium.app.examination import JudgeReport
from alpha_codium.app.isolation import Isolation
from alpha_codium.app.language_listing import LanguageFacts
from alpha_codium.app.repository_building import BuildReport
from alpha_codium.app.repository_runs import RepositoryRun
from alpha_codium.app.solving import Solved
from alpha_codium.app.stored_runs import StoredRun
from alpha_codium.app.verification import Verification
from alpha_codium.audit.datasets.report import ValidationReport
from alpha_codium.audit.graders.report import Audit
from alpha_codium.audit.published.report import Rejudgement
from alpha_codium.comparison.report import Comparison
from alpha_codium.data.catalogue import SplitDescription, Summary
from alpha_codium.data.etl import EtlReport
from alpha_codium.eval.scoring import Score
from alpha_codium.gen.preview import Preview
from alpha_codium.gen.replaying import Replay
from alpha_codium.gen.summary import RunSummary
from alpha_codium.llm.local.registry import ListedModel, StoredModel
from alpha_codium.llm.messages import Answer
from alpha_codium.llm.server_records import ModelServer
from alpha_codium.report.page import Page
from alpha_codium.report.samples import StoredSample
from alpha_codium.repository.running.comparison import RepositoryComparison
from alpha_codium.rewards.rows import RowReport
from alpha_codium.runs.cache_maintenance import CacheStats
from alpha_codium.values import JsonValue, json_names

FILE = Path(__file__).with_name("json-schema.json")
DIALECT = "https://json-schema.org/draft/2020-12/schema"
PLAIN: dict[Any, dict[str, Any]] = {
    Any: {},
    object: {},
    NoneType: {"type": "null"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    str: {"type": "string"},
    Path: {"type": "string"},
    datetime: {"type": "string", "format": "date-time"},
}


def entries(kind: type) -> dict[str, Any]:
    """Return the entries of a class or TypedDict in JSON, with their types."""
    if is_typeddict(kind):
        hints = get_type_hints(kind)  # without NotRequired, which stands in `__optional_keys__`, too
        return {name: NotRequired[each] if name in kind.__optional_keys__ else each for name, each in hints.items()}
    if kind.to_json is not JsonValue.to_json:
        raise TypeError(f"{kind.__name__} has a to_json of its own, so its types don't tell what it writes")
    found: dict[str, Any] = {}
    for name, path in json_names(kind).items():
        value = _type_at(kind, path.split("."))
        if name not in kind.beside:
            found[name] = NotRequired[value] if name in kind.optional else value
            continue
        whole, *others = sorted(get_args(value) or (value,), key=lambda each: each is NoneType)
        found |= {key: NotRequired[_always(each)] if others else each for key, each in entries(whole).items()}
    return found


def _always(kind: Any) -> Any:
    return get_args(kind)[0] if get_origin(kind) is NotRequired else kind


def _type_at(kind: type, path: list[str]) -> Any:
    """Return the type of an attribute of an attribute of ..., which is None if one of them is."""
    first, *rest = path
    found = get_type_hints(kind, include_extras=True).get(first)
    if found is None:
        found = get_type_hints(getattr(kind, first).fget, include_extras=True)["return"]
    if not rest:
        return found
    whole = next((each for each in get_args(found) if each is not NoneType), found)
    return _type_at(whole, rest) | None if whole is not found else _type_at(whole, rest)


class Schemas:
    """The schemas of types; those of classes are `shared`, by name."""

    def __init__(self) -> None:
        self.shared: dict[str, Any] = {}
        self._kinds: dict[str, type] = {}

    def of(self, kind: Any) -> dict[str, Any]:
        """Return the schema of what a type is in JSON; raises TypeError for a type that JSON has none for."""
        origin, parts = get_origin(kind) or kind, get_args(kind)
        if origin is Annotated:
            return self.of(parts[1])
        if origin in (Union, UnionType):
            return {"anyOf": [self.of(part) for part in parts]}
        if origin is tuple and ... not in parts:
            return {"type": "array", "prefixItems": [self.of(part) for part in parts], "items": False}
        if issubclass(origin, Enum):
            return {"enum": [each.value for each in origin]}
        if is_typeddict(origin) or issubclass(origin, JsonValue):
            return self._reference(origin)
        if issubclass(origin, Mapping):
            return {"type": "object", "additionalProperties": self.of(int if origin is Counter else parts[1])}
        if origin in (list, tuple, frozenset, Sequence):
            return {"type": "array", "items": self.of(parts[0])}
        if origin not in PLAIN:
            raise TypeError(f"there is no JSON for {kind}")
        return PLAIN[origin]

    def _reference(self, kind: type) -> dict[str, Any]:
        if self._kinds.setdefault(kind.__name__, kind) is not kind:
            raise TypeError(f"two classes are called {kind.__name__}: rename one")
        if kind.__name__ not in self.shared:
            self.shared[kind.__name__] = {}  # its place, for types that contain themselves
            self.shared[kind.__name__] = self.object(entries(kind)) | {"description": cleandoc(kind.__doc__ or "")}
        return {"$ref": f"#/$defs/{kind.__name__}"}

    def object(self, found: Mapping[str, Any]) -> dict[str, Any]:
        """Return the schema of an object with these entries, and no others."""
        needed = [name for name, kind in found.items() if get_origin(kind) is not NotRequired]
        each = {name: self.of(_always(kind)) for name, kind in found.items()}
        return {"type": "object", "properties": each, "required": needed, "additionalProperties": False}


# What each command writes; nothing if it isn't here.
RESULTS: dict[str, Any] = {
    "ablate": Comparison | list[Preview],
    "audit": Audit,
    "cache clear": {"path": str, "answers": int | None, "bytes": int},
    "cache stats": CacheStats,
    "compare": Comparison | RepositoryComparison,
    "data clean_generations": entries(Cleaning) | {"output": str},
    "data etl": EtlReport,
    "data import": EtlReport,
    "data list": list[Summary],
    "data show": dict[str, SplitDescription] | dict[str, Any],
    "data validate": ValidationReport | RowReport,
    "demo": list[DemoRun],
    "eval doctor": entries(JudgeReport) | {"backend": str, "isolation": bool | str},
    "eval eval_cc_solutions": Score,
    "eval eval_gen_solutions": Score,
    "eval pass_at_k": Score,
    "eval score": Score,
    "flows list": list[dict[str, str]],
    "gen ask": Answer,
    "gen solve_problem": Solved | Preview,
    "gen solve_set": RunSummary | Preview,
    "languages": list[LanguageFacts],
    "model add": StoredModel,
    "model get": StoredModel,
    "model list": list[ListedModel],
    "rejudge": Rejudgement,
    "replay": entries(Replay) | {"run": str},
    "repo build": BuildReport,
    "repo run": list[RepositoryRun],
    "repo serve_vllm": list[ModelServer],
    "repo show": dict[str, Any],
    "report": Page,
    "runs export": list[Path],
    "runs list": list[StoredRun],
    "runs merge": Score | RunSummary | ValidationReport,
    "runs query": list[dict[str, Any]],
    "runs show": StoredSample | list[StoredSample],
    "sandbox check": Isolation,
    "sandbox install": {"backend": str, "folder": str, "installed": bool},
    "settings": dict[str, dict[str, Any]],
    "verify": Verification,
}


def schemas() -> dict[str, Any]:
    """Return the schemas of the results of all commands: definitions such as `eval.score`, and what they refer to."""
    made = Schemas()
    commands = {
        name.replace(" ", "."): made.object(kind) if isinstance(kind, dict) else made.of(kind)
        for name, kind in RESULTS.items()
    }
    return {"$schema": DIALECT, "$defs": commands | dict(sorted(made.shared.items()))}


def main() -> None:
    """Write the file."""
    FILE.write_text(json.dumps(schemas(), indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main()
