"""The entry point `gencode`.

1. A command group's module is imported when the group is used, so that `gencode --help` stays quick.
2. `-` and `_` are the same in names of commands and options.
3. A `UserError` and a full disk are one line on stderr and exit status 2. Ctrl-C is exit status 130. Anything else
   keeps its traceback and is exit status 1.
"""

import atexit
import errno
import gc
import sys
from importlib import import_module
from typing import Any

import click

from alpha_codium import __version__
from alpha_codium.cli.options import add_examples, normalize
from alpha_codium.cli.output import forget_unwritten, say_error
from alpha_codium.errors import SandboxError, UserError

# What a disk says that takes no more.
FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
# Options of other programs -> ours.
RENAMED = {"--filter_languages": ["--language"], "--train_sample": ["--sample_rate"], "--k_values": ["--k"],
           "--prompt": ["--statement", "--flow"], "--input_dataset": ["--dataset_name"],
           "--level": ["--difficulty"]}  # fmt: skip
# name -> (module, attribute, what it does)
COMMANDS = {
    "data": ("alpha_codium.cli.data", "group", "Load, filter, list, show, import and validate problems."),
    "gen": ("alpha_codium.cli.gen", "group", "Solve problems with a model."),
    "eval": ("alpha_codium.cli.eval", "group", "Run programs against tests and compute pass@k."),
    "flows": ("alpha_codium.cli.flows", "group", "List, show and copy flows."),
    "compare": ("alpha_codium.cli.compare", "command", "Compare runs: scores, costs, differences."),
    "ablate": ("alpha_codium.cli.ablate", "command", "Measure what each stage of a flow contributes."),
    "runs": ("alpha_codium.cli.runs", "group", "List, show and delete stored runs; show why a sample failed."),
    "replay": ("alpha_codium.cli.replay", "command", "Repeat a run offline, from its stored answers."),
    "cache": ("alpha_codium.cli.cache", "group", "Show or clear the cache of model answers that all runs share."),
    "model": ("alpha_codium.cli.model", "group", "List, download and add local models."),
    "sandbox": ("alpha_codium.cli.sandbox", "group", "Check or install the sandbox."),
    "settings": ("alpha_codium.cli.settings", "command", "Print the effective settings."),
    "demo": ("alpha_codium.cli.demo", "command", "Solve three small problems with the embedded model."),
}
# Commands of earlier versions, and what to use instead.
REMOVED = {"bench": "make bench, in a clone"}


class LazyGroup(click.Group):
    """A group whose commands are imported when they are asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the commands, in the order of the work."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name."""
        name = normalize(cmd_name)
        if name in REMOVED:
            raise click.UsageError(f"there is no command {name!r} any more: use {REMOVED[name]}", ctx)
        if name not in COMMANDS:
            return None
        module, attribute, _ = COMMANDS[name]
        return add_examples(getattr(import_module(module), attribute), f"gencode {name}")

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry[2]) for name, entry in COMMANDS.items()])


@click.group(
    cls=LazyGroup,
    epilog="\b\nExample:\n  gencode data import examples/jars.json --output_dataset_name jars",
    context_settings={"token_normalize_func": normalize, "help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="gencode")
def cli() -> None:
    """Generate programs with language models, and measure how good they are."""


def main(arguments: list[str] | None = None) -> Any:
    """Run the command line and exit."""
    # All memory goes back to the kernel: to look for garbage once more takes up to a second where litellm is loaded.
    atexit.register(gc.freeze)
    try:
        # Without its standalone mode click gives the status of `Exit` back instead of exiting with it.
        sys.exit(cli.main(args=arguments, prog_name="gencode", standalone_mode=False))
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        sys.exit(error.exit_code)
    except click.ClickException as error:
        if isinstance(error, click.NoSuchOption) and (ours := RENAMED.get(f"--{normalize(error.option_name[2:])}")):
            error = click.UsageError(f"No such option {error.option_name!r}: use {' or '.join(ours)}", error.ctx)
        context = error.ctx if isinstance(error, click.UsageError) else None
        hint = f" (see {context.command_path} --help)" if context else ""
        say_error(f"{error.format_message()}{hint}")
        sys.exit(error.exit_code)
    except UserError as error:
        say_error(error.for_command_line if isinstance(error, SandboxError) else str(error))
        sys.exit(2)
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(1)
    except OSError as error:
        if error.errno not in FULL:
            raise
        forget_unwritten()
        say_error(f"cannot write the output: {error.strerror}")
        sys.exit(2)
