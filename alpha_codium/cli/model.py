"""`gencode model`: the local models, their files, and getting them."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from alpha_codium.cli.options import CommonOptions, common_options

if TYPE_CHECKING:
    from alpha_codium.llm.local.registry import StoredModel


@click.group("model")
def group() -> None:
    """List, download and add local models."""


@group.command("list")
@common_options
def list_models(common: CommonOptions) -> None:
    """List the local models, and which of them are downloaded."""
    from alpha_codium.llm.local.registry import KNOWN, megabytes, stored_models
    from alpha_codium.paths import models_folder

    stored = {model.name: model for model in stored_models(models_folder())}
    models = [stored.get(name) or KNOWN[name] for name in {**KNOWN, **stored}]
    rows = [
        {
            "name": model.name,
            "size_bytes": model.size_bytes,
            "source": model.source,
            "here": model.name in stored,
            "path": str(stored[model.name].path) if model.name in stored else None,
            "sha256": model.sha256,
        }
        for model in models
    ]
    widths = [max(len(model.name) for model in models), max(len(model.source) for model in models)]
    for model in models:
        state = "here" if model.name in stored else f"not here: gencode model get {model.name}"
        click.echo(f"{model.name:{widths[0]}}  {megabytes(model.size_bytes):>8}  {model.source:{widths[1]}}  {state}")
    common.write_json(rows)


@group.command("get")
@click.argument("name")
@common_options
def get_model(name: str, common: CommonOptions) -> None:
    """Download the local model NAME and verify it."""
    from alpha_codium.llm.local.fetching import fetch
    from alpha_codium.llm.local.registry import known_model
    from alpha_codium.paths import models_folder

    _show(fetch(known_model(name), models_folder()), common)


@group.command("add")
@click.argument("name")
@click.argument("file", type=click.Path(path_type=Path))
@common_options
def add_model(name: str, file: Path, common: CommonOptions) -> None:
    """Add the GGUF file FILE as the local model NAME."""
    from alpha_codium.llm.local.registry import add
    from alpha_codium.paths import models_folder

    _show(add(name, file, models_folder()), common)


def _show(model: "StoredModel", common: CommonOptions) -> None:
    click.echo(model.path)
    common.write_json({"name": model.name, "path": str(model.path), "sha256": model.sha256})
