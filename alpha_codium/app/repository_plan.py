"""The plan of a run of the repository benchmark: its configuration, tasks, prompts, checkpoints and model."""

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from alpha_codium.app.models import load_secrets, with_model
from alpha_codium.app.options.repository import TasksOptions
from alpha_codium.app.run_folders import run_settings
from alpha_codium.config import Settings, load_settings
from alpha_codium.data.sources import is_plain_name, stored_names
from alpha_codium.errors import DatasetError, SettingsError, UserError
from alpha_codium.llm.messages import ChatRequest
from alpha_codium.llm.names import LOCAL
from alpha_codium.paths import runs_folder
from alpha_codium.repository.dataset import load_tasks
from alpha_codium.repository.recipes import recipe_of
from alpha_codium.repository.running.benchmarks import BENCHMARKS
from alpha_codium.repository.running.config import RESOURCES, RunConfig, load_config
from alpha_codium.repository.running.context import Shown
from alpha_codium.repository.running.conversation import Manner
from alpha_codium.repository.running.loop import LoopRules
from alpha_codium.repository.running.prompts import Prompts, load_prompts
from alpha_codium.repository.storage import copy_of, fetched, is_remote
from alpha_codium.repository.tasks import RepositoryTask
from alpha_codium.runs import RunFolder
from alpha_codium.runs.folder import REPOSITORY_COMMAND, RUN_FILE, write_atomically
from alpha_codium.verdict import JUDGING_RULES, Identity
from alpha_codium.wording import natural_order

GROUND_TRUTH = "ground truth"


@dataclass(frozen=True)
class RunPlan:
    """A run with everything that it needs but a model; `settings` are those of the model client."""

    config: RunConfig
    tasks: Mapping[int, RepositoryTask]
    prompts: Prompts
    settings: Settings
    addresses: tuple[str, ...]
    api_key: str | None
    checkpoint: str = ""

    @property
    def model(self) -> str:
        """The name of the model, for people."""
        return GROUND_TRUTH if self.config.inference.check_ground_truth else self.settings.config.model

    def description(self) -> dict[str, Any]:
        """Return the entries of `run.toml`, which must be the same when the run is resumed."""
        judge = Identity(self.config.inference.sandbox_provider, "", "", rules=JUDGING_RULES)
        names = "\n".join(f"{idx} {task.dp_id} {' '.join(task.tests)}" for idx, task in self.tasks.items())
        return {
            "command": REPOSITORY_COMMAND,
            "dataset_name": self.config.paths.data,
            "fingerprint": hashlib.sha256(names.encode()).hexdigest(),
            "prompts_fingerprint": self.prompts.fingerprint,
            "model": self.model,
            "sandbox": judge.to_json(),
            "settings": self.config.model_dump(),
        }

    def rules(self) -> LoopRules:
        """Return what is the same for all items."""
        inference, config = self.config.inference, self.settings.config
        request = ChatRequest(
            (),
            temperature=inference.temperature,
            top_p=inference.top_p,
            max_tokens=config.max_tokens,
            seed=inference.seed,
            extra=dict(inference.model_args),
        )
        manner = Manner(
            inference.think,
            inference.no_feedback,
            inference.no_multiturn,
            inference.no_history,
            inference.repair_sampling,
        )
        return LoopRules(
            BENCHMARKS[self.config.prompts_name],
            self.prompts,
            Shown(inference.context_source, inference.max_context_symb),
            manner,
            request,
            1 if inference.check_ground_truth else inference.max_iter,
            inference.max_test_feedback_symb,
            inference.max_num_tests,
            inference.max_retries,
        )

    def run_name(self) -> str:
        """Return the path or name of a new run's folder; raises SettingsError."""
        names = {"model": self.checkpoint or self.model, "benchmark": self.config.benchmark}
        names |= {"repository": self.config.repository, "checkpoint": self.checkpoint}
        plain = {key: value.replace("/", "-").replace(" ", "-") for key, value in names.items()}
        try:
            name = self.config.paths.format_run_name.format(**plain, time=f"{datetime.now(UTC):%Y%m%d-%H%M%S-%f}")
        except (KeyError, IndexError, ValueError) as error:
            raise SettingsError(f"paths.format_run_name: {self.config.paths.format_run_name!r} has a field that isn't "
                                f"known: {error}") from error  # fmt: skip
        return str(outputs_folder(self.config) / name) if self.config.paths.outputs else name


def configuration(options: TasksOptions, resume: str | None = None) -> RunConfig:
    """Return the configuration of a run, based on that of the run to resume, if any; raises SettingsError."""
    load_secrets()
    if options.config is None and resume is None:
        raise SettingsError("no configuration is given: use `config` FILE; `gencode repo get-resources DIR` makes one")
    return load_config(options.config, options.all_overrides(), run_settings(resume) if resume else None)


