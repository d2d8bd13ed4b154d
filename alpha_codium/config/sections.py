"""The settings: a pydantic model for each section of `settings/configuration.toml`, where each key is explained."""

from typing import Annotated, Any, Literal, Self

from pydantic import ConfigDict, Field, create_model, field_validator, model_validator

from alpha_codium.config.base import Changes, Section
from alpha_codium.limits import DEFAULT_TIME_LIMIT_FACTOR, TIME_LIMIT_FACTORS


class ConfigSection(Section):
    """`[config]`: the model and its calls."""

    model: str = ""
    fallback_models: tuple[str, ...] = ()
    api_base: Annotated[str, Changes.NOTHING] = ""
    ai_timeout: Annotated[float, Changes.NOTHING] = Field(120.0, gt=0)
    max_retries: Annotated[int, Changes.NOTHING] = Field(5, ge=0)
    max_requests_per_minute: Annotated[float, Changes.NOTHING] = Field(0, ge=0)
    max_concurrent_requests: Annotated[int, Changes.NOTHING] = Field(64, ge=1)
    frequency_penalty: float = Field(0.0, ge=-2, le=2)
    concurrency: Annotated[int, Changes.NOTHING] = Field(8, ge=1)
    structured_output: Literal["auto", "yaml", "json_schema"] = "auto"
    drop_params: bool = False
    temperature: float | None = Field(None, ge=0, le=2)
    top_p: float | None = Field(None, gt=0, le=1)
    max_tokens: int | None = Field(None, ge=1)
    seed: int | None = None
    cache: Annotated[bool, Changes.NOTHING] = True
    adaptive_concurrency: Annotated[bool, Changes.NOTHING] = True
    model_by_prompt: dict[str, str] = Field({})
    rotate_models: tuple[str, ...] = ()
    extra: dict[str, Any] = Field({})

    @field_validator("api_base")
    @classmethod
    def _is_url(cls, value: str) -> str:
        if value and not value.startswith(("http://", "https://")):
            raise ValueError("must be a URL such as http://HOST:PORT/v1")
        return value


class SolveSection(Section):
    """`[solve]`: the flow and the limits of one sample."""

    language: str = ""
    use_baseline: bool = False
    use_direct_solutions: bool = False
    reduce_verbose: Annotated[bool, Changes.NOTHING] = False
    max_calls: int = Field(0, ge=0)
    max_tokens: int = Field(0, ge=0)
    max_cost: float = Field(0.0, ge=0)
    max_seconds: float = Field(0.0, ge=0)
    max_format_retries: int = Field(2, ge=0)


class BudgetSection(Section):
    """`[budget]`: the limits of a run, and of all samples of a problem together."""

    run_calls: int = Field(0, ge=0)
    run_tokens: int = Field(0, ge=0)
    run_cost: float = Field(0.0, ge=0)
    run_seconds: float = Field(0.0, ge=0)
    problem_calls: int = Field(0, ge=0)
    problem_tokens: int = Field(0, ge=0)
    problem_cost: float = Field(0.0, ge=0)
    problem_seconds: float = Field(0.0, ge=0)


class Price(Section):
    """A model's price in US dollars per million tokens; `cached` is for tokens from a cache, by default as `input`."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cached: float | None = Field(None, ge=0)


class PricesSection(Section):
    """`[prices]`: prices that are missing or wrong in litellm's table."""

    models: dict[str, Price] = Field({})


class SelfReflectionSection(Section):
    """`[self_reflection]`."""

    validate_self_reflection: bool = False


class PossibleSolutionsSection(Section):
    """`[possible_solutions]`."""

    max_num_of_possible_solutions: int = Field(3, ge=1)
    use_test_explanations: bool = True
    remove_brute_force_solutions: bool = True


class GenerateAiTestsSection(Section):
    """`[generate_ai_tests]`."""

    validate_ai_tests: bool = False
    number_of_ai_tests: int = Field(6, ge=0)
    use_test_explanations: bool = True
    add_public_tests_to_ai_tests: bool = True
    vet_by_brute_force: bool = False


class InitialCodeGenerationSection(Section):
    """`[initial_code_generation]`."""

    max_attempts: int = Field(8, ge=1)


class PublicTestsSection(Section):
    """`[public_tests]`."""

    max_allowed_calls: int = Field(4, ge=0)
    max_fixes_per_test: int = Field(3, ge=0)
    use_test_explanations: bool = False
    single_stage_fix: bool = True
    use_self_reflection: bool = False


class AiTestsSection(Section):
    """`[ai_tests]`."""

    max_allowed_calls: int = Field(4, ge=0)


class ResampleSection(Section):
    """`[resample]`."""

    max_attempts: int = Field(12, ge=1)
    answers_per_request: int = Field(1, ge=1)


class ReflexionSection(Section):
    """`[reflexion]`."""

    max_retries: int = Field(5, ge=0)
    memory: int = Field(3, ge=0)


class SelectSection(Section):
    """`[select]`."""

    candidates: int = Field(5, ge=1)
    fixes: int = Field(1, ge=0)
    inputs: int = Field(8, ge=0)
    max_comparisons: int = Field(3, ge=0)


class DatasetSection(Section):
    """`[dataset]`."""

    num_iterations: int = Field(1, ge=1)
    use_iteration_scheme: bool = True


