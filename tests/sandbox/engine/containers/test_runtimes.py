"""Languages with a runtime in backends whose containers don't have it."""

import pytest

from alpha_codium.errors import SandboxError
from alpha_codium.limits import Limits
from alpha_codium.program import Job, Program
from alpha_codium.sandbox.gvisor.backend import GvisorSandbox
from tests.languages.available import require

REFUSED = "programs in pypy3 need a runtime, which the containers of gvisor don't have"


def test_a_program_that_needs_a_runtime_is_refused_before_anything_runs() -> None:
    require("pypy3")
    gvisor = GvisorSandbox(workers=1)
    with pytest.raises(SandboxError, match=REFUSED):
        gvisor.tool_version("pypy3")
    with pytest.raises(SandboxError, match=REFUSED):
        gvisor.toolchains.build(Job(Program.from_source("pypy3", "print(1)")), Limits())
