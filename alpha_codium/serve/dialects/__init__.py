"""Dialects: requests and answers of other judging services, translated to those of the native API."""

from collections.abc import Callable

from fastapi import APIRouter

from alpha_codium.errors import UserError
from alpha_codium.serve.dialects import code_judge, judge0, nemo_gym, open_instruct, piston, sandbox_fusion
from alpha_codium.serve.dialects.asking import Server

DIALECTS: dict[str, Callable[[Server], APIRouter]] = {
    "code_judge": code_judge.router,
    "judge0": judge0.router,
    "nemo_gym": nemo_gym.router,
    "open_instruct": open_instruct.router,
    "piston": piston.router,
    "sandbox_fusion": sandbox_fusion.router,
}


def named(names: str) -> tuple[str, ...]:
    """Return the dialects in a comma-separated list, or in `all`; raises UserError for unknown ones."""
    if names == "all":
        return tuple(DIALECTS)
    chosen = tuple(filter(None, (name.strip() for name in names.split(","))))
    for name in chosen:
        if name not in DIALECTS:
            raise UserError(f"there is no dialect {name!r}, but {', '.join(DIALECTS)}")
    return chosen
