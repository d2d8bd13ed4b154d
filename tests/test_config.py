import tomllib
from importlib import resources

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alpha_codium.app.settings_listing import inline
from alpha_codium.config import Settings, load_settings
from alpha_codium.errors import SettingsError
from alpha_codium.judge import Rules
from alpha_codium.limits import TIME_LIMIT_FACTORS
from alpha_codium.problem import Problem

MODEL_TEXT = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), max_size=20).filter(
    lambda text: not text.startswith(("'", '"'))
)


def test_the_shipped_file_holds_every_setting_that_has_a_default_and_says_what_the_code_says():
    shipped = tomllib.loads(resources.files("alpha_codium.settings").joinpath("configuration.toml").read_text())
    code = Settings().model_dump(mode="json", exclude_none=True)
    assert shipped == code
    assert load_settings(environment={}) == Settings()


def test_later_sources_win_key_by_key(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text('[config]\nmodel = "file"\nai_timeout = 1.0\nmax_retries = 1\n')
    environment = {"GENCODE_CONFIG__MODEL": "environment", "GENCODE_CONFIG__AI_TIMEOUT": "2", "HOME": "/"}
    config = load_settings(file, ["config.model=option"], environment).config
    assert (config.model, config.ai_timeout, config.max_retries, config.concurrency) == ("option", 2.0, 1, 8)


def test_of_two_overrides_the_last_wins():
    assert load_settings(None, ["config.model=a", "config.model=b"], {}).config.model == "b"


def test_an_earlier_runs_settings_stand_in_place_of_file_and_environment():
    base = {"config": {"model": "earlier"}}
    settings = load_settings(None, ["config.seed=1"], {"GENCODE_CONFIG__MODEL": "today"}, base)
    assert (settings.config.model, settings.config.seed) == ("earlier", 1)


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("config.temperature=0", "temperature", 0.0),
        ("config.seed=-3", "seed", -3),
        ("config.drop_params=true", "drop_params", True),
        ("config.fallback_models=['a/b', 'c/d']", "fallback_models", ("a/b", "c/d")),
        ("config.extra={a = {b = 1}}", "extra", {"a": {"b": 1}}),
        ("config.model=local/x=y", "model", "local/x=y"),
        ('config.model="quoted"', "model", "quoted"),
        ("config.model=", "model", ""),
        ("config.model=007", "model", "007"),
        ("config.ai-timeout = 5", "ai_timeout", 5.0),
        ("config.structured_output=yaml", "structured_output", "yaml"),
    ],
)
def test_an_override_is_read_as_toml_spells_it_and_text_as_it_stands(text, name, value):
    assert getattr(load_settings(None, [text], {}).config, name) == value


@pytest.mark.thorough
@given(MODEL_TEXT)
def test_a_key_that_holds_text_takes_any_text(text):
    assert load_settings(None, [f"config.model={text}"], {}).config.model == text
    assert load_settings(None, [], {"GENCODE_CONFIG__MODEL": text}).config.model == text


@pytest.mark.parametrize("value", ["true", "false", '"strict"', "strict"])
def test_the_sandbox_takes_true_false_and_strict(value):
    got = load_settings(None, [f"code_tester.sandbox={value}"], {}).code_tester.sandbox
    assert got == {"true": True, "false": False}.get(value, "strict")


@given(st.text())
def test_any_override_is_a_setting_or_a_clear_error(text):
    try:
        assert isinstance(load_settings(None, [text], {}), Settings)
    except SettingsError as error:
        assert str(error)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("config.modle=x", r"-o config.modle=x: unknown setting config.modle \(did you mean 'model'\?\)"),
        ("solv.max_calls=1", r"unknown section solv \(did you mean 'solve'\?\)"),
        ("config=1", "config is a section, not a value"),
        ("config.model", "settings are given as section.key=value"),
        ("config.max_retries=many", "setting config.max_retries: .* not 'many'"),
        ("config.max_retries=-1", "setting config.max_retries: .* not -1"),
        ("config.temperature=3", "setting config.temperature: .* not 3"),
        ("config.top_p=0", "setting config.top_p"),
        ("config.temperature=nan", "setting config.temperature"),
    ],
)
def test_a_wrong_override_is_named(text, message):
    with pytest.raises(SettingsError, match=message):
        load_settings(None, [text], {})


