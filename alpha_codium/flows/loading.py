"""Flows: folders with `flow.toml`, which lists the stages, and a TOML file for each prompt.

    description = "..."
    [[stages]]
    kind = "reflect"            # the kind of stage; the other keys are its parameters
    prompt = "reflect"          # reflect.toml in the same folder; "alphacodium/reflect" is a shipped flow's

`kinds = ["call"]` lists the kinds of tests that the flow is for; the default is `stdin`. Instead of stages, a table
`by_kind` can name a flow for each kind of tests: a shipped one, or a folder relative to this one.

A flow is given as the name of a shipped flow, or as a folder.
"""

import dataclasses
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from alpha_codium.answers.structured import AnswerSchema
from alpha_codium.errors import FlowError, SettingsError, nearest
from alpha_codium.flows.stages import Stage, stage_class
from alpha_codium.flows.variables import check_templates
from alpha_codium.paths import shipped_folder
from alpha_codium.problem import EXECUTION_KINDS, ExecutionSpec
from alpha_codium.rendering import Prompt, load_prompt, read_toml

# The keys of a prompt file with the types of their values.
KEYS = (
    ("system", str, "a text"),
    ("user", str, "a text"),
    ("temperature", int | float, "a number"),
    ("fields", dict, "a table"),
    ("code", bool, "true or false"),
)


