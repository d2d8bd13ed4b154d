"""`gencode cache`: the answers that all runs share."""

import click

from alpha_codium.cli.fields import Number
from alpha_codium.cli.options import CommonOptions, common_options
from alpha_codium.wording import counted, size_text


@click.group("cache")
def group() -> None:
    """Show or clear the cache of model answers that all runs share."""


@group.command()
@common_options
def stats(common: CommonOptions) -> None:
    """Show how many answers there are, by model, and what they saved."""
    from alpha_codium.paths import shared_cache
    from alpha_codium.runs.cache_maintenance import stats_of

    found = stats_of(shared_cache())
    common.show(found, found.lines())


@group.command()
@click.option("--model", help="Delete the answers of this model.")
@click.option("--older_than", type=Number(min=0), metavar="DAYS", help="Delete the answers older than this.")
@click.option("--all", "everything", is_flag=True, help="Delete all answers.")
@common_options
def clear(model: str | None, older_than: float | None, everything: bool, common: CommonOptions) -> None:
    """Delete answers; with both --model and --older_than, those that match both."""
    from alpha_codium.errors import UserError
    from alpha_codium.paths import shared_cache
    from alpha_codium.runs import cache_maintenance

    chosen = model is not None or older_than is not None
    if chosen == everything:
        raise UserError("give --model or --older_than (or both), or --all alone")
    path = shared_cache()
    before = cache_maintenance.size_of(path)
    gone = cache_maintenance.clear_all(path) if everything else cache_maintenance.clear(path, model, older_than)
    freed = max(0, before - cache_maintenance.size_of(path))
    common.write_json({"path": str(path), "answers": gone, "bytes": freed})
    what = "an invalid cache file" if gone is None else counted(gone, "answer")
    click.echo(f"deleted {what}, freed {size_text(freed)}")
