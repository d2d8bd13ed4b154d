"""Events of use cases on stderr: run folders, previews, and how far the work is."""

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from alpha_codium.app.events import (
    Event,
    ItemDone,
    ItemsReached,
    KitExamined,
    Noted,
    RunOpened,
    RunPlanned,
    WorkEnded,
    WorkStarted,
)
from alpha_codium.cli.options import CommonOptions, said
from alpha_codium.errors import UserError
from alpha_codium.log import visible
from alpha_codium.progress import Progress

# The last line of a command that ends a run.
LOOK = "look at it: gencode report {}"


class Reporter:
    """The `on_event` of the commands; `run` is the run folder that was opened last."""

    def __init__(self, common: CommonOptions) -> None:
        self.quiet, self.overrides = common.verbosity < 0, common.overrides
        self.run: Path | None = None
        self._progress: Progress | None = None

    def __call__(self, event: Event) -> None:
        """Show one event."""
        match event:
            case WorkStarted(what, total):
                self._progress = Progress(what, total, self.quiet, event.counter.status).__enter__()
            case ItemDone() if self._progress is not None:
                self._progress.advance()
            case ItemsReached(done) if self._progress is not None:
                self._progress.reach(done)
            case WorkEnded() if self._progress is not None:
                self._progress.__exit__(None, None, None)
            case RunOpened(path):
                self.run = path
                click.echo(f"run folder: {path}", err=True)
            case Noted(text) if not self.quiet:
                click.echo(visible(said(text)), err=True)
            case RunPlanned(preview) if not self.quiet:
                click.echo(visible(said(preview.line())), err=True)
            case KitExamined(examination):
                for line in examination.lines():
                    click.echo(line)

    @property
    def name(self) -> str:
        """What names the run that was opened, or an empty text."""
        from alpha_codium.runs.folder import found_by

        return found_by(self.run) if self.run is not None else ""

    def tell_how_to_look(self) -> None:
        """Say how to look at the run that was opened."""
        if self.run is not None and not self.quiet:
            click.echo(LOOK.format(shlex.quote(self.name)), err=True)

    @contextmanager
    def resumable(self, command: str = "") -> Iterator[None]:
        """Say how to resume the run that was opened, if it is interrupted or ends with an error that this can mend.

        `command` is the command to repeat, by default the one that runs.
        """
        from alpha_codium.app.run_folders import can_resume_after

        try:
            yield
        except KeyboardInterrupt:
            if self.run is not None:
                click.echo(f"resume this run with {self._to_resume(command)}", err=True)
            raise
        except UserError as error:
            if self.run is None or not can_resume_after(error, self.run):
                raise
            again = self._to_resume(command)
            raise UserError(f"{error} (run {self.run.name}: resume it with {again})") from error

    def _to_resume(self, command: str) -> str:
        """Return the command that resumes the run, which records the budgets that it began with, and no later ones."""
        context = click.get_current_context()
        later = self.overrides if context.params.get("resume") else ()
        budgets = [f"-o {each}" for each in later if each.startswith("budget.")]
        return " ".join([command or context.command_path, "--resume", shlex.quote(self.name), *budgets])