@dataclass(frozen=True, slots=True)
class Flow:
    """A loaded flow; `stage_kinds` are those of `stages` in `flow.toml`, in the same order."""

    name: str
    description: str
    stages: tuple[Stage, ...]
    folder: Path
    kinds: tuple[str, ...] = ()
    by_kind: Mapping[str, "Flow"] = field(default_factory=dict)
    stage_kinds: tuple[str, ...] = ()

    @property
    def fingerprint(self) -> str:
        """The SHA-256 of the stages with their parameters and prompts."""
        parts = [(kind, flow.fingerprint) for kind, flow in sorted(self.by_kind.items())] or self.stages
        return hashlib.sha256(repr(parts).encode()).hexdigest()

    def for_kind(self, kind: str) -> "Flow":
        """Return the flow for problems with tests of this kind: the one in `by_kind`, or this one."""
        return self.by_kind.get(kind, self)

    @property
    def prompts(self) -> tuple[str, ...]:
        """The names of the prompts of all stages."""
        inner = [name for flow in self.by_kind.values() for name in flow.prompts]
        own = (value.name for stage in self.stages for value in vars(stage).values() if isinstance(value, Prompt))
        return tuple(dict.fromkeys([*inner, *own]))

    def stage_kinds_named(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return the kinds of stages that the names match, in the flow's order.

        A name matches the kind with that name, or else all kinds that contain it: `ai_tests` matches
        `generate_ai_tests` and `fix_ai_tests`. Raises FlowError if a name matches nothing.
        """
        if self.by_kind:
            chosen = ", ".join(sorted({flow.name for flow in self.by_kind.values()}))
            raise FlowError(f"flow {self.name!r} only chooses another one: name one that has stages, such as {chosen}")
        matched: set[str] = set()
        for name in (name.strip().replace("-", "_") for name in names):
            found = {kind for kind in self.stage_kinds if name and name in kind}
            if not found:
                raise FlowError(f"flow {self.name!r} has no stage {name!r}{nearest(name, self.stage_kinds)}")
            matched |= {name} & found or found
        return tuple(dict.fromkeys(kind for kind in self.stage_kinds if kind in matched))

    def without(self, names: Iterable[str]) -> "Flow":
        """Return this flow without the stages that the names match; raises FlowError if no stage is left."""
        kinds = self.stage_kinds_named(names)
        left = [pair for pair in zip(self.stage_kinds, self.stages, strict=True) if pair[0] not in kinds]
        if not left:
            raise FlowError(f"flow {self.name!r} has no stages but {', '.join(kinds)}")
        name = "-".join([self.name, *(f"without-{kind}" for kind in kinds)])
        stage_kinds, stages = zip(*left, strict=True)
        return dataclasses.replace(self, name=name, stages=stages, stage_kinds=stage_kinds)

    def suits(self, kind: str) -> bool:
        """Return whether the flow is meant for problems with tests of this kind."""
        return kind in self.by_kind or kind in (self.kinds or (ExecutionSpec().kind,))


def load_flow(name: str) -> Flow:
    """Return the flow called `name`, or in the folder `name`; raises FlowError."""
    return _load(name, may_choose=True)


def _load(name: str, *, may_choose: bool) -> Flow:
    folder = _folder_of(name)
    table = read_toml(folder / "flow.toml")
    where, known = folder / "flow.toml", ["description", "stages", "kinds", "by_kind"]
    unknown = set(table) - set(known)
    if unknown:
        raise FlowError(f"{where}: unknown key {min(unknown)!r}{nearest(min(unknown), known)}")
    description, stages = str(table.get("description", "")), table.get("stages")
    if "by_kind" in table and stages is None:
        if not may_choose:
            raise FlowError(f"{where}: it only chooses another flow, and is chosen itself: name one that has stages")
        return Flow(folder.name, description, (), folder, by_kind=_by_kind(folder, table["by_kind"]))
    if not isinstance(stages, list) or not stages or not all(isinstance(stage, dict) for stage in stages):
        raise FlowError(f"{where}: a flow needs at least one [[stages]]")
    if "by_kind" in table:
        raise FlowError(f"{where}: a flow has stages or by_kind, not both")
    kinds = _kinds(table.get("kinds", []), f"{where}: kinds")
    made, stage_kinds = tuple(_stage(folder, s) for s in stages), tuple(str(s.get("kind")) for s in stages)
    return Flow(folder.name, description, made, folder, kinds, stage_kinds=stage_kinds)


def shipped_flows() -> dict[str, Path]:
    """Return the folders of the shipped flows by name."""
    root = shipped_folder("prompts")
    return {path.parent.name: path.parent for path in sorted(root.glob("*/flow.toml"))}


def check_prompt_names(flow: Flow, names: Iterable[str]) -> None:
    """Raise SettingsError if a name is not a prompt of this flow or of a shipped one."""
    shipped = {path.stem for folder in shipped_flows().values() for path in folder.glob("*.toml")}
    known = sorted({*flow.prompts, *shipped} - {"flow", "partials"})
    for name in names:
        if name not in known:
            raise SettingsError(f"config.model_by_prompt: there is no prompt {name!r}{nearest(name, known)}")


def _folder_of(name: str) -> Path:
    shipped = shipped_flows()
    if name in shipped:
        return shipped[name]
    folder = Path(name).expanduser()
    if (folder / "flow.toml").is_file():
        return folder.resolve()
    if folder.is_dir():
        raise FlowError(f"{folder} holds no flow.toml")
    raise FlowError(f"there is no flow {name!r}{nearest(name, shipped)}")


def _kinds(names: Any, where: str) -> tuple[str, ...]:
    if not isinstance(names, list):
        raise FlowError(f"{where} must be a list of {', '.join(EXECUTION_KINDS)}")
    for name in names:
        if name not in EXECUTION_KINDS:
            raise FlowError(f"{where}: there are no tests of the kind {name!r}{nearest(str(name), EXECUTION_KINDS)}")
    return tuple(names)


def _by_kind(folder: Path, table: Any) -> dict[str, Flow]:
    where = f"{folder / 'flow.toml'}: by_kind"
    if not isinstance(table, dict):
        raise FlowError(f"{where} must be a table: the flow for each of {', '.join(EXECUTION_KINDS)}")
    missing = [kind for kind in EXECUTION_KINDS if kind not in _kinds(list(table), where)]
    if missing:
        raise FlowError(f"{where} names no flow for {missing[0]!r}")
    shipped = shipped_flows()
    named = {
        kind: str(name) if isinstance(name, str) and name in shipped else str(folder / str(name))
        for kind, name in table.items()
    }
    return {kind: _load(name, may_choose=False) for kind, name in named.items()}


def _stage(folder: Path, table: Mapping[str, Any]) -> Stage:
    """Load a stage and its prompts, so that missing or invalid prompts are reported before the first call."""
    parameters = dict(table)
    kind = str(parameters.pop("kind", ""))
    where = f"{folder / 'flow.toml'}, stage {kind!r}"
    factory = stage_class(kind)
    known = {f.name: f for f in dataclasses.fields(factory)}
    for key in parameters:
        if key not in known:
            raise FlowError(f"{where}: unknown parameter {key!r}{nearest(key, known)}")
    for key, parameter in known.items():
        if key.endswith("prompt"):
            prompt = _prompt(folder, parameters.get(key, parameter.default), where)
            _check(prompt, parameter.metadata, f"{folder / prompt.name}.toml")
            parameters[key] = prompt
    return factory(**parameters)


def _prompt(folder: Path, name: Any, where: str) -> Prompt:
    flow, slash, stem = str(name).rpartition("/")
    home = shipped_flows().get(flow) if slash else folder
    path = home / f"{stem}.toml" if home else folder
    if not isinstance(name, str) or path.parent != home or not path.is_file():
        there = [p.stem for p in (home or folder).glob("*.toml") if p.stem not in ("flow", "partials")]
        raise FlowError(f"{where}: there is no prompt {name!r} in {home or folder}{nearest(stem, there)}")
    return load_prompt(path)


def _check(prompt: Prompt, needs: Mapping[str, Any], where: str) -> None:
    """Raise FlowError unless the prompt is valid and asks for the fields and code that its stage needs."""
    for key, kind, shape in KEYS:
        if not isinstance(getattr(prompt, key), kind) or (key == "temperature" and prompt.temperature is True):
            raise FlowError(f"{where}: `{key}` must be {shape}, not {getattr(prompt, key)!r}")
    asked = AnswerSchema.from_table(prompt.name, prompt.fields).fields if prompt.fields else ()
    known = {name for f in asked for name in (f.name, *(f"{f.name}.{inner.name}" for inner in f.fields))}
    for name in needs.get("fields", ()):
        if name not in known:
            raise FlowError(f"{where}: the stage needs the field {name!r} in [fields]{nearest(name, known)}")
    if needs.get("code") and not prompt.code:
        raise FlowError(f"{where}: the stage needs a program: say `code = true`")
    if needs.get("variables") is not None:
        check_templates(prompt, needs["variables"])
