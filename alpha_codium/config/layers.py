"""Values of settings from several sources, merged by their full names, such as `sandbox.oci.image`.

Each source is TOML or YAML, a text `name=value`, or values that were read before; later ones take precedence. They
become the sections of a pydantic model.
"""

import os
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import BaseModel

from alpha_codium.config.base import known_settings, validated
from alpha_codium.errors import SettingsError, UserError, nearest

Model = TypeVar("Model", bound=BaseModel)
Values = Mapping[str, Any]
# A source's name for messages, and its values by their full names.
Layer = tuple[str, Values]
REFERENCE = re.compile(r"\$\{([^${}]*)\}")
MOST_REFERENCES = 100


@dataclass(frozen=True, slots=True)
class Loaded(Generic[Model]):
    """Settings, with each value as it was given and its origin, by its full name."""

    settings: Model
    values: Values
    origins: Mapping[str, str]


class Schema(Generic[Model]):
    """The names that a model has, and how values of it are merged.

    `also` accepts further sections by their names. With `references`, `${section.key}` in a value stands for another
    one, and `${oc.env:NAME}` or `${oc.env:NAME,default}` for an environment variable, as in OmegaConf.
    """

    def __init__(
        self, model: type[Model], also: Callable[[str], bool] = lambda _section: False, *, references: bool = False
    ) -> None:
        self.model, self.also, self.references = model, also, references
        self.known = known_settings(model)
        self.sections = {name.rpartition(".")[0] for name in self.known} - {""}

    def load(self, layers: Iterable[Layer]) -> Loaded[Model]:
        """Merge all layers; raises SettingsError, naming the source, the key, and the nearest known one."""
        values: dict[str, Any] = {}
        origins: dict[str, str] = {}
        for origin, layer in layers:
            for name, value in layer.items():
                self._refuse_unknown(name, origin)
                values[name], origins[name] = value, origin
        resolved = values
        if self.references:
            resolved = {name: _resolved(value, values, origins[name]) for name, value in values.items()}
        return Loaded(validated(self.model, _nested(resolved), origins), values, origins)

    def by_name(self, table: Mapping[Any, Any], prefix: str = "") -> dict[str, Any]:
        """Return the values in tables of tables by their full names, of three parts at most."""
        found: dict[str, Any] = {}
        for key, value in table.items():
            name = f"{prefix}{key}"
            is_section = isinstance(value, Mapping) and name not in self.known and prefix.count(".") < 2
            found |= self.by_name(value, f"{name}.") if is_section else {name: value}
        return found

    def override(self, text: str, example: str, parse: Callable[[str], Any]) -> Layer:
        """Return the layer of an option `-o name=value`; raises SettingsError."""
        name, equals, value = text.partition("=")
        name = name.strip().replace("-", "_")
        if not equals or not all(name.split(".")):
            raise SettingsError(f"-o {text}: settings are given as section.key=value, for example -o {example}")
        return f"-o {text}", {name: self.value(name, value.strip(), parse)}

    def value(self, name: str, text: str, parse: Callable[[str], Any]) -> Any:
        """Return a value given as text; a setting of text takes any text as it is, without quotes around it."""
        if self.known.get(name) is not str:
            return parse(text)
        return text.strip("\"'") if text[:1] == text[-1:] and text[:1] in "\"'" else text

    def _refuse_unknown(self, name: str, origin: str) -> None:
        section, _, key = name.rpartition(".")
        if name in self.known or self.also(section):
            return
        if name in self.sections:
            raise SettingsError(f"{origin}: {name} is a section, not a value")
        keys = [each.rpartition(".")[2] for each in self.known if each.rpartition(".")[0] == section]
        if not keys:
            raise SettingsError(f"{origin}: unknown section {section or name}{nearest(section or name, self.sections)}")
        if not section:
            keys += [each for each in self.sections if "." not in each]
        raise SettingsError(f"{origin}: unknown setting {name}{nearest(key, keys)}")


def read(path: Path, what: str, parse: Callable[[str], Any], fault: type[UserError] = SettingsError) -> dict[str, Any]:
    """Return the tables of a file, `what` it is called in messages; raises `fault`."""
    try:
        values = parse(path.read_text("utf-8"))
    except OSError as error:
        raise fault(f"{what} can't be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise fault(f"{what} is not a text in UTF-8") from error
    except ValueError as error:
        raise fault(f"{what} {error}") from error
    if not isinstance(values, dict):
        raise fault(f"{what} must have keys and values, such as `key: value`")
    return values


def toml(text: str) -> dict[str, Any]:
    """Return the tables of a text; raises ValueError."""
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"is not valid TOML: {error}") from error


def toml_value(text: str) -> Any:
    """Return a value as TOML spells it, or the text."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def yaml(text: str) -> Any:
    """Return what a text holds; raises ValueError."""
    import yaml as library

    try:
        return library.safe_load(text)
    except (library.YAMLError, ValueError, RecursionError) as error:
        raise ValueError(f"is not valid YAML: {' '.join(str(error).split())}") from error


def yaml_value(text: str) -> Any:
    """Return a value as YAML spells it, or the text."""
    try:
        return yaml(text)
    except ValueError:
        return text


def _nested(values: Values) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    for name, value in values.items():
        *sections, key = name.split(".")
        table = merged
        for section in sections:
            table = table.setdefault(section, {})
        table[key] = value
    return merged


def _resolved(value: Any, values: Values, origin: str) -> Any:
    """Return a value with what its references refer to; raises SettingsError."""
    if isinstance(value, list):
        return [_resolved(part, values, origin) for part in value]
    if isinstance(value, Mapping):
        return {key: _resolved(part, values, origin) for key, part in value.items()}
    for _ in range(MOST_REFERENCES):
        if not isinstance(value, str) or not (found := REFERENCE.search(value)):
            return value
        meant = _referred(found[1], values, origin)
        value = meant if found[0] == value else f"{value[: found.start()]}{meant}{value[found.end() :]}"
    raise SettingsError(f"{origin}: {value} refers to itself")


def _referred(name: str, values: Values, origin: str) -> Any:
    if name.startswith("oc.env:"):
        variable, has_default, default = name.removeprefix("oc.env:").partition(",")
        if variable in os.environ or has_default:
            return os.environ.get(variable, default)
        raise SettingsError(f"{origin}: ${{{name}}}: the environment variable {variable} isn't set")
    if name not in values:
        raise SettingsError(f"{origin}: ${{{name}}} refers to no value")
    return values[name]
