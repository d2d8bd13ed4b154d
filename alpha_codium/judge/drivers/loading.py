"""Functions for all drivers: loading a program, finding its functions, printing exceptions, and exiting."""

import os
import sys
from types import CodeType
from typing import Any, NoReturn


def set_stdout_aside() -> int:
    """Return a new descriptor of the real stdout, and redirect stdout to stderr."""
    kept = os.dup(1)
    # After this, `dup` returns 1, the lowest free number: DeepMind's sandbox has no dup2.
    os.close(1)
    os.set_inheritable(os.dup(2), True)
    return kept


def write_all(fd: int, data: bytes) -> None:
    """Write all of `data`."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest) :]


def load(program: "CodeType", setup_code: str, frames: int = 0) -> "dict[str, Any]":
    """Run `setup_code` and then `program` in one namespace, and return the namespace.

    The recursion limit is raised by `frames`, the number of the driver's stack frames below the program's. The program
    is a module `program`, not `__main__`.
    """
    sys.setrecursionlimit(sys.getrecursionlimit() + frames)
    module = type(sys)("program")
    module.__file__ = "program.py"
    sys.modules["program"] = module
    if setup_code:
        exec(compile(setup_code, "setup.py", "exec", dont_inherit=True), module.__dict__)  # noqa: S102 - the dataset's
    exec(program, module.__dict__)  # noqa: S102 - running it is what a sandbox is for
    return module.__dict__


def look_up(namespace: "dict[str, Any]", name: str) -> "Any":
    """Return what `name` means in the program's module, as Python finds it; assertions use this."""
    if name not in namespace:
        raise NameError(f"name {name!r} is not defined")
    return namespace[name]


def find(namespace: "dict[str, Any]", name: str) -> "Any":
    """Return the function that a call-based test calls: a method of a new `Solution()`, else a name of the module.

    If there are both, the method is called, as by the graders of APPS, TACO, LiveCodeBench and verl.
    """
    solution = namespace.get("Solution")
    if isinstance(solution, type) and (hasattr(solution, name) or name not in namespace):
        return getattr(solution(), name)
    return look_up(namespace, name)


def trace_of(error: BaseException) -> "Any":
    """Return an exception's traceback without the driver's frames before the program's; None if only those are left."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename == trace_of.__code__.co_filename:
        trace = trace.tb_next
    return trace


def print_error(error: BaseException) -> None:
    """Print an exception as Python does, without the driver's frames around the program's."""
    trace = trace_of(error)
    sys.excepthook(type(error), error.with_traceback(trace), trace)


def exit_process(status: int) -> "NoReturn":
    """End this process at once, without the program's exit handlers."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:  # noqa: BLE001 - whatever the program put there was only to be shown
        os._exit(status)
    os._exit(status)
