"""The native API as its OpenAPI description has it, tried with requests that schemathesis makes from it."""

from collections.abc import Iterator

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.serve.serving import started

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
ADDRESSES = {
    "GET /healthz",
    "GET /metrics",
    "GET /readyz",
    "GET /v1/info",
    "GET /v1/problems/{problem}",
    "POST /v1/execute",
    "POST /v1/execute_pair",
    "POST /v1/judge",
    "POST /v1/judge/batch",
    "POST /v1/problems",
    "POST /v1/rewards",
}


@pytest.fixture(scope="module")
def operations() -> Iterator[dict[str, schemathesis.schemas.APIOperation]]:
    with started("--dialects", "") as (address, _):
        description = schemathesis.openapi.from_url(f"{address}/openapi.json")
        found = [each.ok() for each in description.get_all_operations()]
        yield {each.label: each for each in found}


def test_all_addresses_are_described(operations):
    assert operations.keys() == ADDRESSES


@pytest.mark.thorough
@pytest.mark.timeout(600)
@pytest.mark.parametrize("address", sorted(ADDRESSES))
def test_answers_are_as_they_are_described(operations, address):
    @settings(max_examples=100, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
    @given(case=operations[address].as_strategy())
    def ask(case: schemathesis.Case) -> None:
        case.call_and_validate(checks=CHECKS, timeout=60)

    ask()
