"""A compact trace of a program's run on one test, for fix prompts.

The program is run once more in the sandbox under a tracer of a few lines, which prints each executed line of it with
the local names that changed. `[code_tester] calc_trace` makes one, `use_trace` shows it to the fixer.
"""

from alpha_codium.flows.context import SampleContext
from alpha_codium.problem import TestCase
from alpha_codium.runs.events import ProgramTraced, kept_text

MARK = "trace| "
VALUE_LENGTH = 80
# Keeps the last lines only; a traced program is slow, so its output ends with the sandbox's time limit at the latest.
TRACER = """
import collections as _c, os as _o, sys as _s
_source, _depth, _lines = {source!r}, {depth}, _c.deque(maxlen={lines})
_text, _seen = _source.splitlines(), {{}}
def _short(value):
    try:
        text = repr(value)
    except Exception as error:
        text = type(error).__name__
    return text[:{length}]
def _level(frame):
    level = 0
    while frame is not None and frame.f_code.co_filename == "program.py":
        frame, level = frame.f_back, level + 1
    return level
def _trace(frame, event, argument):
    if frame.f_code.co_filename != "program.py" or _level(frame) > _depth:
        return None
    if event == "call":
        _seen.pop(id(frame), None)
    if event == "line":
        now = {{k: _short(v) for k, v in list(frame.f_locals.items()) if not k.startswith("__")}}
        old = _seen.get(id(frame), {{}})
        _seen[id(frame)] = now
        changed = ", ".join(f"{{k}} = {{v}}" for k, v in now.items() if old.get(k) != v and not v.startswith("<"))
        line = _text[frame.f_lineno - 1].strip() if frame.f_lineno <= len(_text) else ""
        _lines.append(f"{{frame.f_lineno}}: {{line}}" + (f"    # {{changed}}" if changed else ""))
    return _trace
_code = compile(_source, "program.py", "exec")
_s.settrace(_trace)
try:
    exec(_code, {{"__name__": "__main__"}})
finally:
    _s.settrace(None)
    _s.stdout.flush()
    _o.write(2, "".join("{mark}" + line + "\\n" for line in _lines).encode("utf-8", "replace"))
"""


async def trace_of(program: str, test: TestCase, context: SampleContext) -> str:
    """The trace that the settings ask for, as the fixer is to be shown it; else nothing."""
    settings = context.settings.code_tester
    if not (settings.calc_trace or settings.use_trace):
        return ""
    traced = TRACER.format(
        source=program, depth=settings.trace_depth, lines=settings.max_trace_lines, length=VALUE_LENGTH, mark=MARK
    )
    execution = await context.judge.execute(traced, test.input)
    lines = [line.removeprefix(MARK) for line in execution.stderr.splitlines() if line.startswith(MARK)]
    trace = "\n".join(lines[-settings.max_trace_lines :])
    context.events.append(ProgramTraced(kept_text(trace)))
    return trace if settings.use_trace else ""
