"""`gencode repo`: the repository benchmark."""

import sys
from functools import partial

import click

from alpha_codium.cli.lazy import LazyGroup
from alpha_codium.cli.main import main

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


def program(command: str) -> None:
    """Run a command as a program of its own."""
    main(["repo", command, *sys.argv[1:]])


# The entry points of `run-multiturn` and the other programs.
run_multiturn = partial(program, "run")
run_multiturn_k8s = partial(program, "run_k8s")
get_resources = partial(program, "get_resources")
serve_vllm = partial(program, "serve_vllm")
kill_vllm = partial(program, "kill_vllm")
