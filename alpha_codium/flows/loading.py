"""Reading a flow: a folder with `flow.toml`, which lists its stages, and a TOML file for each prompt.

    description = "..."
    [[stages]]
    kind = "reflect"            # which kind of stage; the other keys are its parameters
    prompt = "reflect"          # reflect.toml in the same folder; "alphacodium/reflect" is a shipped flow's

A name is looked up among the shipped flows; a path (with a `/`, or an existing folder) is a user's own.
"""

import dataclasses
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from alpha_codium.errors import FlowError, nearest
from alpha_codium.flows.answers import AnswerSchema
from alpha_codium.flows.stages import Stage, stage_class
from alpha_codium.rendering import Prompt, load_prompt, read_toml

# The keys of a prompt file, and what stands under them.
KEYS = (
    ("system", str, "a text"),
    ("user", str, "a text"),
    ("temperature", int | float, "a number"),
    ("fields", dict, "a table"),
    ("code", bool, "true or false"),
)


@dataclass(frozen=True, slots=True)
class Flow:
    """A flow that is ready to run."""

    name: str
    description: str
    stages: tuple[Stage, ...]
    folder: Path

    @property
    def fingerprint(self) -> str:
        """SHA-256 over the stages with their parameters and prompts: the same flow, the same fingerprint."""
        return hashlib.sha256(repr(self.stages).encode()).hexdigest()


def load_flow(name: str) -> Flow:
    """The flow called `name`, or in the folder `name`; raises FlowError saying what is wrong and where."""
    folder = _folder_of(name)
    table = read_toml(folder / "flow.toml")
    unknown = set(table) - {"description", "stages"}
    if unknown:
        raise FlowError(
            f"{folder / 'flow.toml'}: unknown key {min(unknown)!r}{nearest(min(unknown), ['description', 'stages'])}"
        )
    stages = table.get("stages")
    if not isinstance(stages, list) or not stages or not all(isinstance(stage, dict) for stage in stages):
        raise FlowError(f"{folder / 'flow.toml'}: a flow needs at least one [[stages]]")
    return Flow(folder.name, str(table.get("description", "")), tuple(_stage(folder, s) for s in stages), folder)


def shipped_flows() -> dict[str, Path]:
    """The flows that are shipped, by name."""
    root = Path(str(resources.files("alpha_codium.prompts")))
    return {path.parent.name: path.parent for path in sorted(root.glob("*/flow.toml"))}


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


def _stage(folder: Path, table: Mapping[str, Any]) -> Stage:
    """One stage with its prompts read, so that a flow is known to be whole before the first call is made."""
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
    """See that the prompt is well formed and asks for what its stage reads; raises FlowError."""
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
