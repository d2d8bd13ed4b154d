"""A compact trace of a program's run on one test, for fix prompts.

The program is run once more in the sandbox under its language's tracer, which prints each executed line of it with the
local names that changed. `[code_tester] calc_trace` makes one, `use_trace` shows it to the fixer.
"""

from alpha_codium.flows.context import SampleContext
from alpha_codium.languages import TRACE_MARK, language_named
from alpha_codium.problem import TestCase
from alpha_codium.program import PYTHON
from alpha_codium.runs.events import ProgramTraced, kept_text


async def trace_of(program: str, test: TestCase, context: SampleContext) -> str:
    """The trace that the settings ask for, as the fixer is to be shown it; else nothing."""
    settings = context.settings.code_tester
    if not (settings.calc_trace or settings.use_trace):
        return ""
    traced = language_named(PYTHON).traced(program, depth=settings.trace_depth, lines=settings.max_trace_lines)
    execution = await context.judge.execute(traced, test.input)
    lines = [line.removeprefix(TRACE_MARK) for line in execution.stderr.splitlines() if line.startswith(TRACE_MARK)]
    trace = "\n".join(lines[-settings.max_trace_lines :])
    context.events.append(ProgramTraced(kept_text(trace)))
    return trace if settings.use_trace else ""
