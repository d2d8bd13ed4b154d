"""The web page of the metrics, served for real and used through gradio's own client."""

import socket
import subprocess
import sys
from collections.abc import Iterator

import pytest

gradio_client = pytest.importorskip("gradio_client", reason="gradio isn't installed: pip install -e '.[demo]'")
pytestmark = pytest.mark.thorough

ADD = "def add(a, b): return a + b\n# ---\ndef add(a, b): return a * b"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator["gradio_client.Client"]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "alpha_codium.metrics.demo"]
    environment = {
        "GRADIO_SERVER_PORT": str(port),
        "HOME": str(tmp_path_factory.mktemp("home")),
        "PATH": "/usr/bin:/bin",
        "PYTHONUNBUFFERED": "1",
    }
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            assert "Running on local URL" in server.stdout.readline()
            yield gradio_client.Client(f"http://127.0.0.1:{port}", verbose=False)
        finally:
            server.terminate()


@pytest.mark.parametrize("metric", ["code_eval", "restrictedpython_code_eval"])
def test_candidates_are_scored_and_each_has_its_result(client: "gradio_client.Client", metric: str) -> None:
    scores, table = client.predict(metric, ADD, "assert add(2, 3) == 5", api_name="/evaluate")
    assert scores == {"pass@1": 0.5, "pass@2": 1.0}
    assert [row[:2] for row in table["data"]] == [[0, True], [1, False]]


def test_test_code_that_is_not_python_is_an_error_that_says_so(client: "gradio_client.Client") -> None:
    with pytest.raises(Exception, match="isn't Python"):
        client.predict("code_eval", ADD, "assert (", api_name="/evaluate")
