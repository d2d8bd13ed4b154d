"""The native API as its OpenAPI description has it, tried with requests that schemathesis makes from it."""

from collections.abc import Iterator

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.serve.serving import started

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]


@pytest.fixture(scope="module")
def description() -> Iterator[schemathesis.BaseSchema]:
    with started("--dialects", "") as (address, _):
        yield schemathesis.openapi.from_url(f"{address}/openapi.json")


described = schemathesis.pytest.from_fixture("description")


@pytest.mark.thorough
@pytest.mark.timeout(900)
@described.parametrize()
@settings(max_examples=50, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
def test_answers_are_as_they_are_described(case):
    case.call_and_validate(checks=CHECKS, timeout=60)
