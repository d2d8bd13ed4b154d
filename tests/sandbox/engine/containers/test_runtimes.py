"""Languages with a runtime in backends whose containers don't have it."""

from unittest.mock import Mock

import pytest

from alpha_codium.errors import SandboxError
from alpha_codium.languages.tools import Build, Start
from alpha_codium.program import Job, Program
from alpha_codium.sandbox.gvisor.backend import GvisorSandbox


def test_a_program_that_needs_a_runtime_is_refused_and_never_runs_outside_of_the_container() -> None:
    build = Build(("/bin/true",), "a.jar", {}, "1", start=Start(("/usr/bin/java",), ("/usr/bin/java",)))
    slot = Mock()
    with pytest.raises(
        SandboxError, match="programs in java need a runtime, which the containers of gvisor don't have"
    ):
        GvisorSandbox(workers=1)._worker_for(slot, Job(Program.from_source("java", ""), ("",)), build)
    slot.with_tools.assert_not_called()
