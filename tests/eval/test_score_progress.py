"""The scores that are shown while programs are judged."""

from hypothesis import given
from hypothesis import strategies as st

from alpha_codium.eval.results import CandidateResult
from alpha_codium.eval.score_progress import ScoreProgress
from alpha_codium.statistics import mean_pass_at_k
from alpha_codium.verdict import Judgement, Verdict


def test_the_score_so_far_is_a_mean_over_problems_without_programs_of_known_verdict() -> None:
    progress = ScoreProgress()
    assert progress.status() == "0 of 0 samples accepted"
    for name, verdict, group in [
        ("a", Verdict.ACCEPTED, "generated"),
        ("a", Verdict.WRONG_ANSWER, "generated"),
        ("b", Verdict.ACCEPTED, "generated"),
        ("b", Verdict.WRONG_ANSWER, "known_correct"),
    ]:
        progress.add(CandidateResult.of(0, group, Judgement(verdict)), name)
    assert progress.status() == "2 of 3 samples accepted, so far pass@1 0.750, 1 known solution to check the judge"


def test_right_and_wrong_human_solutions_together_have_no_score() -> None:
    progress = ScoreProgress()
    for group in ("correct", "incorrect"):
        progress.add(CandidateResult.of(0, group, Judgement(Verdict.ACCEPTED)), "a")
    assert progress.status() == "2 of 2 samples accepted"


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), min_size=1),
    st.lists(st.integers(1, 4), min_size=1, unique=True),
)
def test_every_k_that_was_asked_for_is_shown_by_the_problems_with_so_many_samples(samples, ks) -> None:
    progress = ScoreProgress(ks)
    counts: dict[str, list[bool]] = {}
    for name, passed in samples:
        counts.setdefault(name, []).append(passed)
        verdict = Verdict.ACCEPTED if passed else Verdict.WRONG_ANSWER
        progress.add(CandidateResult.of(0, "generated", Judgement(verdict)), name)
    for k in ks:
        enough = [(len(each), sum(each)) for each in counts.values() if len(each) >= k]
        value = mean_pass_at_k(enough, k).value if enough else None
        assert (f"pass@{k} " in progress.status()) == bool(enough)
        if enough:
            assert f"pass@{k} {value:.3f}" in progress.status()
