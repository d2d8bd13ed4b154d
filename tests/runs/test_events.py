"""Events go to a transcript and back, and files of other versions are refused."""

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alpha_codium.errors import UserError
from alpha_codium.runs.events import (
    EVENTS,
    FORMAT,
    LONGEST_TEXT,
    Event,
    Excerpt,
    FailedCall,
    ModelAnswer,
    ModelRefusal,
    ProgramTested,
    ProgramTraced,
    StageEnd,
    StepResult,
    StepSkipped,
    TestOutcome,
    Transcript,
    UnreadableAnswer,
    event_from_json,
    event_to_json,
    kept_text,
    transcript_name,
)
from alpha_codium.solution import BudgetEnd, BudgetLimit, BudgetOwner, Candidate, ErrorKind, SampleError
from alpha_codium.verdict import Verdict

TEXT = st.text(st.characters(), max_size=20)
KEPT = TEXT | st.builds(lambda text: kept_text((text or "x") * LONGEST_TEXT + "#"), TEXT)
NUMBER = st.floats(allow_nan=False, allow_infinity=False)
COUNT = st.integers(0, 10**9)
VERDICT = st.sampled_from(Verdict)
JSON = st.recursive(st.none() | st.booleans() | COUNT | TEXT, lambda each: st.lists(each) | st.dictionaries(TEXT, each))
MESSAGES = st.lists(st.fixed_dictionaries({"role": TEXT, "content": TEXT}), max_size=3).map(tuple)
TESTS = st.lists(st.builds(TestOutcome, VERDICT, TEXT, TEXT, NUMBER), max_size=3).map(tuple)
ENDS = st.builds(
    BudgetEnd, st.sampled_from(BudgetOwner), st.sampled_from(BudgetLimit), COUNT | NUMBER.map(abs), st.booleans()
)
EVENT = {
    ModelAnswer: st.builds(
        ModelAnswer, TEXT, MESSAGES, KEPT, KEPT, TEXT, COUNT, COUNT, NUMBER, TEXT, st.none() | NUMBER
    ),
    ModelRefusal: st.builds(ModelRefusal, TEXT, TEXT),
    UnreadableAnswer: st.builds(UnreadableAnswer, TEXT, TEXT),
    FailedCall: st.builds(FailedCall, TEXT, TEXT, TEXT),
    ProgramTested: st.builds(ProgramTested, KEPT, VERDICT, TESTS),
    ProgramTraced: st.builds(ProgramTraced, KEPT),
    StepResult: st.builds(StepResult, TEXT, st.dictionaries(TEXT, JSON, max_size=3)),
    StepSkipped: st.builds(StepSkipped, TEXT, TEXT),
    StageEnd: st.builds(StageEnd, TEXT, KEPT),
    BudgetEnd: ENDS,
}
ERRORS = st.builds(SampleError, st.sampled_from(ErrorKind), TEXT, st.none() | ENDS)
CANDIDATES = st.builds(
    Candidate, TEXT, COUNT, TEXT, TEXT, TEXT, cost=st.none() | NUMBER, llm_calls=COUNT, error=st.none() | ERRORS
)


def test_every_kind_of_event_is_tried_here() -> None:
    assert set(EVENTS.values()) == set(EVENT)


@given(st.one_of(*EVENT.values()))
def test_an_event_survives_json(event: Event) -> None:
    assert event_from_json(json.loads(json.dumps(event_to_json(event)))) == event


@given(CANDIDATES)
def test_a_candidate_survives_json(candidate: Candidate) -> None:
    assert Candidate.from_json(json.loads(json.dumps(candidate.to_json()))) == candidate


@given(st.text())
def test_the_text_of_an_error_in_the_dataset_is_parsed(message: str) -> None:
    for kind in ErrorKind:
        assert SampleError.parse(str(SampleError(kind, message))) == SampleError(kind, message)


@given(ENDS)
def test_a_budget_says_its_owner_limit_and_unit(end: BudgetEnd) -> None:
    for text in (str(end), end.budget):
        assert text.startswith(f"the {end.owner}")
        assert text.endswith(f"{end.unit}")
    amount = float(end.budget.split()[-2])
    assert math.isclose(amount, end.amount, rel_tol=1e-5)


@settings(deadline=None)  # the texts are long, and the machine may be busy
@given(st.text(max_size=20), st.sampled_from([1, LONGEST_TEXT]), st.text(max_size=20))
def test_an_excerpt_distinguishes_texts_with_the_same_beginning_and_length(text: str, times: int, end: str) -> None:
    whole = (text or "x") * times + end
    kept = kept_text(whole)
    if len(whole) <= LONGEST_TEXT:
        assert kept == whole
        return
    assert isinstance(kept, Excerpt)
    assert (kept.text, kept.length) == (whole[:LONGEST_TEXT], len(whole))
    assert kept.is_of(whole)
    assert not kept.is_of(whole[:-1] + chr(ord(whole[-1]) ^ 1))


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"kind": "unheard_of"},
        {"kind": ["stage_end"]},
        {"kind": "stage_end", "stage": "x"},
        {"kind": "stage_end", "stage": "x", "program": "", "more": 1},
        {"kind": "stage_end", "stage": "x", "program": 3},
        {"kind": "budget_end", "owner": "nobody", "limit": "calls", "amount": 3},
        {"kind": "execution", "program": "", "verdict": "accepted", "tests": [1]},
    ],
)
def test_an_invalid_event_is_refused(values: dict) -> None:
    with pytest.raises(ValueError):
        event_from_json(values)


CANDIDATE = Candidate("p", 0, "", "m", "f", error=SampleError(ErrorKind.MODEL, "no code"))


def test_a_transcript_is_read_back_from_its_file(tmp_path: Path) -> None:
    transcript = Transcript(CANDIDATE, (StageEnd("write", "print(1)"), StepSkipped("fix", "no answer")))
    path = tmp_path / "0.json"
    path.write_text(json.dumps(transcript.to_json()))
    assert Transcript.read(path) == transcript
    assert transcript != replace(transcript, events=())


@pytest.mark.parametrize("version", [None, 1, FORMAT + 1])
def test_a_transcript_of_another_version_is_refused_in_one_line(tmp_path: Path, version: int | None) -> None:
    values = Transcript(CANDIDATE).to_json() | ({"format": version} if version else {})
    if version is None:
        del values["format"]
    path = tmp_path / "0.json"
    path.write_text(json.dumps(values))
    with pytest.raises(UserError, match=rf"format {version or 1}; this version reads format {FORMAT}\)"):
        Transcript.read(path)


@given(st.text(), st.text())
def test_different_problems_have_different_and_harmless_file_names(one, other):
    assert (transcript_name(one, 0) == transcript_name(other, 0)) == (one == other)
    transcripts, name, sample = transcript_name(one, 0).split("/")
    assert (transcripts, sample) == ("transcripts", "0.json")
    assert len(name) < 80
    assert not name.startswith(".")
