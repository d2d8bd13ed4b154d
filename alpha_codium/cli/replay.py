"""`gencode replay`: a run again, offline, from the answers it kept."""

from collections import Counter

import click

from alpha_codium.cli.options import CommonOptions, common_options, overwrite_option
from alpha_codium.cli.output import say

MOST_SHOWN = 20


@click.command("replay")
@click.argument("run", metavar="RUN")
@click.option(
    "--flow",
    help="Another flow, or a folder; the run must have answers to its prompts.  [default: the run's]",
)
@click.option("--output_dataset_name", help="Where to save the candidates: a name or a folder.  [default: not saved]")
@overwrite_option
@click.option("--shared", is_flag=True, help="Take missing answers from the shared cache.")
@common_options
def command(
    run: str, flow: str | None, output_dataset_name: str | None, overwrite: bool, shared: bool, common: CommonOptions
) -> None:
    """Repeat a run from its stored answers, without a model, and compare the candidates."""
    from alpha_codium.app.replaying import replay
    from alpha_codium.cli.reporting import Reporter

    replayed = replay(
        run,
        flow=flow,
        output=output_dataset_name,
        overwrite=overwrite,
        shared=shared,
        settings=common.settings_on,
        on_event=Reporter(common),
    )
    common.write_json({"run": run} | replayed.to_json())
    whole, of = replayed.replayed, len(replayed.candidates)
    click.echo(f"{whole} of {of} sample{'s' * (of != 1)} replayed, {replayed.compared} compared with the journal")
    for reason, count in Counter(each.reason for each in replayed.never_begun).items():
        click.echo(f"{count} {'sample was' if count == 1 else 'samples were'} not replayed: {reason}")
    _list("sample lacks an answer", "samples lack an answer", [
        f"{each.problem}, sample {each.sample}: {each.prompt or 'a prompt'}, {each.calls} call{'s' * (each.calls != 1)}"
        for each in replayed.missing
    ])  # fmt: skip
    _list("candidate is not the journal's", "candidates are not the journal's", [
        f"{each.problem}, sample {each.sample}: {', '.join(each.fields)}" for each in replayed.differing
    ])  # fmt: skip
    if replayed.compared and not replayed.differing:
        click.echo("all of them are identical to the journal's")
    if replayed.solutions is not None:
        say(f"written to {replayed.solutions}")
    if replayed.missing or replayed.differing:
        raise click.exceptions.Exit(1)


def _list(one: str, many: str, lines: list[str]) -> None:
    if not lines:
        return
    click.echo(f"{len(lines)} {one if len(lines) == 1 else many}:")
    for line in lines[:MOST_SHOWN]:
        say(f"  {line}")
    if len(lines) > MOST_SHOWN:
        click.echo(f"  ... and {len(lines) - MOST_SHOWN} more (all with --json)")
