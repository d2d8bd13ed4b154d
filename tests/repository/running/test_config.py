"""The YAML configuration of a run."""

from pathlib import Path

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from alpha_codium.errors import SettingsError
from alpha_codium.repository.running.config import CONFIGURATION, DEFAULTS, RESOURCES, load_config


def written(folder: Path, text: str) -> Path:
    file = folder / "config.yaml"
    file.write_text(text)
    return file


def test_a_file_is_merged_over_the_defaults_and_may_refer_to_other_values(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TASKS", "mine")
    config = load_config(written(tmp_path, "paths: {data: '${oc.env:TASKS}-${benchmark}'}\ninference: {max_iter: 1}"))
    assert config.paths.data == "mine-method_gen_multiturn"
    assert config.inference.max_iter == 1
    assert config.inference.max_context_symb == 60_000
    assert config.inference.max_test_feedback_symb == 20_000


def test_overrides_take_precedence_and_references_to_what_they_change_follow() -> None:
    config = load_config(overrides=["repository=sympy", "inference.temperature=0.5", "benchmark=completion"])
    assert (config.repository, config.paths.data, config.inference.temperature) == ("sympy", "sympy", 0.5)
    assert config.benchmark == "completion"


def test_names_of_the_existing_benchmark_are_known(tmp_path: Path) -> None:
    text = "paths: {output_folder: out, local_dir: x, docker_commands: y}\ninference: {lora_ckpts_dir: adapters}"
    config = load_config(written(tmp_path, text))
    assert (config.paths.outputs, config.paths.checkpoints) == ("out", "adapters")
    assert load_config(overrides=["paths.local_dir=x", "paths.output_folder=out"]).paths.outputs == "out"


def test_prompts_are_found_from_the_folder_of_the_file(tmp_path: Path) -> None:
    assert load_config(written(tmp_path, "paths: {prompts: mine}")).paths.prompts == str(tmp_path / "mine")
    assert load_config().paths.prompts == ""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("benchmrk: completion", "unknown setting benchmrk (did you mean 'benchmark'?)"),
        ("inference: {max_itr: 1}", "unknown setting inference.max_itr (did you mean 'max_iter'?)"),
        ("inference: 3", "inference is a section, not a value"),
        ("inference: {max_iter: none}", "setting inference.max_iter: Input should be a valid integer"),
        ("inference: {max_iter: 0}", "greater than or equal to 1, not 0"),
        ("inference: {no_feedback: true, no_history: true}", "no_feedback and no_history exclude each other"),
        ("benchmark: repair", "'method_gen_multiturn', 'completion' or 'program_repair'"),
        (
            "benchmark: completion\ninference: {gen_target: class}",
            "class needs method_gen_multiturn; benchmark is completion",
        ),
        ("paths: {data: '${nowhere}'}", "nowhere"),
        ("a: [", "is not valid YAML"),
        ("- 1", "must have keys and values"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load_config(written(tmp_path, text))
    assert message in str(caught.value) and "\n" not in str(caught.value)
    assert str(tmp_path) in str(caught.value) or "gen_target" in text


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"no.yaml can't be read: No such file"):
        load_config(tmp_path / "no.yaml")


def test_every_key_has_a_default_and_a_comment() -> None:
    lines = RESOURCES.joinpath(DEFAULTS).read_text("utf-8").splitlines()
    values = yaml.safe_load("\n".join(lines))
    names = {name for key, inner in values.items() for name in (
        [f"{key}.{each}" for each in inner] if isinstance(inner, dict) else [key])}  # fmt: skip
    assert names == set(CONFIGURATION.known)
    ablations = {"no_multiturn", "no_history", "repair_sampling"}
    for number, line in enumerate(lines):
        name = line.strip().partition(":")[0]
        is_value = line.startswith("  ") and not line.strip().startswith("#") and not line.startswith("  run_")
        if is_value and name not in ablations and name not in ("top_p", "seed"):
            assert lines[number - 1].strip().startswith("#"), line


@given(st.text(max_size=60))
@example("0")
def test_any_text_is_a_configuration_or_an_error_of_one_line(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    file = tmp_path_factory.getbasetemp() / "any.yaml"
    file.write_text(text, "utf-8", errors="surrogateescape")
    try:
        load_config(file)
    except SettingsError as error:
        assert "\n" not in str(error)


def test_the_configuration_of_an_earlier_run_takes_the_place_of_the_defaults() -> None:
    first = load_config(overrides=["inference.max_iter=7", "paths.data=mine"])
    again = load_config(overrides=["inference.batch_size=1"], base=first.model_dump(exclude_none=True))
    assert (again.inference.max_iter, again.paths.data, again.inference.batch_size) == (7, "mine", 1)
