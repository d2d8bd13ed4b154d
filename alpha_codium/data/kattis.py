"""Conversion of the output validators of ICPC problem packages to the checkers of `alpha_codium.checkers`.

Source: the Kattis problem package format, "default output validator" (icpc.io/problem-package-format).
"""

from collections.abc import Mapping
from typing import Any

from alpha_codium.checkers import INTERACTOR, PROGRAM
from alpha_codium.problem import CheckerSpec

SWITCHES = {"case_sensitive", "space_change_sensitive"}
TOLERANCES = {
    "float_tolerance": ("abs", "rel"),
    "float_absolute_tolerance": ("abs",),
    "float_relative_tolerance": ("rel",),
}


def checker_of_package(package: Mapping[str, Any]) -> CheckerSpec:
    """Return the checker of a package's `{type: default | custom, flags, ...}`; raises ValueError if it is invalid.

    Without flags, tokens are compared ignoring case. `space_change_sensitive` becomes `exact`, which is always
    case-sensitive; with a tolerance it is ignored. A custom validator becomes the checker `program`, or `interactor` if
    its type (`custom interactive`) or protocol says so, with the protocol `icpc` unless the package names testlib's.
    """
    if package.get("type") in ("custom", "custom interactive"):
        said = f"{package['type']} {package.get('protocol') or ''}".lower()
        name = INTERACTOR if "interactive" in said else PROGRAM
        protocol = "testlib" if "testlib" in said else "icpc"
        arguments = {"protocol": protocol, "flags": package.get("flags") or "", "files": package.get("files") or {}}
        return CheckerSpec(name, arguments | ({"main": package["main"]} if package.get("main") else {}))
    if package.get("type") != "default":
        raise ValueError(f"type must be 'default', 'custom' or 'custom interactive', not {package.get('type')!r}")
    switches, tolerances = _parse_flags(str(package.get("flags") or ""))
    if tolerances:
        return CheckerSpec(
            "float", {"abs": 0.0, "rel": 0.0} | tolerances | {"case_sensitive": "case_sensitive" in switches}
        )
    if "space_change_sensitive" in switches:
        return CheckerSpec("exact")
    return CheckerSpec("tokens", {"case_sensitive": "case_sensitive" in switches})


def _parse_flags(flags: str) -> tuple[set[str], dict[str, float]]:
    switches: set[str] = set()
    tolerances: dict[str, float] = {}
    words = iter(flags.split())
    for word in words:
        if word in SWITCHES:
            switches.add(word)
        elif word in TOLERANCES:
            tolerances |= dict.fromkeys(TOLERANCES[word], _tolerance(word, next(words, "")))
        else:
            raise ValueError(f"unknown flag {word!r}")
    return switches, tolerances


def _tolerance(flag: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise ValueError(f"flag {flag} needs a number from 0, not {text!r}")
    return value
