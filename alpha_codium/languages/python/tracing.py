"""A small tracer, which prints each executed line of a program with the local variables that changed."""

from alpha_codium.languages import TRACE_MARK

VALUE_LENGTH = 80
# It keeps the last lines only. A traced program is slow: the sandbox's time limit may end it.
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


def traced(source: str, depth: int, lines: int) -> str:
    """Return the tracer with the program in it."""
    return TRACER.format(source=source, depth=depth, lines=lines, length=VALUE_LENGTH, mark=TRACE_MARK)
