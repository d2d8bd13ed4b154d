"""The choice of a flow, and of the stages that are left out of it."""

from collections.abc import Sequence

from alpha_codium.config import Settings
from alpha_codium.errors import FlowError, nearest
from alpha_codium.flows import Flow, load_flow

# Chooses by the kind of a problem's tests.
DEFAULT_FLOW = "auto"


def chosen_flow(name: str | None, settings: Settings, without: Sequence[str] = ()) -> Flow:
    """The flow to run: `[solve] use_baseline` wins over what was asked for; `without` names stages to leave out.

    Raises FlowError where there is no such flow, or it has no such stage.
    """
    flow = load_flow("baseline" if settings.solve.use_baseline else name or DEFAULT_FLOW)
    return flow.without(*kinds_meant(flow, without)) if without else flow


def kinds_meant(flow: Flow, names: Sequence[str]) -> tuple[str, ...]:
    """The kinds of stages of `flow` that the names mean, in the flow's order, each once.

    A name is a kind, or a part of kinds and means all of them: `ai_tests` is `generate_ai_tests` and `fix_ai_tests`.
    Raises FlowError where a name means none.
    """
    asked = [name.strip().replace("-", "_") for name in names]
    meant = {kind for name in asked for kind in _meant_by(name, flow)}
    return tuple(dict.fromkeys(kind for kind in flow.stage_kinds if kind in meant))


def _meant_by(name: str, flow: Flow) -> list[str]:
    if flow.by_kind:
        chosen = ", ".join(sorted({inner.name for inner in flow.by_kind.values()}))
        raise FlowError(f"flow {flow.name!r} only chooses another one: name one that has stages, such as {chosen}")
    if name in flow.stage_kinds:
        return [name]
    found = [kind for kind in flow.stage_kinds if name and name in kind]
    if not found:
        raise FlowError(f"flow {flow.name!r} has no stage {name!r}{nearest(name, flow.stage_kinds)}")
    return found
