import asyncio
import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alpha_codium.config.sections import ConfigSection, Settings
from alpha_codium.errors import UserError
from alpha_codium.gen.loop import SampleJob, finished_samples, generate, solutions_rows
from alpha_codium.gen.summary import counts_of
from alpha_codium.llm.errors import AuthenticationFailed, ContentFiltered, ProviderUnavailable
from alpha_codium.runs import RunFolder
from alpha_codium.runs.events import transcript_name
from alpha_codium.solution import Candidate, ErrorKind, SampleError
from tests.gen.asking import FakeModel, echo_problem, solver_of
from tests.gen.running import ECHO

PROBLEMS = [echo_problem("a"), echo_problem("b"), echo_problem("c")]
JOB = SampleJob(PROBLEMS, samples=2, concurrency=2)


class Killed(KeyboardInterrupt):
    """Ends a run at once, as a kill does: nothing may catch it."""


def new_run(root: Path) -> RunFolder:
    return RunFolder.create(root, "r", {})


def run(folder: RunFolder, model: FakeModel, job: SampleJob = JOB) -> list[Candidate]:
    with folder:
        return asyncio.run(generate(job, solver_of(model), folder))


def final_lines(folder: RunFolder) -> list[tuple[str, int]]:
    entries = [Candidate.from_json(entry) for entry in folder.journal.entries()]
    return [(c.task_name, c.sample_index) for c in entries if c.is_final]


def test_every_sample_of_every_problem_is_generated_in_order(tmp_path):
    candidates = run(new_run(tmp_path), FakeModel())
    assert [(c.task_name, c.sample_index) for c in candidates] == [(n, s) for n in "abc" for s in (0, 1)]
    assert {c.program for c in candidates} == {"print(input())\n"}
    assert all(c.solved_public and c.llm_calls == 1 and c.cost == 0.25 for c in candidates)


FAULTS = {
    "answered": lambda: ECHO,
    "no code": lambda: "I can't.",
    "refused": lambda: ContentFiltered("no"),
    "provider": lambda: ProviderUnavailable("down"),
    "internal": lambda: RuntimeError("a bug"),
    "killed": Killed,
}


@pytest.mark.thorough
@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.sampled_from(sorted(FAULTS)), min_size=1, max_size=12), max_size=5))
def test_the_samples_end_the_same_whatever_interrupted_earlier_runs(runs):
    with TemporaryDirectory() as root:
        folder = new_run(Path(root))
        for events in runs:
            model = FakeModel(lambda number, events=events: FAULTS[events[(number - 1) % len(events)]]())
            finished = finished_samples(folder.journal)
            try:
                candidates = run(folder, model)
            except Killed:
                pass
            else:
                assert len(candidates) == 6
            now = finished_samples(folder.journal)
            assert {key: now[key] for key in finished} == finished, "a final sample changed"
        candidates = run(folder, FakeModel())
        assert [(c.task_name, c.sample_index) for c in candidates] == [(n, s) for n in "abc" for s in (0, 1)]
        assert all(c.is_final for c in candidates)
        assert len(final_lines(folder)) == len(set(final_lines(folder))) == 6, "a sample was counted twice"
        for candidate in candidates:
            assert candidate.error is None or candidate.error.kind is ErrorKind.MODEL


@pytest.mark.thorough
@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from("ab"), st.integers(0, 1), st.sampled_from(["", "provider: x", "internal: x"])),
        max_size=12,
    ),
    st.integers(0, 12),
)
def test_the_last_line_of_a_sample_counts_and_only_final_ones_are_finished(events, cut):
    with TemporaryDirectory() as root:
        folder = new_run(Path(root))
        lines = [Candidate(n, i, f"program {at}", "m", "f", error=SampleError.parse(e))
                 for at, (n, i, e) in enumerate(events)]  # fmt: skip
        with folder.journal as journal:
            for line in lines:
                journal.append(line.to_json())
        content = folder.journal.path.read_bytes()
        folder.journal.path.write_bytes(content[: max(0, len(content) - cut)])
        whole = lines if not cut else lines[:-1]
        expected = {(c.task_name, c.sample_index): c for c in whole}
        assert finished_samples(folder.journal, final_only=False) == expected
        assert finished_samples(folder.journal) == {k: c for k, c in expected.items() if c.error is None}


def test_a_finished_run_asks_nothing_more(tmp_path):
    folder = new_run(tmp_path)
    first = run(folder, FakeModel())
    model = FakeModel()
    assert run(folder, model) == first
    assert model.requests == []


