"""Programs, jobs and reports go to JSON and back."""

import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alpha_codium.limits import Limits
from alpha_codium.program import Dialogue, Job, PairJob, Program, Side
from alpha_codium.values import JsonValue
from alpha_codium.verdict import Execution, PairReport, Report, Status

TEXTS = st.text(st.characters(codec=None))  # lone surrogates, too: models write them
COUNTS = st.integers(1, 1 << 40)
SECONDS = st.floats(1e-3, 1e6)
LIMITS = st.builds(Limits, SECONDS, SECONDS, COUNTS, COUNTS, COUNTS, COUNTS, COUNTS)
NAMES = st.text(st.characters(codec=None, exclude_characters="/\0"), min_size=1).filter(lambda n: n not in (".", ".."))
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)
PROGRAMS = st.builds(
    lambda language, others, main, source: Program(language, {**others, main: source}, main),
    TEXTS, st.dictionaries(PATHS, TEXTS), PATHS, TEXTS,
)  # fmt: skip
JOBS = st.builds(Job, PROGRAMS, st.lists(TEXTS), LIMITS, TEXTS, st.booleans())
SIDES = st.builds(Side, PROGRAMS, TEXTS, TEXTS, st.none() | LIMITS)
DIALOGUES = st.builds(Dialogue, st.lists(st.integers(0, 255)).map(tuple), SECONDS)
PAIRS = st.builds(PairJob, SIDES, SIDES, LIMITS, st.none() | DIALOGUES)
EXECUTIONS = st.builds(
    Execution, st.sampled_from(Status), TEXTS, TEXTS, st.none() | st.integers(), st.none() | st.integers(),
    SECONDS, SECONDS, COUNTS,
)  # fmt: skip
REPORTS = st.builds(Report, EXECUTIONS, st.lists(EXECUTIONS).map(tuple))
PAIR_REPORTS = st.builds(PairReport, REPORTS, REPORTS, st.sampled_from(["", "left", "right"]))


@pytest.mark.thorough
@given(st.one_of(LIMITS, PROGRAMS, JOBS, SIDES, PAIRS, EXECUTIONS, REPORTS, PAIR_REPORTS))
def test_a_value_crosses_as_json_without_loss(value: JsonValue) -> None:
    crossed = type(value).from_json(json.loads(json.dumps(value.to_json())))
    assert crossed == value
    assert json.dumps(crossed.to_json()) == json.dumps(value.to_json())


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (Job, {"program": 3}),
        (Job, {"inputs": []}),
        (Job, {"program": {"language": "python3", "files": {}, "main": "program.py"}}),
        (Job, {"program": Program.from_source("python3", "").to_json(), "inputs": "text"}),
        (Job, {"program": Program.from_source("python3", "").to_json(), "input": ["1"]}),
        *(
            (Program, {"language": "python3", "files": {path: ""}, "main": path})
            for path in ("/a", "../a", "a/../b", "")
        ),
        (Limits, {"cpu_seconds": 0.0, "wall_seconds": 1.0, "processes": -1}),
        (Dialogue, {"accepting": [0], "idle_seconds": 0}),
        (Execution, {"status": "fine"}),
        (Report, {"compilation": {"status": "finished"}, "executions": [{"stdout": "no status"}]}),
    ],
)
def test_anything_else_is_refused(kind: type[JsonValue], values: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"not a|has no file|above 0|is not a valid|must be relative"):
        kind.from_json(values)


def test_the_digest_of_a_program_depends_on_all_of_it() -> None:
    programs = [
        Program.from_source("python3", "1"),
        Program.from_source("python3", "2"),
        Program.from_source("python2", "1"),
        Program("python3", {"program.py": "1", "other.py": ""}, "program.py"),
        Program("python3", {"program.py": "1", "other.py": ""}, "other.py"),
    ]
    assert len({program.digest for program in programs}) == len(programs)


def test_journals_know_a_python_program_by_its_text_alone_and_others_by_their_language_too() -> None:
    text = "print(1)"
    assert Program.from_source("python3", text).digest == hashlib.sha256(text.encode()).hexdigest()
    assert len({Program.from_source(language, text).digest for language in ("python3", "python2", "cpp")}) == 3
    assert Program.from_source("python3", text) in {Program.from_source("python3", text)}
