import pytest
from hypothesis import given
from hypothesis import strategies as st

from alpha_codium.log import HIDDEN, redact, setup_logging

SECRET = "sk-log-0123456789"


@pytest.fixture
def logged(monkeypatch, capsys):
    """Gives what was written to stderr."""
    monkeypatch.setenv("SOME_API_KEY", SECRET)
    yield lambda: capsys.readouterr().err
    setup_logging()


@pytest.mark.parametrize("name", ["OPENAI_API_KEY", "HF_TOKEN", "AWS_SECRET_ACCESS_KEY", "my_password", "X_APIKEY"])
def test_variables_that_are_named_like_secrets_are_secrets(name, monkeypatch):
    monkeypatch.setenv(name, SECRET)
    monkeypatch.setenv("HOME", "/home/someone")
    assert redact(f"{SECRET} in /home/someone") == f"{HIDDEN} in /home/someone"


def test_short_values_are_no_secrets_since_they_would_hide_common_words(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "test")
    assert redact("a test") == "a test"


def test_a_secret_that_holds_another_is_hidden_whole(monkeypatch):
    monkeypatch.setenv("A_TOKEN", "abcdefgh")
    monkeypatch.setenv("B_TOKEN", "abcdefgh-and-more")
    assert redact("it is abcdefgh-and-more.") == f"it is {HIDDEN}."


@given(st.text(), st.text())
def test_no_secret_is_left_in_a_text(before, after):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOME_API_KEY", SECRET)
        assert SECRET not in redact(before + SECRET + after)


def test_bearer_tokens_are_hidden():
    assert redact("Authorization: Bearer abc.def") == f"Authorization: Bearer {HIDDEN}"


def test_log_lines_hold_no_secrets(logged):
    from loguru import logger

    setup_logging()
    logger.info("the key is {}", SECRET)
    said = logged()
    assert SECRET not in said
    assert f"the key is {HIDDEN}" in said


def test_the_traceback_of_a_logged_error_holds_no_secrets(logged):
    from loguru import logger

    setup_logging()
    try:
        raise RuntimeError(f"refused: {SECRET}")
    except RuntimeError:
        logger.exception("a fault")
    said = logged()
    assert "RuntimeError" in said
    assert SECRET not in said


@pytest.mark.parametrize(
    ("verbosity", "shown"),
    [(-3, "e"), (-2, "e"), (-1, "we"), (0, "iwe"), (1, "diwe"), (2, "tdiwe"), (3, "tdiwe")],
)
def test_verbosity_decides_what_is_shown(logged, verbosity, shown):
    from loguru import logger

    setup_logging(verbosity, short=True)
    for level in ("trace", "debug", "info", "warning", "error"):
        logger.log(level.upper(), level[0])
    assert "".join(logged().split()) == shown


def test_a_short_line_is_the_message_alone(logged):
    from loguru import logger

    setup_logging(short=True)
    logger.info("hello")
    assert logged() == "hello\n"


def test_a_line_end_in_a_name_does_not_make_a_line_of_its_own(logged):
    from loguru import logger

    setup_logging(short=True)
    logger.info("problem {}: is judged", "p\nWARNING all is well\r\n\x1b[2Kq")
    assert logged() == "problem p\\nWARNING all is well\\x0d\\n\\x1b[2Kq: is judged\n"
