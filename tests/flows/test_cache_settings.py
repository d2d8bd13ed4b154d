"""Every setting changes what happens: here that of the cache of answers."""

import pytest

from alpha_codium.app.solving import solve_problem_async
from tests.flows.scripted_flow import ONE, program
from tests.flows.switches import changes
from tests.flows.test_command_settings import common_of
from tests.servers.scripted import ScriptedServer


@changes("config.cache")
@pytest.mark.parametrize(("cache", "requests"), [("true", 1), ("false", 2)])
async def test_cache_says_whether_answers_of_earlier_runs_are_used_again(tmp_path, monkeypatch, cache, requests):
    monkeypatch.setenv("GENCODE_HOME", str(tmp_path))
    with ScriptedServer(lambda body: program("print(3)")) as server:
        for _ in range(2):
            settings = common_of(server, f"config.cache={cache}").settings
            candidate = (await solve_problem_async(ONE, "baseline", settings=settings)).candidate
            assert (candidate.program.strip(), candidate.llm_calls) == ("print(3)", 1)
        assert len(server.requests) == requests
    assert (tmp_path / "cache" / "answers.sqlite").exists() == (cache == "true")
