"""From the settings to the models of a run."""

import pytest
from loguru import logger

from alpha_codium.app.models import with_model
from alpha_codium.config.sections import ConfigSection, Price, PricesSection, Settings
from alpha_codium.llm.endpoints import models_of
from alpha_codium.llm.local.registry import BEST, SMALLEST, add, keep
from alpha_codium.llm.opening import LOCAL_TIMEOUT_SECONDS, MODEL_OF_KEY, choose_model, effective_config, open_model
from alpha_codium.paths import models_folder
from tests.llm.asking import request
from tests.llm.local_support import FILE_BYTES, needs_xllamacpp, smallest_model
from tests.servers.scripted import ScriptedServer, Text

MANY = ConfigSection(
    model="openai/big",
    rotate_models=("openai/big", "openai/other"),
    model_by_prompt={"reflect": "openai/small", "fix": ""},
    fallback_models=("openai/last",),
)


@pytest.fixture(autouse=True)
def _key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "k")


def test_the_models_of_a_run_are_all_that_its_settings_name():
    assert models_of(MANY) == ("openai/big", "openai/other", "openai/small", "openai/last")


def test_rotate_models_need_no_other_model(tmp_path):
    config = ConfigSection(rotate_models=("openai/a", "openai/b"))
    for environment in ({}, {"ANTHROPIC_API_KEY": "k"}):
        assert choose_model(config, tmp_path, environment) == "openai/a"
    assert choose_model(MANY, tmp_path, {}) == "openai/big"


@pytest.fixture
def logged():
    lines = []
    # A command that ran in this process shows its options in messages.
    logger.configure(patcher=lambda _record: None)
    sink = logger.add(lambda line: lines.append(line.rstrip("\n")), format="{message}")
    yield lines
    logger.remove(sink)


def test_a_model_that_nobody_chose_is_named_with_the_way_to_choose_another(tmp_path, logged):
    assert choose_model(ConfigSection(), tmp_path, {"OPENAI_API_KEY": "k"}) == "openai/gpt-4o-mini"
    assert logged[-1].endswith(
        "OPENAI_API_KEY is set: the model is openai/gpt-4o-mini (choose another with `config.model`)"
    )
    for name, hint in (("mine", ""), (SMALLEST.name, "a better local model: gencode model get qwen2.5-coder-0.5b")):
        (folder := tmp_path / name).mkdir()
        (folder / "part").write_bytes(FILE_BYTES)
        keep(folder / "part", name, folder, "a test")
        assert choose_model(ConfigSection(), folder, {}, preview=True) == f"local/{name}"
        assert f"the model is local/{name} (choose another with `config.model`; " in "".join(logged[-2:])
        assert logged[-1].endswith(hint)


@needs_xllamacpp
def test_the_only_stored_model_is_the_default_of_a_run_and_of_its_dry_run(tmp_path, monkeypatch):
    for name, value in {**dict.fromkeys(MODEL_OF_KEY, ""), "GENCODE_HOME": str(tmp_path)}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.gguf").write_bytes(FILE_BYTES)
    add("mine", tmp_path / "own.gguf", models_folder())
    for preview in (True, False):
        assert with_model(Settings(), preview=preview).config.model == "local/mine"
    add("other", tmp_path / "own.gguf", models_folder())
    assert with_model(Settings(), preview=True).config.model == f"local/{BEST.name}"


async def test_all_models_of_a_run_are_reached_through_one_client(tmp_path):
    with ScriptedServer() as server:
        config = MANY.model_copy(update={"api_base": server.api_base})
        async with open_model(config, tmp_path) as client:
            for model in ("", *models_of(config)):
                await client.ask(request(model=model))
        assert [seen.body["model"] for seen in server.requests] == ["big", "big", "other", "small", "last"]


async def test_prices_of_the_settings_reach_the_client(tmp_path):
    prices = PricesSection(models={"openai/big": Price(input=1, output=1)})
    with ScriptedServer(lambda body: Text("x", prompt_tokens=10, completion_tokens=10)) as server:
        config = MANY.model_copy(update={"api_base": server.api_base})
        async with open_model(config, tmp_path, prices) as client:
            assert (await client.ask(request())).cost == pytest.approx(20e-6)
            assert (await client.ask(request(model="openai/small"))).cost is None


def test_any_local_model_raises_the_timeout():
    config = MANY.model_copy(update={"model_by_prompt": {"reflect": "local/tiny"}})
    assert effective_config(config, "openai/big").ai_timeout == LOCAL_TIMEOUT_SECONDS
    assert effective_config(config, "openai/big").max_tokens is None
    assert effective_config(MANY, "openai/big").ai_timeout == MANY.ai_timeout
    assert effective_config(MANY, "local/tiny").max_tokens is not None


@pytest.mark.thorough
@pytest.mark.model
@needs_xllamacpp
async def test_a_local_model_and_another_answer_in_one_run():
    stored = smallest_model()
    local = f"local/{stored.name}"
    with ScriptedServer() as server:
        config = ConfigSection(
            model="openai/big", model_by_prompt={"reflect": local}, api_base=server.api_base, ai_timeout=120
        )
        async with open_model(config, stored.path.parent) as client:
            big = await client.ask(request())
            answers = await client.ask_many(request("What is 2 + 2?", model=local, max_tokens=20), 2)
        assert len(server.requests) == 1
    assert big.model == "openai/big"
    assert [answer.model for answer in answers] == [local, local]
    assert all(answer.cost == 0 and answer.completion_tokens > 0 for answer in answers)
