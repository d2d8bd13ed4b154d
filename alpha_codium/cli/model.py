"""`gencode model`: the local models, their files, and getting them."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from alpha_codium.cli.options import CommonOptions, common_options
from alpha_codium.cli.output import print_table

if TYPE_CHECKING:
    from alpha_codium.llm.local.registry import StoredModel


@click.group("model")
def group() -> None:
    """List, download and add local models."""


@group.command("list")
@common_options
def list_models(common: CommonOptions) -> None:
    """List the local models, and which of them are downloaded."""
    from alpha_codium.llm.local.registry import listing, megabytes
    from alpha_codium.paths import models_folder

    models = listing(models_folder())
    common.write_json(models)
    rows = [
        (m["name"], megabytes(m["size_bytes"]), m["source"], m["path"] or f"not here: gencode model get {m['name']}")
        for m in models
    ]
    print_table([("name", "size", "source", "file"), *rows])


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
    common.show(model, [str(model.path)])
