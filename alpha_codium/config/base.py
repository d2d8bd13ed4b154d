"""What sections of settings have in common: their base class, what their values change, and errors in them."""

from collections.abc import Mapping
from enum import Flag, auto
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.fields import FieldInfo

from alpha_codium.errors import SettingsError

Model = TypeVar("Model", bound=BaseModel)


class Changes(Flag):
    """What a setting, or a section of settings, can change: samples and verdicts, unless it is annotated.

    What changes nothing may differ when a run is resumed, and between runs that are compared. Budgets and prices end a
    run earlier or later; what a sandbox is belongs to its identity, not to the settings.
    """

    NOTHING = 0
    SAMPLES = auto()
    VERDICTS = auto()


class Section(BaseModel):
    """A table of settings; unknown keys are errors, and values can't be changed."""

    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=(), allow_inf_nan=False)


def known_settings(model: type[BaseModel], prefix: str = "") -> dict[str, Any]:
    """Return the types of all settings by their names: `sandbox.oci.image`."""
    known: dict[str, Any] = {}
    for key, field in model.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, Section):
            known |= known_settings(field.annotation, f"{prefix}{key}.")
        else:
            known[prefix + key] = field.annotation
    return known


def unchanging(what: Changes, model: type[BaseModel]) -> dict[str, set[str]]:
    """Return the settings whose values don't change samples, or verdicts: their names, by section."""
    found: dict[str, set[str]] = {}
    for section, field in model.model_fields.items():
        kept, fields = _keeps(field, what), getattr(field.annotation, "model_fields", {})
        if names := {name for name, own in fields.items() if kept or _keeps(own, what)}:
            found[section] = names
    return found


def _keeps(field: FieldInfo, what: Changes) -> bool:
    """Whether a field is annotated with `Changes` that leave samples, or verdicts, as they are."""
    return any(isinstance(each, Changes) and not each & what for each in field.metadata)


def validated(
    model: type[Model], values: Mapping[str, Any], origins: Mapping[str, str], section: tuple[str, ...] = ()
) -> Model:
    """Return the values of a section as its model; raises SettingsError, which names the setting and its origin."""
    try:
        return model.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        path = (*section, *map(str, first["loc"]))
        names = [".".join(path[:length]) for length in (3, 2)]
        name = next((name for name in names if name in origins), names[0])
        given = "" if isinstance(first["input"], Mapping) else f", not {first['input']!r}"
        # An error that concerns several sections has no setting to name.
        said = f"{f'setting {name}: ' if name else ''}{first['msg'].removeprefix('Value error, ')}{given}"
        origin = origins.get(name) or _origin_of_section(name, origins)
        raise SettingsError(f"{origin}: {said}" if origin else said) from error


def _origin_of_section(section: str, origins: Mapping[str, str]) -> str:
    """Return the origin of the last value of a section that isn't a default; "" if all are, or there is no section."""
    default = next(iter(origins.values()), "")
    found = [origin for name, origin in origins.items() if name.startswith(f"{section}.") and origin != default]
    return found[-1] if section and found else ""
