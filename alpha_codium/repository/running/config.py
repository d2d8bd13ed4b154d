"""The configuration of a run: a YAML file, merged over `resources/config_default.yaml`, which explains each key."""

from collections.abc import Iterable, Mapping
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from alpha_codium.config.base import Changes, Section
from alpha_codium.config.layers import Layer, Schema, read, yaml, yaml_value

RESOURCES = resources.files("alpha_codium.repository.resources")
DEFAULTS = "config_default.yaml"
# Keys of the existing benchmark's configuration, and those that replace them here.
ALIASES = {"paths.output_folder": "paths.outputs", "inference.lora_ckpts_dir": "paths.checkpoints"}
# Its keys that have no counterpart, since tests run without Docker, and files are kept in $GENCODE_HOME.
UNUSED = {"paths.local_dir", "paths.docker_commands"}
ABLATIONS = ("no_feedback", "no_multiturn", "no_history", "repair_sampling")


class PathsSection(Section):
    """`paths`."""

    data: str
    split: str
    outputs: Annotated[str, Changes.NOTHING]
    checkpoints: Annotated[str, Changes.NOTHING]
    prompts: Annotated[str, Changes.NOTHING]
    checkout: str
    output_filename: Annotated[str, Changes.NOTHING] = Field(min_length=1)
    format_run_name: Annotated[str, Changes.NOTHING] = Field(min_length=1)


class InferenceSection(Section):
    """`inference`."""

    provider: Literal["litellm", "vllm"]
    model: str
    api_base: Annotated[str | tuple[str, ...], Changes.NOTHING]
    model_args: dict[str, Any]
    temperature: float | None = Field(ge=0, le=2)
    top_p: float | None = Field(gt=0, le=1)
    seed: int | None
    max_tokens: int | None = Field(ge=1)
    timeout: Annotated[float, Changes.NOTHING] = Field(gt=0)
    think: bool
    lora_ckpts_list: Annotated[tuple[str, ...], Changes.NOTHING]
    max_items: int | None = Field(ge=1)
    max_iter: int = Field(ge=1)
    num_replicas: int = Field(ge=1)
    batch_size: Annotated[int, Changes.NOTHING] = Field(ge=1)
    do_continue: Annotated[bool, Changes.NOTHING]
    cache: Annotated[bool, Changes.NOTHING]
    log_to_console: Annotated[bool, Changes.NOTHING]
    sandbox_provider: str = Field(min_length=1)
    workers: Annotated[int, Changes.NOTHING] = Field(ge=0)
    max_num_tests: int = Field(ge=1)
    max_retries: Annotated[int, Changes.NOTHING] = Field(ge=0)
    gen_target: Literal["method", "class"]
    context_source: Literal["file", "class"]
    max_context_symb: int = Field(ge=1)
    max_test_feedback_symb: int = Field(ge=1)
    no_feedback: bool
    no_multiturn: bool
    no_history: bool
    repair_sampling: bool
    check_ground_truth: bool

    @model_validator(mode="after")
    def _one_ablation(self) -> Self:
        chosen = [name for name in ABLATIONS if getattr(self, name)]
        if len(chosen) > 1:
            raise ValueError(f"{' and '.join(chosen)} exclude each other: at most one can be true")
        return self

    @property
    def addresses(self) -> tuple[str, ...]:
        """The addresses of `api_base`."""
        given = (self.api_base,) if isinstance(self.api_base, str) else self.api_base
        return tuple(address for address in given if address)


class VllmSection(Section):
    """`vllm`."""

    command: str = Field(min_length=1)
    start_seconds: float = Field(gt=0)


class RunBudgetSection(Section):
    """`budget`."""

    run_calls: int = Field(ge=0)
    run_tokens: int = Field(ge=0)
    run_cost: float = Field(ge=0)
    run_seconds: float = Field(ge=0)


class WandbSection(Section):
    """`wandb`."""

    project: str
    entity: str


class TrackioSection(Section):
    """`trackio`."""

    project: str


class RunConfig(Section):
    """The whole configuration, with all values filled in."""

    repository: str = Field(min_length=1)
    benchmark: Literal["method_gen_multiturn", "completion", "program_repair"]
    paths: PathsSection
    inference: InferenceSection
    vllm: VllmSection
    budget: Annotated[RunBudgetSection, Changes.NOTHING]
    wandb: Annotated[WandbSection, Changes.NOTHING]
    trackio: Annotated[TrackioSection, Changes.NOTHING]

    @model_validator(mode="after")
    def _class_to_generate(self) -> Self:
        if self.inference.gen_target == "class" and self.benchmark != "method_gen_multiturn":
            raise ValueError(f"inference.gen_target = class needs method_gen_multiturn; benchmark is {self.benchmark}")
        return self

    @property
    def prompts_name(self) -> str:
        """The name of the benchmark's prompts, which is that in `BENCHMARKS`."""
        return "class_gen_multiturn" if self.inference.gen_target == "class" else self.benchmark


CONFIGURATION = Schema(RunConfig, references=True)


def load_config(
    file: Path | None = None, overrides: Iterable[str] = (), base: Mapping[str, Any] | None = None
) -> RunConfig:
    """Merge a file, and texts `section.key=value`, over the defaults and, if given, an earlier run's configuration.

    A relative `paths.prompts` in the file is relative to the file's folder. Raises SettingsError if a file can't be
    read, a key is unknown, a reference can't be resolved, or a value is invalid.
    """
    defaults = yaml(RESOURCES.joinpath(DEFAULTS).read_text("utf-8"))
    layers = [("the defaults", CONFIGURATION.by_name(defaults))]
    layers += [("the earlier run's configuration", CONFIGURATION.by_name(base))] if base is not None else []
    layers += [_of_file(file)] if file is not None else []
    layers += [CONFIGURATION.override(text, "inference.max_iter=1", yaml_value) for text in overrides]
    renamed = [
        (origin, {ALIASES.get(name, name): value for name, value in values.items() if name not in UNUSED})
        for origin, values in layers
    ]
    return CONFIGURATION.load(renamed).settings


def _of_file(file: Path) -> Layer:
    values = CONFIGURATION.by_name(read(file, f"configuration {file}", yaml))
    if prompts := values.get("paths.prompts"):
        values["paths.prompts"] = str(file.parent / Path(str(prompts)).expanduser())
    return f"configuration {file}", values
