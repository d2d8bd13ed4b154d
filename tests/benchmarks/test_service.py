"""The benchmark of the server, as small as it gets."""

import pytest

from benchmarks.sandbox.child import Sample
from benchmarks.service.__main__ import ENGINE, LINES, PLAIN, SERVER, as_text, measure, ratios


@pytest.mark.thorough
def test_engine_server_and_plain_service_run_everything_right() -> None:
    samples = measure("a", rounds=1, programs=2, in_flight=2, cores=0)
    assert set(samples) == {(name, tests) for name, tests, _ in LINES}
    for (_, tests), (sample,) in samples.items():
        assert (sample.total, sample.right) == (2 * tests, 2 * tests)
        assert sample.cpu_seconds
    assert "WRONG" not in as_text(samples)


def test_a_ratio_is_that_of_the_times_of_each_round() -> None:
    samples = {
        (ENGINE, 10): [Sample(10, 10, 1.0, 1.0), Sample(10, 10, 1.0, 4.0)],
        (SERVER, 10): [Sample(10, 10, 1.0, 2.0), Sample(10, 9, 1.0, 2.0)],
        (PLAIN, 10): [Sample(10, 10, 1.0, 8.0), Sample(10, 10, 1.0, 16.0)],
    }
    assert ratios(samples, (SERVER, 10), (ENGINE, 10)) == [2.0, 0.5]
    lines = as_text(samples).splitlines()
    assert "1.25 times the engine called directly (0.50-2.00)  1 WRONG" in lines[1]
    assert "6.00 times our server (4.00-8.00)" in lines[2]
