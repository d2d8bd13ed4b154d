import pytest

from alpha_codium.runs import AnswerStore
from tests.gen.running import home

__all__ = ["home"]


@pytest.fixture
def store(tmp_path):
    with AnswerStore(tmp_path / "answers.sqlite") as opened:
        yield opened
