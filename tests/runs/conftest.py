import pytest
from loguru import logger


@pytest.fixture
def path(tmp_path):
    return tmp_path / "answers.sqlite"


@pytest.fixture
def warnings():
    """The warnings of the test, as they come."""
    said: list[str] = []
    number = logger.add(lambda line: said.append(str(line)), level="WARNING", format="{message}")
    yield said
    logger.remove(number)
