"""The HTTP API below /v1 may grow, but no client of docs/openapi.json may break."""

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from docs.make_openapi import FILE, breaking, description

Spec = dict[str, Any]


@pytest.fixture(scope="module")
def frozen() -> Spec:
    return json.loads(FILE.read_text("utf-8"))


@pytest.fixture(scope="module")
def now() -> Spec:
    return description()


def fields(spec: Spec) -> set[tuple[str, str]]:
    """The addresses, and the fields of each schema."""
    schemas = spec["components"]["schemas"].items()
    return {(name, field) for name, each in schemas for field in each.get("properties", {})} | {
        (path, method) for path, each in spec["paths"].items() for method in each
    }


def test_no_client_of_the_frozen_api_breaks(frozen: Spec, now: Spec) -> None:
    assert breaking(frozen, now) == []


def test_the_file_has_every_field_that_there_is(frozen: Spec, now: Spec) -> None:
    assert fields(now) - fields(frozen) == set(), "run `make docs`"


def of(spec: Spec, schema: str) -> Spec:
    return spec["components"]["schemas"][schema]


def set_type(spec: Spec) -> None:
    of(spec, "JudgeAnswer")["properties"]["tests_passed"]["type"] = "string"


def lower_limit(spec: Spec) -> None:
    of(spec, "JudgeRequest")["properties"]["time_limit_seconds"]["maximum"] = 60.0


def lose_value(spec: Spec) -> None:
    of(spec, "ProblemRequest")["properties"]["kind"]["enum"].remove("call")


def be_nullable(spec: Spec) -> None:
    of(spec, "JudgeAnswer")["properties"]["verdict"] = {"anyOf": [{"type": "string"}, {"type": "null"}]}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda spec: of(spec, "JudgeAnswer")["properties"].pop("message"), "message is gone"),
        (lambda spec: of(spec, "TestAnswer")["properties"].pop("stdout"), "an item: stdout is gone"),
        (lambda spec: of(spec, "JudgeRequest")["properties"].pop("wall_limit_seconds"), "wall_limit_seconds is gone"),
        (lambda spec: of(spec, "JudgeRequest")["required"].append("language"), "language is required"),
        (lambda spec: of(spec, "Test")["required"].append("output"), "output is required"),
        (lambda spec: of(spec, "JudgeAnswer")["required"].remove("verdict"), "verdict may be missing"),
        (lambda spec: of(spec, "Report")["properties"].pop("executions"), "Report: executions is gone"),
        (lambda spec: spec["paths"].pop("/v1/judge"), "POST /v1/judge: it is gone"),
        (set_type, "integer became string"),
        (lambda spec: of(spec, "JudgeAnswer")["properties"]["verdict"].pop("type"), "string became anything"),
        (be_nullable, "string became null or string"),
        (lower_limit, "time_limit_seconds: maximum is 60.0"),
        (lose_value, "call is no longer a value"),
    ],
)
def test_a_breaking_change_is_found(frozen: Spec, change: Callable[[Spec], object], said: str) -> None:
    changed = copy.deepcopy(frozen)
    change(changed)
    assert any(each.endswith(said) for each in breaking(frozen, changed)), breaking(frozen, changed)


def grow(spec: Spec) -> None:
    of(spec, "JudgeRequest")["properties"] |= {"hint": {"type": "string"}}
    of(spec, "JudgeAnswer")["properties"] |= {"score": {"type": "number"}}
    of(spec, "JudgeAnswer")["required"].append("score")
    of(spec, "JudgeRequest")["properties"]["time_limit_seconds"]["maximum"] = 6000.0
    del of(spec, "JudgeRequest")["properties"]["program"]["type"]
    spec["paths"]["/v1/new"] = {"get": {"responses": {"200": {}}}}


def test_optional_fields_addresses_and_wider_limits_break_nothing(frozen: Spec) -> None:
    changed = copy.deepcopy(frozen)
    grow(changed)
    assert breaking(frozen, changed) == []
