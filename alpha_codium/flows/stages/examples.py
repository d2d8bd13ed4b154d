"""Reading the examples of a description: the public tests of a problem that has none of its own."""

from dataclasses import dataclass, replace

from alpha_codium.config import Settings
from alpha_codium.flows.context import SampleContext
from alpha_codium.flows.state import FlowState
from alpha_codium.languages.python.examples import examples_in
from alpha_codium.problem import Statement


@dataclass(frozen=True)
class ReadExamples:
    """Makes the examples of a function's description its public tests, where it has none; asks nothing."""

    async def run(self, state: FlowState, context: SampleContext) -> None:
        """Read them. One may be wrong: no stage demands all, but takes the program that passes most."""
        if state.statement.public_tests or context.judge.kind.name != "assertions":
            return
        found = tuple(test for test in examples_in(state.statement) if not context.judge.kind.fault_of(test))
        context.record("read_examples", tests=[test.input for test in found])
        state.examples = found
        state.statement = replace(state.statement, public_tests=found)

    def calls(self, _settings: Settings, _statement: Statement) -> tuple[int, int]:
        """None."""
        return 0, 0
