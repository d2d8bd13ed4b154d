"""The languages that dialects offer: one whose compiler didn't answer once isn't hidden for good."""

from types import SimpleNamespace

from alpha_codium.errors import SandboxError
from alpha_codium.serve.dialects.asking import AGAIN, Versions


class Flaky:
    """A sandbox whose Go compiler doesn't answer the first time."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def tool_version(self, language: str) -> str:
        self.asked.append(language)
        if language == "go" and self.asked.count("go") == 1:
            raise SandboxError("go doesn't answer")
        if language not in ("go", "c"):
            raise SandboxError(f"{language} isn't installed")
        return f"{language} 1.2"


def test_a_language_that_could_not_be_run_is_looked_for_again_after_a_while() -> None:
    now, sandbox = [0.0], Flaky()
    opened = SimpleNamespace(judge=SimpleNamespace(sandbox=sandbox), identity=SimpleNamespace(interpreter="CPython 3"))
    versions = Versions(opened, clock=lambda: now[0])  # type: ignore[arg-type]
    assert dict(versions) == {"python3": "CPython 3", "c": "c 1.2"}
    assert ("go" in versions, "cobol" in versions, sandbox.asked.count("go")) == (False, False, 1)
    now[0] = AGAIN
    assert versions["go"] == "go 1.2"
    assert set(versions) == {"python3", "c", "go"}
    assert (sandbox.asked.count("go"), sandbox.asked.count("c")) == (2, 1)