def test_a_section_may_lie_in_another_one(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text('[sandbox.oci]\nimage = "file"\nengine = "file"\nruntime = "file"\n')
    environment = {"GENCODE_SANDBOX__OCI__ENGINE": "environment", "GENCODE_SANDBOX__OCI__RUNTIME": "environment"}
    oci = load_settings(file, ["sandbox.oci.runtime=option"], environment).sandbox.oci
    assert (oci.image, oci.engine, oci.runtime, oci.options) == ("file", "environment", "option", "")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sandbox.oci.imgae=x", r"unknown setting sandbox.oci.imgae \(did you mean 'image'\?\)"),
        ("sandbox.ocii.image=x", r"unknown section sandbox.ocii \(did you mean 'sandbox.oci'\?\)"),
        ("sandbox.oci=x", r"sandbox.oci is a section, not a value"),
        ("sandbox.oci.image=", "setting sandbox.oci.image: "),
        ("sandbox.gvisor.platform=kmv", "setting sandbox.gvisor.platform: .*'kvm', not 'kmv'"),
        ("config.extra.top_k=1", r"unknown section config.extra"),
    ],
)
def test_a_wrong_setting_of_a_backend_is_named(text, message):
    with pytest.raises(SettingsError, match=message):
        load_settings(None, [text], {})


BACKENDS_SETTINGS = ["gvisor.platform", "gvisor.runsc", "oci.engine", "oci.image", "oci.options", "oci.runtime"]


@pytest.mark.parametrize("name", BACKENDS_SETTINGS)
def test_a_setting_of_a_backend_can_be_an_environment_variable(name):
    section, key = name.split(".")
    settings = load_settings(None, [], {f"GENCODE_SANDBOX__{section}__{key}".upper(): "kvm"})
    assert settings.sandbox.options_of(section)[key] == "kvm"


def test_a_wrong_file_is_named(tmp_path):
    file = tmp_path / "mine.toml"
    for content, message in {
        "[config]\nmodle = 1": r"mine.toml: unknown setting config.modle",
        "config = 1": r"mine.toml: config is a section, not a value",
        "= 1": "mine.toml is not valid TOML",
        "\udcff": "mine.toml is not a text in UTF-8",
    }.items():
        file.write_bytes(content.encode("utf-8", "surrogateescape"))
        with pytest.raises(SettingsError, match=message):
            load_settings(file, [], {})


def test_settings_do_not_change():
    with pytest.raises(ValueError, match="frozen"):
        Settings().config.model = "other"


def test_an_earlier_runs_settings_stand_in_place_of_the_file_in_the_current_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gencode.toml").write_text('[config]\nmodel = "here"\n')
    assert load_settings(environment={}).config.model == "here"
    assert load_settings(environment={}, base={"config": {"model": "earlier"}}).config.model == "earlier"


VALUES = st.recursive(
    st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda items: st.lists(items, max_size=3) | st.dictionaries(st.text(), items, max_size=3),
)


@given(VALUES)
def test_any_value_is_listed_in_one_line_that_toml_reads_back(value):
    text = inline(value)
    assert "\n" not in text
    assert tomllib.loads(f"value = {text}")["value"] == value


def test_each_language_has_a_factor_for_time_limits_and_python_has_its_own():
    languages = load_settings(None, ["languages.java.time_limit_factor=1.5"], {}).languages
    factors = languages.time_limit_factors
    assert factors == {**TIME_LIMIT_FACTORS, "java": 1.5}
    rules, problem = Rules(time_limit_factor=4.0, time_limit_factors=factors), Problem("p", time_limit_seconds=1.0)
    assert [rules.limits_for(problem, name).cpu_seconds for name in ("cpp", "java", "python3")] == [1.0, 1.5, 4.0]
