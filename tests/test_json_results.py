"""docs/json-schema.json is what the types say, has every command, and refuses JSON that isn't as it says."""

import json
from collections.abc import Callable
from typing import Any

import click
import pytest
from jsonschema import Draft202012Validator, ValidationError

from alpha_codium.cli.main import cli
from alpha_codium.eval.results import CandidateResult, ProblemResult
from alpha_codium.eval.scoring import score
from alpha_codium.verdict import Verdict
from docs.make_commands import commands
from docs.make_schemas import FILE, RESULTS, Schemas, entries, schemas
from tests.json_results import check_json

# They have the option, as all commands, but no result.
WITHOUT_RESULT = {"mcp", "repo serve", "runs rm", "sandbox serve", "serve"}


def test_the_published_schemas_are_those_of_the_types() -> None:
    assert json.loads(FILE.read_text("utf-8")) == json.loads(json.dumps(schemas())), "run `make docs`"
    Draft202012Validator.check_schema(schemas())


def test_every_command_that_writes_json_has_a_schema() -> None:
    with_json = {
        " ".join(path[1:])
        for path, command in commands(cli, ("gencode",))
        if any(isinstance(each, click.Option) and each.name == "json_path" for each in command.params)
    }
    assert with_json - WITHOUT_RESULT == RESULTS.keys()


def result() -> dict[str, Any]:
    """The JSON of a score."""
    return score([ProblemResult("a", (CandidateResult(0, "generated", Verdict.ACCEPTED, 1, 1),))], [1]).to_json()


def check(found: dict[str, Any]) -> None:
    """Check JSON as that of `gencode eval score`."""
    check_json(["eval", "score", "FILE", "--json", "-"], json.dumps(found))


CHANGES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "a field is missing": lambda found: found.pop("verdicts"),
    "a field was renamed": lambda found: found.update(passes=found.pop("pass_at_k")),
    "a field is new": lambda found: found.update(more=1),
    "a field of a program is missing": lambda found: found["problems"][0]["candidates"][0].pop("group"),
    "a value has another type": lambda found: found.update(n_problems="1"),
    "a verdict is unknown": lambda found: found["problems"][0]["candidates"][0].update(verdict="passed"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_json_that_isnt_as_the_schema_says_is_refused(change: Callable[[dict[str, Any]], Any]) -> None:
    found = result()
    check(found)
    change(found)
    with pytest.raises(ValidationError):
        check(found)


def test_a_type_whose_json_is_unknown_is_an_error() -> None:
    with pytest.raises(TypeError, match="complex"):
        Schemas().of(list[complex])


def test_the_entries_of_a_class_are_those_that_it_writes() -> None:
    found = result()
    assert found.keys() <= entries(RESULTS["eval score"]).keys()
