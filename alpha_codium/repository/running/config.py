"""The configuration of a run: a YAML file, merged over `resources/config_default.yaml`, which explains each key."""

from collections.abc import Iterable, Iterator, Mapping
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from alpha_codium.config.base import Changes, Section, known_settings, validated
from alpha_codium.errors import SettingsError, nearest

RESOURCES = resources.files("alpha_codium.repository.resources")
DEFAULTS = "config_default.yaml"
# Keys of the existing benchmark's configuration, and those that replace them here.
ALIASES = {"paths.output_folder": "paths.outputs", "inference.lora_ckpts_dir": "paths.checkpoints"}
# Its keys that have no counterpart, since tests run without Docker, and files are kept in $GENCODE_HOME.
UNUSED = {"paths.local_dir", "paths.docker_commands"}
ABLATIONS = ("no_feedback", "no_multiturn", "no_history", "repair_sampling")
# The key whose value is a mapping of any keys.
FREE_KEY = "inference.model_args"
REMEDY = "pip install omegaconf rapidfuzz sacrebleu"


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


KNOWN = known_settings(RunConfig)


def load_config(
    file: Path | None = None, overrides: Iterable[str] = (), base: Mapping[str, Any] | None = None
) -> RunConfig:
    """Merge a file, and texts `section.key=value`, over the defaults or, if given, an earlier run's configuration.

    A relative `paths.prompts` in the file is relative to the file's folder. Raises SettingsError if a file can't be
    read, a key is unknown, a reference can't be resolved, or a value is invalid.
    """
    layers: list[tuple[str, dict[str, Any]]] = []
    if file is not None:
        layers.append((f"configuration {file}", _of_file(file)))
    layers += [(f"-o {text}", _of_override(text)) for text in overrides]
    for origin, values in layers:
        _refuse_unknown(values, origin)
    origins = {name: origin for origin, values in layers for name in (*values, *_names(values))}
    return validated(RunConfig, _resolved(base, [values for _, values in layers], file), origins)


def _resolved(base: Mapping[str, Any] | None, layers: Iterable[Mapping[str, Any]], file: Path | None) -> dict[str, Any]:
    """Return the merged values, with references replaced by what they refer to."""
    omegaconf = _omegaconf()
    try:
        defaults = _of_text(RESOURCES.joinpath(DEFAULTS).read_text("utf-8"))
        merged = omegaconf.OmegaConf.merge(defaults, base or {}, *layers)
        values = omegaconf.OmegaConf.to_container(merged, resolve=True)
    except omegaconf.errors.OmegaConfBaseException as error:
        reason = str(error).strip().splitlines()[0]
        raise SettingsError(f"{f'configuration {file}' if file else 'the configuration'}: {reason}") from error
    assert isinstance(values, dict)
    return values


def _of_file(file: Path) -> dict[str, Any]:
    try:
        values = _of_text(file.read_text("utf-8"))
    except OSError as error:
        raise SettingsError(f"configuration {file} can't be read: {error.strerror}") from error
    except ValueError as error:
        raise SettingsError(f"configuration {file} is not valid YAML: {error}") from error
    paths = values.get("paths")
    if isinstance(paths, dict) and isinstance(paths.get("prompts"), str) and paths["prompts"]:
        paths["prompts"] = str(file.parent / Path(paths["prompts"]).expanduser())
    return values


def _of_text(text: str) -> dict[str, Any]:
    """Return the values in a YAML text under their names here, unresolved; raises ValueError."""
    import yaml

    omegaconf = _omegaconf()
    try:
        container = omegaconf.OmegaConf.to_container(omegaconf.OmegaConf.create(text))
    except (yaml.YAMLError, omegaconf.errors.OmegaConfBaseException) as error:
        raise ValueError(" ".join(str(error).split())) from error
    except AssertionError:
        # OmegaConf asserts that a text has keys or items.
        container = None
    if not isinstance(container, dict):
        raise ValueError("it must have keys and values, such as `repository: django`")
    return _renamed(container)


def _of_override(text: str) -> dict[str, Any]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise SettingsError(f"-o {text}: values are given as section.key=value, such as -o inference.max_iter=1")
    if name.strip() in UNUSED:
        return {}
    name = ALIASES.get(name.strip(), name.strip())
    sections, _, key = name.rpartition(".")
    inner = {key: value if KNOWN.get(name) is str else _scalar(value)}
    return {sections: inner} if sections else inner


def _scalar(text: str) -> Any:
    """Return a value as YAML spells it."""
    import yaml

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:
        return text


def _renamed(values: dict[Any, Any]) -> dict[str, Any]:
    """Return the values without those that have no counterpart here, with other names where there is one."""
    found: dict[str, Any] = {}
    for section, inner in values.items():
        if not isinstance(inner, dict):
            found[str(section)] = inner
            continue
        found.setdefault(str(section), {})
        for key, value in inner.items():
            name = f"{section}.{key}"
            if name not in UNUSED:
                there, _, new = ALIASES.get(name, name).rpartition(".")
                found.setdefault(there, {})[new] = value
    return found


def _names(values: Mapping[str, Any]) -> Iterator[str]:
    for key, value in values.items():
        yield from ((f"{key}.{inner}" for inner in value) if isinstance(value, Mapping) else (key,))


def _refuse_unknown(values: Mapping[str, Any], origin: str) -> None:
    sections = {name.partition(".")[0] for name in KNOWN if "." in name}
    tops = sections | {name for name in KNOWN if "." not in name}
    for name in _names(values):
        section, _, key = name.partition(".")
        if section not in tops:
            raise SettingsError(f"{origin}: unknown key {section}{nearest(section, tops)}")
        if not key and section in sections:
            raise SettingsError(f"{origin}: {section} has keys of its own, and can't be a single value")
        if key and name not in KNOWN:
            own = [each.partition(".")[2] for each in KNOWN if each.startswith(f"{section}.")]
            raise SettingsError(f"{origin}: unknown key {name}{nearest(key, own)}")


def _omegaconf() -> Any:
    try:
        import omegaconf
    except ImportError as error:
        raise SettingsError(f"the repository benchmark needs omegaconf: {REMEDY}") from error
    return omegaconf
