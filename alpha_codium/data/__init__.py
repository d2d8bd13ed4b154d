"""Problems: sources, storage and loading. Public names are imported on first use."""

from importlib import import_module
from typing import Any

_HOMES = {
    "Filters": "filters",
    "Origin": "origin",
    "ProblemSet": "load",
    "Source": "origin",
    "describe": "catalogue",
    "find_problem": "catalogue",
    "find_source": "sources",
    "list_datasets": "catalogue",
    "load_problem_file": "load",
    "load_problems": "load",
    "load_solutions": "solutions",
    "problem_from_record": "schema",
    "record_from_problem": "schema",
    "run_etl": "etl",
    "save_solutions": "solutions",
    "stored_record": "schema",
}
__all__ = [*_HOMES]  # noqa: PLE0604 - the names of the table above


def __getattr__(name: str) -> Any:
    """Import a public name from its module."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
