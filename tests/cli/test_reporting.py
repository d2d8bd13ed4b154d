"""Events of use cases on stderr."""

from alpha_codium.app.events import working
from alpha_codium.cli.options import CommonOptions
from alpha_codium.cli.reporting import Reporter


def test_work_that_has_no_counter_shows_how_far_it_is(capsys):
    with working(Reporter(CommonOptions(None, (), None, 0)), "datasets", 1) as on_done:
        on_done(3)
    assert capsys.readouterr().err == "datasets: 1/1 in 0 s\n"
