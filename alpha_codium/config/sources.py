"""Merging of the settings' sources; later ones take precedence.

1. `configuration.toml`, which is shipped with the package
2. `gencode.toml` in the current folder
3. `--config FILE`
4. the environment: `GENCODE_SECTION__KEY=value`
5. `-o section.key=value`

Some sections hold sections: `[sandbox.oci]`, `GENCODE_SANDBOX__OCI__IMAGE=value`, `-o sandbox.oci.image=value`.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from loguru import logger

from alpha_codium.config.layers import Layer, Loaded, Schema, read, toml, toml_value
from alpha_codium.config.sections import Settings
from alpha_codium.paths import shipped_folder

ENVIRONMENT_PREFIX = "GENCODE_"
# The settings file that is read if it is in the current folder.
LOCAL_FILE = Path("gencode.toml")
SHIPPED = "the shipped settings"


def _is_of_plugin(section: str) -> bool:
    return section.startswith("sandbox.") and section[8:] in entry_points(group="alpha_codium.sandboxes").names


SETTINGS = Schema(Settings, _is_of_plugin)


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
) -> Loaded[Settings]:
    """Merge all sources, and say where each value is from; see `load_settings`."""
    return SETTINGS.load(_layers(config_file, overrides, os.environ if environment is None else environment, base))


def shipped_text() -> str:
    """Return the text of the shipped settings, with their comments."""
    return (shipped_folder("settings") / "configuration.toml").read_text("utf-8")


def _layers(
    config_file: Path | None,
    overrides: Iterable[str],
    environment: Mapping[str, str],
    base: Mapping[str, Any] | None,
) -> Iterator[Layer]:
    """Yield each source with its settings by their names, the later ones winning."""
    if base is None:
        yield SHIPPED, SETTINGS.by_name(toml(shipped_text()))
        if LOCAL_FILE.exists():
            logger.info(f"settings are read from {LOCAL_FILE.absolute()}")
            yield _of_file(LOCAL_FILE)
    else:
        yield "the earlier run's settings (run.toml)", SETTINGS.by_name(base)
    if config_file is not None:
        yield _of_file(config_file)
    for variable, text in sorted(environment.items() if base is None else ()):
        if variable.startswith(ENVIRONMENT_PREFIX) and "__" in variable:
            name = variable.removeprefix(ENVIRONMENT_PREFIX).lower().replace("__", ".")
            yield f"environment variable {variable}", {name: SETTINGS.value(name, text, toml_value)}
    yield from (SETTINGS.override(text, "config.model=local/x", toml_value) for text in overrides)


def _of_file(path: Path) -> Layer:
    return f"settings file {path}", SETTINGS.by_name(read(path, f"settings file {path}", toml))
