"""The entry point `gencode`.

1. A command group's module is imported when the group is used, so that `gencode --help` stays quick.
2. `-` and `_` are the same in names of commands and options.
3. A `UserError` and a full disk are one line on stderr and exit status 2. Ctrl-C is exit status 130, SIGTERM 143; both
   keep what was done. Anything else keeps its traceback and is exit status 1.
"""

import atexit
import errno
import gc
import os
import signal
import sys
from pathlib import Path
from typing import Any, Never

import click

from alpha_codium import __version__
from alpha_codium.cli.lazy import LazyGroup
from alpha_codium.cli.options import normalize, said
from alpha_codium.cli.output import forget_unwritten, say_error
from alpha_codium.errors import UserError
from alpha_codium.values import surrogate_in

# What a disk says that takes no more.
FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
# Options of other programs, and what to use instead.
OTHERS = {
    "--filter_languages": "use --language",
    "--train_sample": "use --sample_rate",
    "--k_values": "use --k",
    "--prompt": "`gen ask` takes the question as its argument, `gen solve_problem --statement FILE` a problem's text; "
    "prompts of a flow are in its folder, see `gencode flows`",
    "--input_dataset": "use --dataset_name",
    "--level": "use --difficulty",
    "--translate_references": "leave it out; etl always adds the names of sources, difficulties and languages, "
    "and keeps descriptions as they are in the dataset",
}
# name -> (module, attribute, what it does)
COMMANDS = {
    "data": ("alpha_codium.cli.data", "group", "Load, filter, list, show, import and validate problems."),
    "gen": ("alpha_codium.cli.gen", "group", "Solve problems with a model."),
    "eval": ("alpha_codium.cli.eval", "group", "Run programs against tests and compute pass@k."),
    "flows": ("alpha_codium.cli.flows", "group", "List, show and copy flows."),
    "compare": ("alpha_codium.cli.compare", "compare_runs", "Compare runs: scores, costs, differences."),
    "ablate": ("alpha_codium.cli.compare", "ablate_flow", "Measure what each stage of a flow contributes."),
    "runs": ("alpha_codium.cli.runs", "group", "List, show and delete stored runs; show why a sample failed."),
    "report": ("alpha_codium.cli.report", "command", "Write a page of HTML on runs, to look at and to share."),
    "verify": ("alpha_codium.cli.verify", "command", "Judge a run's programs again, and say what differs."),
    "replay": ("alpha_codium.cli.replay", "command", "Repeat a run offline, from its stored answers."),
    "cache": ("alpha_codium.cli.cache", "group", "Show or clear the cache of model answers that all runs share."),
    "model": ("alpha_codium.cli.model", "group", "List, download and add local models."),
    "repo": ("alpha_codium.cli.repo", "group", "Build and run the repository benchmark."),
    "sandbox": ("alpha_codium.cli.sandbox", "group", "Check, install or serve the sandbox."),
    "audit": ("alpha_codium.cli.audit", "command", "Check another grader: what does it get wrong?"),
    "rejudge": ("alpha_codium.cli.audit", "rejudge_samples", "Compare published verdicts with ours."),
    "languages": ("alpha_codium.cli.languages", "command", "List the languages of programs, and their compilers."),
    "serve": ("alpha_codium.cli.serve", "command", "Judge programs for other processes, over HTTP."),
    "mcp": ("alpha_codium.cli.serve", "serve_agents", "Judge programs for an agent, over stdin and stdout."),
    "settings": ("alpha_codium.cli.settings", "command", "Print the effective settings."),
    "demo": ("alpha_codium.cli.demo", "command", "Solve three small problems with the embedded model."),
}


@click.group(
    cls=LazyGroup,
    path="gencode",
    entries=COMMANDS,
    epilog="\b\nExample:\n  gencode data import examples/jars.json --output_dataset_name jars",
    context_settings={"token_normalize_func": normalize, "help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="gencode")
def cli() -> None:
    """Generate programs with language models, and measure how good they are."""


class Terminated(KeyboardInterrupt):
    """SIGTERM, with which schedulers end programs; it is handled like Ctrl-C."""


def _terminate(*_: object) -> Never:
    raise Terminated


def main(arguments: list[str] | None = None) -> Any:
    """Run the command line and exit."""
    # All memory goes back to the kernel: to look for garbage once more takes up to a second where litellm is loaded.
    atexit.register(gc.freeze)
    signal.signal(signal.SIGTERM, _terminate)
    for stream in ("stdout", "stderr"):
        if getattr(sys, stream) is None:  # closed, as some schedulers leave it
            setattr(sys, stream, Path(os.devnull).open("w"))  # noqa: SIM115 - until this process ends
    try:
        for argument in sys.argv[1:] if arguments is None else arguments:
            if surrogate_in(argument):
                raise UserError(f"an argument isn't valid UTF-8: {argument!a}")
        # Without its standalone mode click gives the status of `Exit` back instead of exiting with it.
        sys.exit(cli.main(args=arguments, prog_name="gencode", standalone_mode=False))
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        sys.exit(error.exit_code)
    except click.ClickException as error:
        if isinstance(error, click.NoSuchOption) and (remedy := OTHERS.get(f"--{normalize(error.option_name[2:])}")):
            error = click.UsageError(f"No such option {error.option_name!r}: {remedy}", error.ctx)
        context = error.ctx if isinstance(error, click.UsageError) else None
        hint = f" (see {context.command_path} --help)" if context else ""
        # Click lists the choices of a missing option one a line.
        message = error.format_message().replace("\n\t", " ")
        say_error(f"{message}{hint}")
        sys.exit(error.exit_code)
    except UserError as error:
        say_error(said(str(error)))
        sys.exit(2)
    except (click.Abort, KeyboardInterrupt) as error:
        # Click raises its own Abort from a KeyboardInterrupt.
        terminated = isinstance(error.__cause__ or error, Terminated)
        click.echo("terminated" if terminated else "interrupted", err=True)
        sys.exit(143 if terminated else 130)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(1)
    except OSError as error:
        if error.errno not in FULL:
            raise
        forget_unwritten()
        say_error(f"cannot write the output: {error.strerror}")
        sys.exit(2)
