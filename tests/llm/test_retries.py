from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alpha_codium.llm.retries import RetryPolicy, parse_retry_after

NOW = datetime(2025, 1, 1, tzinfo=UTC)


@given(st.integers(0, 10**6))
def test_seconds_are_parsed(seconds):
    assert parse_retry_after(str(seconds)) == seconds
    assert parse_retry_after(f" {seconds}.5 ") == seconds + 0.5


@given(st.integers(-(10**6), 10**6))
def test_a_date_is_the_wait_until_then(seconds):
    header = format_datetime(NOW + timedelta(seconds=seconds), usegmt=True)
    assert parse_retry_after(header, NOW) == max(0, seconds)


@given(st.text())
def test_whatever_a_header_holds_gives_a_wait_or_none(text):
    wait = parse_retry_after(text, NOW)
    assert wait is None or wait >= 0


@pytest.mark.parametrize("text", ["", "-1", "soon", "1e3", "nan", "inf", "Wed", "٣"])
def test_an_invalid_wait_is_none(text):
    assert parse_retry_after(text) is None


policies = st.builds(RetryPolicy, st.integers(0, 50), first_wait=st.floats(0.01, 10), longest_wait=st.floats(10, 1000))


@given(policies, st.integers(1, 2000), st.none() | st.floats(0, 10**7))
def test_a_wait_is_never_longer_than_the_longest(policy, retry, retry_after):
    assert 0 <= policy.wait_before(retry, retry_after) <= policy.longest_wait


@given(policies, st.integers(1, 2000), st.floats(0, 10**7))
def test_a_wait_is_never_shorter_than_was_asked(policy, retry, retry_after):
    assert policy.wait_before(retry, retry_after) >= min(retry_after, policy.longest_wait)


@given(policies, st.integers(1, 30))
def test_waits_double_except_for_their_random_part(policy, retry):
    whole = min(policy.longest_wait, policy.first_wait * 2 ** (retry - 1))
    assert whole / 2 <= policy.wait_before(retry) <= whole
