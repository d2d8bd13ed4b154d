"""The shipped flows: a list, descriptions of their stages and prompts, and copies to change."""

import dataclasses
import shutil
from collections.abc import Iterator
from pathlib import Path

from alpha_codium.errors import FlowError
from alpha_codium.flows.loading import Flow, load_flow, shipped_flows
from alpha_codium.flows.stages import Stage
from alpha_codium.flows.variables import TASK
from alpha_codium.rendering import PARTIALS, Prompt, read_toml


def list_flows() -> list[Flow]:
    """Return the shipped flows in alphabetical order."""
    return [load_flow(name) for name in sorted(shipped_flows())]


def flow_lines(flow: Flow) -> Iterator[str]:
    """Yield lines that describe a flow: its stages with their prompts, and the variables of each prompt."""
    yield f"{flow.name}: {flow.description}"
    yield f"folder: {flow.folder}"
    for kind, chosen in flow.by_kind.items():
        yield f"{kind}: the flow {chosen.name}"
    if not flow.stages:
        return
    yield f"kinds of tests: {', '.join(flow.kinds or ('stdin',))}"
    yield f"variables of every prompt: {', '.join(TASK)}"
    for number, (kind, stage) in enumerate(zip(flow.stage_kinds, flow.stages, strict=True), start=1):
        yield f"{number}. {kind}"
        for parameter, prompt, variables in _prompts(stage):
            more = f"; more variables: {', '.join(variables)}" if variables else ""
            yield f"   {parameter} = {prompt.name}{more}"


def copy_flow(name: str, target: Path) -> Path:
    """Copy a flow's folder to `target`, which must not exist, and return it; see `prompts_of_others` for what it lacks.

    Raises FlowError if there is no such flow, or the copy can't be written or loaded.
    """
    flow = load_flow(name)
    if target.exists():
        raise FlowError(f"{target} exists: choose another folder")
    try:
        shutil.copytree(flow.folder, target, ignore=shutil.ignore_patterns("__pycache__"))
        if shared := (read_toml(target / PARTIALS) if (target / PARTIALS).exists() else {}).get("from"):
            _include_shared(target / PARTIALS, flow.folder / shared)
    except OSError as error:
        raise FlowError(f"{target} can't be written: {error.strerror or error}") from error
    load_flow(str(target))
    return target


def prompts_of_others(flow: Flow) -> Iterator[str]:
    """Yield a line for each prompt of a flow that isn't in its folder, with how to change it."""
    for kind, stage in zip(flow.stage_kinds, flow.stages, strict=True):
        for parameter, prompt, _ in _prompts(stage):
            if prompt.path is not None and flow.folder.resolve() not in prompt.path.resolve().parents:
                change = f"to change it, copy it to {flow.folder}, and name the copy as {parameter} in flow.toml"
                yield f"the {parameter} of {kind} is {prompt.path}: {change}"


def _prompts(stage: Stage) -> Iterator[tuple[str, Prompt, tuple[str, ...]]]:
    """Yield the parameter of each prompt of a stage, the prompt, and the variables that it has besides TASK."""
    for field in dataclasses.fields(stage):  # type: ignore[arg-type] - a stage is a dataclass
        if isinstance(prompt := getattr(stage, field.name), Prompt):
            yield field.name, prompt, tuple(field.metadata.get("variables") or ())


def _include_shared(partials: Path, shared: Path) -> None:
    """Replace the entry `from` of a copied `partials.toml` by the partials of the folder `shared`."""
    lines = partials.read_text("utf-8").splitlines(keepends=True)
    own = "".join(line for line in lines if not line.replace(" ", "").startswith("from="))
    partials.write_text(own + (shared / PARTIALS).read_text("utf-8"), "utf-8")
