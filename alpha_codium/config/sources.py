"""Merging of the settings' sources; later ones take precedence.

1. `configuration.toml`, which is shipped with the package
2. `gencode.toml` in the current folder
3. `--config FILE`
4. the environment: `GENCODE_SECTION__KEY=value`
5. `-o section.key=value`

Some sections hold sections: `[sandbox.oci]`, `GENCODE_SANDBOX__OCI__IMAGE=value`, `-o sandbox.oci.image=value`.
"""

import os
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import resources
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from loguru import logger

from alpha_codium.config.base import validated
from alpha_codium.config.sections import KNOWN, SECTIONS, Settings
from alpha_codium.errors import SettingsError, nearest

ENVIRONMENT_PREFIX = "GENCODE_"
# The settings file that is read if it is in the current folder.
LOCAL_FILE = Path("gencode.toml")
SHIPPED = "the shipped settings"


@dataclass(frozen=True, slots=True)
class LoadedSettings:
    """Settings, with each value as it was given and its origin, by its name, such as `config.model`."""

    settings: Settings
    values: Mapping[str, Any]
    origins: Mapping[str, str]


def load_settings(
    config_file: Path | None = None,
    overrides: Iterable[str] = (),
    environment: Mapping[str, str] | None = None,
    base: Mapping[str, Any] | None = None,
) -> Settings:
    """Merge all sources; `overrides` are texts `section.key=value`.

    `base`, the settings of an earlier run, stands in place of the shipped file, `gencode.toml` and the environment.
    Raises SettingsError, naming the source, the key, and the nearest known key if it is unknown.
    """
    return load_with_origins(config_file, overrides, environment, base).settings


def load_with_origins(
    config_file: Path | None = None,
    overrides: Iterable[str] = (),
    environment: Mapping[str, str] | None = None,
    base: Mapping[str, Any] | None = None,
) -> LoadedSettings:
    """Merge all sources, and say where each value is from; see `load_settings`."""
    environment = os.environ if environment is None else environment
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for origin, found in _sources(config_file, overrides, environment, base):
        for name, value in found.items():
            _refuse_unknown(name, origin)
            values[name], origins[name] = value, origin
    merged: dict[str, Any] = {}
    for name, value in values.items():
        *sections, key = name.split(".")
        table = merged
        for section in sections:
            table = table.setdefault(section, {})
        table[key] = value
    return LoadedSettings(validated(Settings, merged, origins), values, origins)


def shipped_text() -> str:
    """Return the text of the shipped settings, with their comments."""
    return resources.files("alpha_codium.settings").joinpath("configuration.toml").read_text("utf-8")


def _sources(
    config_file: Path | None,
    overrides: Iterable[str],
    environment: Mapping[str, str],
    base: Mapping[str, Any] | None,
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each source with its settings by their names, the later ones winning."""
    if base is None:
        yield SHIPPED, _by_name(tomllib.loads(shipped_text()))
        if LOCAL_FILE.exists():
            logger.info(f"settings are read from {LOCAL_FILE.absolute()}")
            yield f"settings file {LOCAL_FILE}", _by_name(_read_file(LOCAL_FILE))
    else:
        yield "the earlier run's settings (run.toml)", _by_name(base)
    if config_file is not None:
        yield f"settings file {config_file}", _by_name(_read_file(config_file))
    for variable, text in sorted(environment.items() if base is None else ()):
        if variable.startswith(ENVIRONMENT_PREFIX) and "__" in variable:
            name = variable.removeprefix(ENVIRONMENT_PREFIX).lower().replace("__", ".")
            yield f"environment variable {variable}", {name: _value(text, KNOWN.get(name))}
    for override in overrides:
        name, equals, text = override.partition("=")
        name = name.strip().replace("-", "_")
        if not (equals and all(name.split(".")) and "." in name):
            usage = "settings are given as section.key=value, for example -o config.model=local/x"
            raise SettingsError(f"-o {override}: {usage}")
        yield f"-o {override}", {name: _value(text.strip(), KNOWN.get(name))}


def _by_name(table: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return the values in tables of tables by their names, of three parts at most."""
    found: dict[str, Any] = {}
    for key, value in table.items():
        is_section = isinstance(value, Mapping) and prefix + key not in KNOWN and prefix.count(".") < 2
        found |= _by_name(value, f"{prefix}{key}.") if is_section else {prefix + key: value}
    return found


def _read_file(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise SettingsError(f"settings file {path} can't be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"settings file {path} is not valid TOML: {error}") from error


def _value(text: str, kind: Any) -> Any:
    """Return a value as TOML spells it; a setting of text takes any text as it is."""
    if kind is str:
        return text.strip("\"'") if text[:1] == text[-1:] and text[:1] in "\"'" else text
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _refuse_unknown(name: str, origin: str) -> None:
    if name in KNOWN:
        return
    section, _, key = name.rpartition(".")
    if section.startswith("sandbox.") and section[8:] in entry_points(group="alpha_codium.sandboxes").names:
        return
    if name in SECTIONS:
        raise SettingsError(f"{origin}: [{name}] is a section, not a value")
    if section not in SECTIONS:
        raise SettingsError(f"{origin}: unknown section [{section or name}]{nearest(section or name, SECTIONS)}")
    keys = [each.removeprefix(f"{section}.") for each in KNOWN if each.startswith(f"{section}.")]
    raise SettingsError(f"{origin}: unknown setting {name}{nearest(key, keys)}")
