"""The API of NeMo Gym's resources server `code_gen`: `/verify` judges the program in an answer of a model.

1. The program is the last fenced block. Without one, and for an answer whose final text has tags of thinking, the
   reward is 0. Otherwise it is 1 if all tests are passed.
2. `result` has True for each test that was passed, up to the first that wasn't: -2 for a wrong answer, -3 after a limit
   of time, -4 for other failures. `metadata` tells about that test.
3. Where the server couldn't run a test, the answer is marked as NeMo Gym marks failures of judges: such a row counts in
   no metric, and is tried again.
"""

import sys
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Request
from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from alpha_codium.data.benchmarks.livecodebench import SETUP
from alpha_codium.errors import SandboxError
from alpha_codium.serve.answers import AsciiResponse
from alpha_codium.serve.dialects.asking import Server
from alpha_codium.serve.hiding import without_paths
from alpha_codium.serve.requests import MOST_TESTS, JudgeAnswer, JudgeRequest
from alpha_codium.values import parse_json

SECONDS = 10.0
THINKING = ("<think>", "</think>")
FENCE = "```"
SHOWN_CHARACTERS = 300
WRONG, SLOW, FAILED = -2, -3, -4
CODES = {"wrong_answer": WRONG, "time_limit_exceeded": SLOW}
NAMES = {WRONG: "Wrong Answer", SLOW: "Time Limit Exceeded", FAILED: "Runtime Error"}
# Numbers that a function returns may differ by this.
CLOSE = {"abs": 1e-8, "rel": 1e-5}


class UnitTests(BaseModel):
    """Inputs and outputs, as in LiveCodeBench; with `fn_name`, an input has one argument on each line, in JSON."""

    inputs: Annotated[list[str], Field(min_length=1, max_length=MOST_TESTS)]
    outputs: list[str]
    fn_name: str | None = None


class Part(BaseModel):
    """A part of a message, or of a summary of thinking."""

    type: str = ""
    text: str | None = None


class OutputItem(BaseModel):
    """An item of a response: a message, thinking, or a call."""

    type: str = ""
    content: list[Part] | None = None
    summary: list[Part] | None = None


OutputItems = TypeAdapter(list[OutputItem])


class VerifyRequest(BaseModel):
    """A prompt, the response of a model to it, and the tests of its task."""

    responses_create_params: dict[str, Any]
    response: dict[str, Any]
    verifier_metadata: dict[str, Any] | None = None


class AggregateRequest(BaseModel):
    """The answers of an evaluation."""

    verify_responses: list[dict[str, Any]]


class VerifyAnswer(VerifyRequest):
    """The request, and what its program is worth."""

    reward: float = 0
    extracted_model_output: str | None = None
    extracted_model_code: str | None = None
    result: list[int | bool] | None = None
    metadata: dict[str, Any] | None = None
    unit_tests_time_taken: float | None = None
    reasoning_format_violation_rate: float = 0
    difficulty: Any = None


def router(server: Server) -> APIRouter:
    """Return the addresses of the dialect."""
    routes = APIRouter(tags=["NeMo Gym"])

    @routes.post("/seed_session")
    async def seed_session() -> dict[str, Any]:
        """Begin an episode, of which nothing is kept."""
        return {}

    @routes.get("/reverify_mode")
    async def reverify_mode() -> str:
        """Whether an answer may be judged again: it depends on the request alone."""
        return "stateless"

    @routes.post("/aggregate_metrics")
    async def aggregate_metrics(item: AggregateRequest) -> dict[str, Any]:
        """Return the mean of the rewards."""
        given = (each.get("reward") for each in item.verify_responses)
        rewards = [value for value in given if isinstance(value, int | float) and abs(value) < sys.float_info.max]
        metrics = {"mean/reward": sum(rewards) / len(rewards)} if rewards else {}
        return {"group_level_metrics": [], "agent_metrics": metrics, "key_metrics": metrics}

    @routes.post("/verify", response_model=VerifyAnswer)
    async def verify(request: Request, item: VerifyRequest) -> AsciiResponse:
        """Judge the program in an answer."""
        text = text_of(item.response)
        code = extracted(text)
        metadata = item.verifier_metadata or {}
        answer = VerifyAnswer(**item.model_dump(), difficulty=metadata.get("difficulty"))
        if not text.strip():
            return AsciiResponse(answer)
        answer.extracted_model_output, answer.extracted_model_code = text, code or None
        if not code:
            return AsciiResponse(answer)
        tests = tests_of(metadata.get("unit_tests"))
        try:
            judged = await server.judge(request, asked(code, tests))
        except SandboxError as error:
            return unjudged(item, without_paths(error))
        if not judged.judged:
            return unjudged(item, judged.message)
        violation = violates_format(item.response, text)
        answer.reward = float(judged.accepted and not violation)
        answer.reasoning_format_violation_rate = float(violation)
        answer.result, answer.metadata = outcome(judged, tests)
        answer.unit_tests_time_taken = sum(test.wall_seconds for test in judged.tests)
        return AsciiResponse(answer)

    return routes