def planned(config: RunConfig, servers: Sequence[str], api_key: str | None = None) -> RunPlan:
    """Return the plan of a run on these servers, by default those of the configuration; raises UserError.

    Without a key of the servers, it is that of the environment.
    """
    recipe_of(config.repository)
    _require_built(config)
    tasks = load_tasks(fetched(config.paths.data), config.paths.split or None, config.inference.max_items)
    if not tasks:
        raise DatasetError(f"{config.paths.data} has no tasks")
    others = {task.repository for task in tasks.values()} - {config.repository}
    if others:
        raise DatasetError(f"{config.paths.data} has tasks of {min(others)}, not of {config.repository}")
    if config.benchmark == "program_repair" and (intact := [idx for idx, task in tasks.items() if not task.buggy_text]):
        raise DatasetError(f"{config.paths.data} can't be used for program_repair: task {intact[0]} has no bug")
    prompts = load_prompts(config.prompts_name, config.paths.prompts)
    model, addresses, key = reached(config, servers, os.environ)
    settings = _model_settings(config, model, addresses[0] if addresses else "")
    return RunPlan(config, tasks, prompts, settings, addresses, api_key or key)


def _require_built(config: RunConfig) -> None:
    """Raise DatasetError if the data is the name of a dataset that isn't stored, with the command that makes it."""
    name = config.paths.data
    if is_plain_name(name) and not Path(name).exists() and "." not in name and name not in stored_names():
        raise DatasetError(
            f"there is no dataset {name!r}: make it with `gencode repo build` (repository {config.repository}, stored "
            f"as {name}), or set paths.data"
        )


def reached(
    config: RunConfig, servers: Sequence[str], environment: Mapping[str, str]
) -> tuple[str, tuple[str, ...], str | None]:
    """Return the model string, the addresses of its servers, and their key, None for the environment's.

    Models behind the proxy LITELLM_ENDPOINT, and those of vLLM, are reached by the protocol of OpenAI.
    """
    inference, model = config.inference, config.inference.model
    endpoint = environment.get("LITELLM_ENDPOINT", "")
    addresses = tuple(servers) or inference.addresses
    by_proxy = bool(endpoint and not addresses and not model.startswith(LOCAL))
    if by_proxy:
        addresses = (endpoint,)
    if model and (by_proxy or servers or inference.provider == "vllm") and not model.startswith("openai/"):
        model = f"openai/{model}"
    key = None if model.startswith(LOCAL) else environment.get("LITELLM_KEY") or None
    return model, addresses, key


def _model_settings(config: RunConfig, model: str, address: str) -> Settings:
    """Return the settings for the model client: the user's, with the values of the configuration."""
    inference, settings = config.inference, load_settings()
    values: dict[str, Any] = {
        "model": model,
        "api_base": address or settings.config.api_base,
        "max_tokens": inference.max_tokens,
        "ai_timeout": inference.timeout,
        "concurrency": inference.batch_size,
        "cache": inference.cache,
    }
    settings = settings.changed("config", **values).changed("budget", **config.budget.model_dump())
    return settings if inference.check_ground_truth else with_model(settings)


def checkpoints_of(config: RunConfig) -> list[str]:
    """Return the names of the LoRA adapters to evaluate, in their natural order, or [""]; raises SettingsError."""
    folder, wanted = config.paths.checkpoints, config.inference.lora_ckpts_list
    if not folder:
        return list(wanted) or [""]
    return list(wanted) or _adapters(Path(fetched(folder)).expanduser())


def _adapters(folder: Path) -> list[str]:
    found = [path.parent.name for path in folder.glob("*/adapter_config.json")]
    if not found:
        raise SettingsError(f"paths.checkpoints: {folder} has no folder with an adapter_config.json")
    return sorted(found, key=natural_order)


def with_checkpoint(settings: Settings, checkpoint: str) -> Settings:
    """Return the settings with a checkpoint, which servers have under its own name, as the model."""
    return settings.changed("config", model=f"openai/{checkpoint}") if checkpoint else settings


def outputs_folder(config: RunConfig) -> Path:
    """Return the folder for the folders of runs; for a URL, that of its copy."""
    outputs = config.paths.outputs
    if is_remote(outputs):
        return copy_of(outputs)
    return Path(outputs).expanduser().absolute() if outputs else runs_folder()


def latest_run(config: RunConfig) -> str | None:
    """Return the latest run of this command in the folder of outputs, or None."""
    root = outputs_folder(config)
    if is_remote(config.paths.outputs):
        fetched(config.paths.outputs, optional=True)
    found = sorted(root.glob(f"*/{RUN_FILE}"), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in found:
        if RunFolder(path.parent).description()["command"] == REPOSITORY_COMMAND:
            return str(path.parent)
    return None


def copy_resources(folder: Path) -> list[Path]:
    """Copy the shipped configuration and prompts to a folder; return their paths. Raises UserError if one is there."""
    shipped = Path(str(RESOURCES))
    files = {folder / file.relative_to(shipped): file for file in sorted(shipped.rglob("*.yaml"))}
    there = [path for path in files if path.exists()]
    if there:
        raise UserError(f"{there[0]} exists already: choose another folder, or delete it")
    try:
        for path, file in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, file.read_bytes())
    except OSError as error:
        raise UserError(f"{folder} can't be written: {error.strerror}") from error
    return list(files)
