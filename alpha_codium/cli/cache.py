"""`gencode cache`: the answers that all runs share."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from alpha_codium.cli.options import CommonOptions, Group, common_options
from alpha_codium.cli.output import say
from alpha_codium.wording import counted, size_text

if TYPE_CHECKING:
    from pathlib import Path

    from alpha_codium.runs.cache_maintenance import CacheStats


@click.group("cache", cls=Group)
def group() -> None:
    """Show or clear the cache of model answers that all runs share."""


@group.command()
@common_options
def stats(common: CommonOptions) -> None:
    """Show how many answers there are, by model, and what they saved."""
    from alpha_codium.runs.cache_maintenance import stats_of

    found = stats_of(_path())
    common.write_json(found.to_json())
    click.echo(f"{counted(found.answers, 'answer')}, {size_text(found.bytes)} in {found.path}")
    _print_models(found)


@group.command()
@click.option("--model", help="Delete the answers of this model.")
@click.option("--older_than", type=click.FloatRange(min=0), metavar="DAYS", help="Delete the answers older than this.")
@click.option("--all", "everything", is_flag=True, help="Delete all answers.")
@common_options
def clear(model: str | None, older_than: float | None, everything: bool, common: CommonOptions) -> None:
    """Delete answers; with both --model and --older_than, those that match both."""
    from alpha_codium.errors import UserError
    from alpha_codium.runs import cache_maintenance

    chosen = model is not None or older_than is not None
    if chosen == everything:
        raise UserError("give --model or --older_than (or both), or --all alone")
    path = _path()
    before = cache_maintenance.size_of(path)
    gone = cache_maintenance.clear_all(path) if everything else cache_maintenance.clear(path, model, older_than)
    freed = max(0, before - cache_maintenance.size_of(path))
    common.write_json({"path": str(path), "answers": gone, "bytes": freed})
    what = "an invalid cache file" if gone is None else counted(gone, "answer")
    click.echo(f"deleted {what}, freed {size_text(freed)}")


def _path() -> "Path":
    from alpha_codium.paths import cache_folder
    from alpha_codium.runs.cache import FILE_NAME

    return cache_folder() / FILE_NAME


def _print_models(found: "CacheStats") -> None:
    from alpha_codium.llm.prices import in_dollars

    width = max((len(each.model) for each in found.models), default=0)
    for each in found.models:
        saved = "an unknown amount" if each.saved_cost is None else in_dollars(each.saved_cost)
        say(
            f"  {each.model:{width}}  {counted(each.answers, 'answer')} from {_day(each.oldest)} "
            f"to {_day(each.newest)}, {each.prompt_tokens + each.completion_tokens} tokens; "
            f"used again {counted(each.hits, 'time')}, which saved {each.saved_tokens} tokens and {saved}"
        )


def _day(seconds: int) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d}"
