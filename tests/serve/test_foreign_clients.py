"""Client packages of other judging services, as they are on PyPI, with a server of ours."""

import base64
import re

import judge0
import pyston
import pytest
import sandbox_fusion

from tests.support import ROOT

ADD = "print(sum(map(int, input().split())))"


def run_code(address: str, code: str, **fields: object) -> sandbox_fusion.RunCodeResponse:
    request = sandbox_fusion.RunCodeRequest(code=code, language="python", **fields)
    return sandbox_fusion.run_code(request, endpoint=address, max_attempts=1)


@pytest.mark.thorough
def test_sandbox_fusion_runs_programs(address):
    mapping = sandbox_fusion.SummaryMapping(Success="ok", Failed="bad", RunTimeout="too long")

    def summary(code: str, **fields: object) -> str:
        return sandbox_fusion.summary_run_code_result(run_code(address, code, **fields), mapping)

    files = {"a/b.txt": base64.b64encode(b"inside").decode()}
    assert run_code(address, "print(open('a/b.txt').read(), input())", stdin="in", files=files).run_result.stdout == (
        "inside in\n"
    )
    assert (summary("print(1)"), summary("1 / 0")) == ("ok", "bad")
    assert summary("while True: pass", run_timeout=0.5) == "too long"
    with pytest.raises(Exception, match=r"this server runs .*python.*, not racket"):
        sandbox_fusion.run_code(
            sandbox_fusion.RunCodeRequest(code="", language="racket"), endpoint=address, max_attempts=1
        )


def test_sandbox_fusion_submits_answers(address):
    tests = [
        {"input": {"stdin": "1 2"}, "output": {"stdout": "3"}},
        {"input": {"stdin": "4"}, "output": {"stdout": "5"}},
    ]
    config = sandbox_fusion.TestConfig(
        dataset_type="CommonOJDataset",
        language="python",
        provided_data={"id": "1", "content": "", "labels": {}, "test": tests},
        extra={"run_all_cases": True},
    )
    request = sandbox_fusion.SubmitRequest(dataset="x", id="1", completion=f"```python\n{ADD}\n```", config=config)
    result = sandbox_fusion.submit(request, endpoint=address, max_attempts=1)
    assert (result.accepted, [test.passed for test in result.tests]) == (False, [True, False])


async def test_pyston_executes_programs(address):
    client = pyston.PystonClient(base_url=f"{address}/api/v2/")
    try:
        assert "python" in await client.languages()
        output = await client.execute("python", [pyston.File(ADD)], stdin="1 2")
        assert (output.run_stage.output, output.run_stage.code) == ("3\n", 0)
        with pytest.raises(Exception, match="cobol-\\* runtime is unknown"):
            await client.execute("cobol", [pyston.File("")])
    finally:
        await client.close_session()


@pytest.mark.thorough
def test_judge0_judges_programs(address):
    client = judge0.Client(address)
    cases = [judge0.TestCase("1 2", "3"), judge0.TestCase("2 2", "5")] * 11
    results = judge0.run(client=client, source_code=ADD, language=judge0.PYTHON, test_cases=cases)
    assert [result.status for result in results] == [judge0.Status.ACCEPTED, judge0.Status.WRONG_ANSWER] * 11
    assert {result.stdout for result in results} == {"3\n", "4\n"}
    files = judge0.Filesystem(content=[judge0.File(name="x.txt", content="inside")])
    reading = judge0.run(
        client=client, source_code="print(open('x.txt').read())", language=judge0.PYTHON, additional_files=files
    )
    assert reading.stdout.split() == ["inside"]
    endless = judge0.run(client=client, source_code="while 1: pass", language=judge0.PYTHON, cpu_time_limit=0.3)
    assert endless.status == judge0.Status.TIME_LIMIT_EXCEEDED


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("service", "printed"),
    [("Judge0", "ACCEPTED\nWRONG_ANSWER\n"), ("Piston", "42 0\n"), ("SandboxFusion", "Success 42\n")],
)
def test_the_client_of_the_page_on_moving_works_after_its_change(
    address: str, service: str, printed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (ROOT / "docs" / "migrate.md").read_text("utf-8")
    (diff,) = re.findall(rf"^## {service}\n\n```diff\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    after = [line[1:] for line in diff.splitlines() if not line.startswith("-")]
    assert len(after) == len(diff.splitlines()) - 1
    exec("\n".join(after).replace("http://judge:8080", address), {"__name__": "__main__"})
    assert capsys.readouterr().out == printed