def test_a_sample_cut_off_between_calls_keeps_the_answers_it_had(tmp_path):
    folder, job = new_run(tmp_path), SampleJob(PROBLEMS[:1], samples=1)
    unreadable = FakeModel(lambda number: "no program yet" if number == 1 else Killed())
    with pytest.raises(Killed):
        run(folder, unreadable, job)
    model = FakeModel()
    (candidate,) = run(folder, model, job)
    assert len(model.requests) == 1
    assert len(model.requests[0].messages) > len(unreadable.requests[0].messages), "the second call is the one asked"
    assert candidate.llm_calls == 2
    assert candidate.prompt_tokens == 20
    assert candidate.cost == 0.5


def test_a_fault_of_the_provider_is_tried_again_and_one_of_the_model_is_not(tmp_path):
    folder, job = new_run(tmp_path), SampleJob(PROBLEMS[:2], samples=1, concurrency=1)
    first = run(
        folder, FakeModel(lambda number: ProviderUnavailable("down") if number == 1 else ContentFiltered("no")), job
    )
    assert [str(c.error) for c in first] == ["provider: down", "model: code_contests_prompts_baseline: no"]
    model = FakeModel()
    second = run(folder, model, job)
    assert len(model.requests) == 1
    assert second[0].program == "print(input())\n"
    assert second[1] == first[1]


def test_a_bug_in_one_sample_ends_none_of_the_others(tmp_path):
    candidates = run(new_run(tmp_path), FakeModel(lambda number: RuntimeError("a\nbug") if number == 1 else ECHO))
    assert [str(c.error) for c in candidates if c.error] == ["internal: a bug"]
    assert len(candidates) == 6


def test_a_user_error_ends_the_run_and_keeps_finished_samples(tmp_path):
    folder, job = new_run(tmp_path), SampleJob(PROBLEMS, samples=2, concurrency=1)
    with pytest.raises(UserError, match="wrong key"):
        run(folder, FakeModel(lambda number: AuthenticationFailed("wrong key") if number == 3 else ECHO), job)
    assert len(final_lines(folder)) == 2
    model = FakeModel()
    assert len(run(folder, model, job)) == 6
    assert len(model.requests) == 4


def test_concurrency_limits_the_samples_in_flight_and_a_slow_one_delays_no_other(tmp_path):
    class Gated(FakeModel):
        """Holds back the first sample until every other one has been answered."""

        in_flight = most = 0

        async def ask(self, request):
            self.in_flight += 1
            self.most = max(self.most, self.in_flight)
            first = not self.requests
            answer = await super().ask(request)
            while first and len(self.requests) < 6:
                await asyncio.sleep(0)
            self.in_flight -= 1
            return answer

    model = Gated()
    assert len(run(new_run(tmp_path), model)) == 6
    assert model.most == JOB.concurrency


def test_each_sample_leaves_a_transcript_of_its_own(tmp_path):
    folder = new_run(tmp_path)
    run(folder, FakeModel())
    transcript = json.loads((folder.path / transcript_name("b", 1)).read_text())
    assert transcript["candidate"]["task_name"] == "b"
    assert transcript["candidate"]["sample_index"] == 1
    assert transcript["events"][0]["text"] == ECHO
    assert len(list(folder.path.glob("transcripts/*/*.json"))) == 6


def test_the_rows_hold_every_problem_and_lists_of_one_length(tmp_path):
    candidates = run(new_run(tmp_path), FakeModel(lambda number: "no code" if number % 2 else ECHO))
    rows = solutions_rows(candidates, [p.name for p in (*PROBLEMS, echo_problem("without"))])
    assert [row["task_name"] for row in rows] == ["a", "b", "c", "without"]
    assert rows[-1]["solution_candidates"] == []
    for row in rows:
        lengths = {len(values) for name, values in row.items() if name != "task_name"}
        assert len(lengths) == 1


def test_problems_of_one_name_are_refused_before_a_call_is_made(tmp_path):
    model = FakeModel()
    with pytest.raises(UserError, match="'a' is in the dataset twice"):
        run(new_run(tmp_path), model, SampleJob([*PROBLEMS, echo_problem("a")], samples=1))
    assert model.requests == []


def test_samples_of_a_seeded_run_have_seeds_of_their_own(tmp_path):
    folder, model = new_run(tmp_path), FakeModel()
    solver = solver_of(model, settings=Settings(config=ConfigSection(seed=10)))
    with folder:
        asyncio.run(generate(SampleJob(PROBLEMS[:1], samples=3), solver, folder))
    assert sorted(request.seed or 0 for request in model.requests) == [10, 11, 12]


def test_a_problem_whose_samples_have_no_program_counts_among_those_with_public_tests(tmp_path):
    candidates = run(new_run(tmp_path), FakeModel(lambda _: "I can't."))
    assert {(c.program, c.public_tests_passed, c.public_tests_total) for c in candidates} == {("", 0, 1)}
    counts = counts_of(candidates)
    assert (counts["solved_public"], counts["tested_public"]) == (0, len(PROBLEMS))