def text_of(response: dict[str, Any]) -> str:
    """Return the final text of a response of OpenAI's Responses API; raises HTTPException 422 if it is malformed."""
    items = items_of(response, "message")
    return "".join(part.text or "" for item in items for part in item.content or () if part.type == "output_text")


def items_of(response: dict[str, Any], kind: str) -> list[OutputItem]:
    """Return the items of a response of one kind; raises HTTPException 422."""
    try:
        items = OutputItems.validate_python(response.get("output"))
    except ValidationError as error:
        raise HTTPException(422, f"response.output: {error.errors()[0]['msg']}") from error
    return [item for item in items if item.type == kind]


def violates_format(response: dict[str, Any], text: str) -> bool:
    """Whether the final text has tags of thinking, or the thinking has several."""
    summaries = (part.text or "" for item in items_of(response, "reasoning") for part in item.summary or ())
    thinking = "".join(summaries)
    return any(tag in text or thinking.count(tag) > 1 for tag in THINKING)


def extracted(text: str) -> str:
    """Return the lines between the last two that have a fence, empty if there are none."""
    lines = text.split("\n")
    fences = [number for number, line in enumerate(lines) if FENCE in line]
    return "\n".join(lines[fences[-2] + 1 : fences[-1]]) if len(fences) > 1 else ""


def tests_of(given: object) -> UnitTests:
    """Return the tests of a task; raises HTTPException 422 if they are malformed, or there are none."""
    try:
        tests = UnitTests.model_validate(given)
    except ValidationError as error:
        where = ".".join(map(str, error.errors()[0]["loc"]))
        raise HTTPException(422, f"verifier_metadata.unit_tests {where}: {error.errors()[0]['msg']}") from error
    if len(tests.inputs) != len(tests.outputs):
        raise HTTPException(422, "verifier_metadata.unit_tests: there must be as many outputs as inputs")
    return tests


def asked(code: str, tests: UnitTests) -> JudgeRequest:
    """Return the request to judge a program; raises HTTPException 422 if arguments or results aren't JSON."""
    inputs, how = tests.inputs, {"kind": "stdin", "checker": {"name": "float"}}
    if tests.fn_name:
        inputs = [f"[{','.join(text.split(chr(10)))}]" for text in inputs]
        how = {"kind": "call", "entry_point": tests.fn_name, "checker": {"name": "call_result", "arguments": CLOSE}}
        for text in (*inputs, *tests.outputs):
            if not is_json(text):
                raise HTTPException(422, f"verifier_metadata.unit_tests: not JSON: {text[:SHOWN_CHARACTERS]}")
    return JudgeRequest.model_validate(
        {
            **how,
            "program": code,
            "tests": [{"input": text, "output": right} for text, right in zip(inputs, tests.outputs, strict=True)],
            "setup_code": SETUP,
            "time_limit_seconds": SECONDS,
            "wall_limit_seconds": SECONDS,
            "stop_on_first_failure": True,
            "shown_characters": SHOWN_CHARACTERS,
        }
    )


def is_json(text: str) -> bool:
    """Whether a text is JSON."""
    try:
        parse_json(text)
    except (ValueError, RecursionError):
        return False
    return True


def outcome(judged: JudgeAnswer, tests: UnitTests) -> tuple[list[int | bool], dict[str, Any]]:
    """Return `result` and `metadata` for a program."""
    if judged.failed is None:
        return [True] * judged.tests_total, {"execution time": sum(test.wall_seconds for test in judged.tests)}
    if judged.verdict == "compilation_error":
        return [FAILED], {"error_code": FAILED, "error_message": f"Error during testing: {judged.message}"}
    code = CODES.get(judged.verdict, FAILED)
    last = judged.tests[-1]
    metadata = {
        "error_code": code,
        "error_message": NAMES[code],
        "inputs": tests.inputs[judged.failed][:SHOWN_CHARACTERS],
        "expected": tests.outputs[judged.failed][:SHOWN_CHARACTERS],
        **({"output": last.stdout} if code == WRONG else {"error": judged.verdict, "traceback": last.stderr}),
    }
    return [*[True] * judged.tests_passed, code], metadata


def unjudged(item: VerifyRequest, reason: str) -> AsciiResponse:
    """Return the answer for a program about which nothing is known."""
    marks = {"_ng_failure_class": "judge_failed", "_ng_failure_judge_error": reason}
    return AsciiResponse({**item.model_dump(), "reward": 0.0, **marks})
