"""`gencode repo`: the repository benchmark."""

import sys
from pathlib import Path

import click

from alpha_codium.cli.lazy import LazyGroup
from alpha_codium.cli.main import main
from alpha_codium.cli.options import normalize

# name -> (module, attribute, what it does)
COMMANDS = {
    "build": ("alpha_codium.cli.repo_build", "build", "Make tasks from the documented methods of a repository."),
    "run": ("alpha_codium.cli.repo_run", "run", "Run the tasks of a repository with a model."),
    "run_k8s": ("alpha_codium.cli.repo_run", "run_k8s", "Run the tasks in a Kubernetes cluster, as a Job."),
    "get_resources": ("alpha_codium.cli.repo_run", "get_resources", "Copy the configuration files and the prompts."),
    "serve": ("alpha_codium.cli.serve", "serve_repository", "Run tests for other programs, over HTTP."),
    "serve_vllm": ("alpha_codium.cli.repo_run", "serve_vllm", "Start servers of a model, one for each GPU."),
    "kill_vllm": ("alpha_codium.cli.repo_run", "kill_vllm", "End these servers."),
    "show": ("alpha_codium.cli.repo_build", "show", "Show a summary of a dataset of tasks, or one of its tasks."),
}


@click.group(cls=LazyGroup, path="gencode repo", entries=COMMANDS)
def group() -> None:
    """Build and run the repository benchmark."""


def program() -> None:
    """Run a command that is also a program, such as `serve-vllm`; `run-multiturn` is the command `run`."""
    command = normalize(Path(sys.argv[0]).name).replace("run_multiturn", "run")
    main(["repo", command, *sys.argv[1:]])
