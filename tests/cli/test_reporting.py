"""Events of use cases on stderr."""

import click
import pytest

from alpha_codium.app.events import RunOpened, judging, working
from alpha_codium.cli.options import CommonOptions
from alpha_codium.cli.reporting import Reporter
from alpha_codium.eval.results import CandidateResult
from alpha_codium.eval.score_progress import ScoreProgress
from alpha_codium.verdict import Verdict


def test_work_that_has_no_counter_shows_how_far_it_is(capsys):
    with working(Reporter(CommonOptions(None, (), None, 0)), "datasets", 1) as on_done:
        on_done(3)
    assert capsys.readouterr().err == "datasets: 1/1 in 0 s\n"


def test_pass_at_1_is_shown_for_samples_and_not_for_programs_of_other_kinds(capsys):
    results = [CandidateResult(n, "generated", verdict, 0, 1, ()) for n, verdict in enumerate(list(Verdict)[:2])]
    assert [result.verdict.value for result in results] == ["accepted", "wrong_answer"]
    samples = ("judged", ScoreProgress(), "1 of 2 samples accepted, so far pass@1 0.500")
    for what, counter, said in (samples, ("programs judged", None, "1 accepted")):
        with judging(Reporter(CommonOptions(None, (), None, 0)), 2, what, counter) as on_result:
            for result in results:
                on_result("p", result)
        assert capsys.readouterr().err == f"{what}: 2/2 in 0 s, {said}\n"


@pytest.mark.parametrize("resumed", [None, "r"])
def test_the_command_that_resumes_repeats_a_budget_that_the_run_does_not_record(capsys, home, resumed):
    reporter = Reporter(CommonOptions(None, ("budget.run_calls=8", "config.seed=1"), None, 0))
    context = click.Context(click.Command("solve_set"), info_name="solve_set")
    context.params = {"resume": resumed}
    with context, pytest.raises(KeyboardInterrupt), reporter.resumable():
        reporter(RunOpened(home / "runs" / "r"))
        raise KeyboardInterrupt
    budget = " -o budget.run_calls=8" if resumed else ""
    assert capsys.readouterr().err.endswith(f"resume this run with solve_set --resume r{budget}\n")
