"""The small repository, which no test may change, and a server of S3."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from alpha_codium.repository.checkout import Checkout
from tests.repository.shop import shop_in


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Checkout]:
    made = shop_in(tmp_path_factory.mktemp("shop"))
    before = made.digest()
    yield made
    assert made.digest() == before


@pytest.fixture(scope="module")
def s3() -> Iterator[str]:
    """The address of a server of S3."""
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def bucket(s3: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """An empty bucket `ours`, which boto3 reaches with the variables of the environment."""
    import boto3

    monkeypatch.setenv("GENCODE_HOME", str(tmp_path / "home"))
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    variables = {"ENDPOINT_URL": s3, "ACCESS_KEY_ID": "k", "SECRET_ACCESS_KEY": "s", "DEFAULT_REGION": "us-east-1"}
    for name, value in variables.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    found = boto3.resource("s3").Bucket("ours")
    found.create()
    yield found
    found.objects.all().delete()
    found.delete()
