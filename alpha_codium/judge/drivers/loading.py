"""Running a program as a module, finding what it defines, and telling what it raised, and the end."""

import os
import sys

TYPE_CHECKING = False  # as in typing, which takes long to import
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any, NoReturn


def set_stdout_aside() -> int:
    """The real stdout under another number; what is printed goes to stderr from here on."""
    kept = os.dup(1)
    # The lowest number that is free is 1: DeepMind's sandbox has no dup2.
    os.close(1)
    os.set_inheritable(os.dup(2), True)
    return kept


def load(program: "CodeType", setup_code: str, frames: int = 0) -> "dict[str, Any]":
    """Run `setup_code` (text) and then `program` (a code object) in one namespace, and give that.

    A call of the program's has so many `frames` more below it than in a process of its own: it may recurse as deep.

    The program is a module `program`, not `__main__`: what it does where it is run by itself isn't done.
    """
    sys.setrecursionlimit(sys.getrecursionlimit() + frames)
    module = type(sys)("program")
    module.__file__ = "program.py"
    sys.modules["program"] = module
    if setup_code:
        exec(compile(setup_code, "setup.py", "exec", dont_inherit=True), module.__dict__)  # noqa: S102 - the dataset's
    exec(program, module.__dict__)  # noqa: S102 - running it is what a sandbox is for
    return module.__dict__


def find(namespace: "dict[str, Any]", name: str) -> "Any":
    """What tests mean by `name`: a method of a new `Solution()`, or what the module calls so."""
    solution = namespace.get("Solution")
    if isinstance(solution, type) and hasattr(solution, name):
        return getattr(solution(), name)
    if name not in namespace:
        raise NameError(f"name {name!r} is not defined")
    return namespace[name]


def tell(error: BaseException) -> None:
    """Print an exception as Python does, without the frames of the driver around the program's."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename == tell.__code__.co_filename:
        trace = trace.tb_next
    sys.excepthook(type(error), error.with_traceback(trace), trace)


def leave(status: int) -> "NoReturn":
    """End this process here: what a program leaves to be done at its end counts for nothing any more."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:  # noqa: BLE001 - whatever the program put there, it was only to be shown
        os._exit(status)
    os._exit(status)