class CodeTesterSection(Section):
    """`[code_tester]`: the sandbox, limits and comparison."""

    tester_type: str = "local"
    sandbox: bool | Literal["strict"] = True
    interpreter: str = ""
    preload: Annotated[list[str], Changes.NOTHING] = Field(["numpy", "pytest"])
    workers: Annotated[int, Changes.NOTHING] = Field(0, ge=0)
    executor: Annotated[str, Changes.NOTHING] = "local"
    ray_address: Annotated[str, Changes.NOTHING] = ""
    timeout: float = Field(0.0, ge=0)
    memory_bytes: int = Field(0, ge=0, le=2**50)
    time_limit_factor: float = Field(DEFAULT_TIME_LIMIT_FACTOR, gt=0)
    delta: float = Field(0.0, ge=0)
    order_matters: bool = True
    stop_on_first_failure: bool = False
    known_solutions: Annotated[int, Changes.NOTHING] = Field(2, ge=0)
    recheck_near_limit: Annotated[bool, Changes.NOTHING] = False
    header: str = ""
    calc_trace: Annotated[bool, Changes.SAMPLES] = False
    use_trace: Annotated[bool, Changes.SAMPLES] = False
    max_trace_lines: Annotated[int, Changes.SAMPLES] = Field(50, ge=1)
    trace_depth: Annotated[int, Changes.SAMPLES] = Field(4, ge=1)

    @model_validator(mode="after")
    def _one_checker(self) -> Self:
        if self.delta > 0 and not self.order_matters:
            raise ValueError("delta and order_matters = false can't be asked for together: no checker does both")
        return self


class GvisorSection(Section):
    """`[sandbox.gvisor]`."""

    runsc: str = "runsc"
    platform: Literal["", "systrap", "ptrace", "kvm"] = ""


class OciSection(Section):
    """`[sandbox.oci]`."""

    image: str = Field("gencode-worker", min_length=1)
    engine: str = ""
    runtime: str = ""
    options: str = ""


class CodeContestsSection(Section):
    """`[sandbox.code_contests]`."""

    environment: str = ""


class RemoteSection(Section):
    """`[sandbox.remote]`."""

    urls: tuple[str, ...] = ()
    token_file: str = ""
    token_env: str = ""


class SandboxSection(Section):
    """`[sandbox]`: a table for each backend; those of plug-ins aren't checked."""

    model_config = ConfigDict(extra="allow")

    gvisor: GvisorSection = GvisorSection()
    oci: OciSection = OciSection()
    code_contests: CodeContestsSection = CodeContestsSection()
    remote: RemoteSection = RemoteSection()

    def options_of(self, backend: str) -> dict[str, Any]:
        """Return the settings of one backend, which are keyword arguments of `open_sandbox`."""
        return self.model_dump().get(backend, {})


class LanguageSection(Section):
    """`[languages.NAME]`: how programs in one language are compiled and limited; empty texts stand for the defaults."""

    compiler: str = ""
    options: str = ""
    time_limit_factor: float = Field(gt=0)


def _languages() -> type[Section]:
    """Return a section with a `LanguageSection` for each language but Python."""
    fields: dict[str, Any] = {
        name: (LanguageSection, LanguageSection(time_limit_factor=factor))
        for name, factor in TIME_LIMIT_FACTORS.items()
    }
    return create_model("_Languages", __base__=Section, **fields)


class LanguagesSection(_languages()):  # type: ignore[misc]
    """`[languages]`: a table for each language but Python, whose settings are in `[code_tester]`."""

    @property
    def time_limit_factors(self) -> dict[str, float]:
        """What a problem's own time limit is multiplied by for programs in these languages."""
        return {name: section.time_limit_factor for name, section in self}

    @property
    def tools(self) -> dict[str, dict[str, str]]:
        """The compiler and the options of each language for which they aren't the defaults."""
        chosen = {name: section.model_dump(include={"compiler", "options"}) for name, section in self}
        return {name: values for name, values in chosen.items() if any(values.values())}


class Settings(Section):
    """All settings, with an attribute for each section of `configuration.toml`."""

    config: ConfigSection = ConfigSection()
    solve: SolveSection = SolveSection()
    budget: Annotated[BudgetSection, Changes.NOTHING] = BudgetSection()
    prices: Annotated[PricesSection, Changes.NOTHING] = PricesSection()
    self_reflection: SelfReflectionSection = SelfReflectionSection()
    possible_solutions: PossibleSolutionsSection = PossibleSolutionsSection()
    generate_ai_tests: GenerateAiTestsSection = GenerateAiTestsSection()
    initial_code_generation: InitialCodeGenerationSection = InitialCodeGenerationSection()
    public_tests: PublicTestsSection = PublicTestsSection()
    ai_tests: AiTestsSection = AiTestsSection()
    resample: ResampleSection = ResampleSection()
    reflexion: ReflexionSection = ReflexionSection()
    select: SelectSection = SelectSection()
    dataset: DatasetSection = DatasetSection()
    code_tester: CodeTesterSection = CodeTesterSection()
    sandbox: Annotated[SandboxSection, Changes.NOTHING] = SandboxSection()
    languages: LanguagesSection = LanguagesSection()

    def changed(self, section: str, **values: Any) -> Self:
        """Return the settings with these values in a section; they aren't validated."""
        return self.model_copy(update={section: getattr(self, section).model_copy(update=values)})
