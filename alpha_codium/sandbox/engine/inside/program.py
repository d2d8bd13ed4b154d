"""Functions that run a program in a test's process, as `python3 program.py` would.

1. The program's module is like the one that `python3` makes, and tracebacks don't show the zygote's frames.
2. At the end, the interpreter is finalised only if that can make a difference (open files, finalisers, suspended
   generators), since it costs twice as much as the rest of the test. Most programs use no name that could make one.
"""

from __future__ import annotations

import builtins
import gc
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any

import _signal as signal  # pyrefly: ignore[missing-import] - the C module: `signal` loads enum

from alpha_codium.sandbox.engine.inside import wire

# Used as a status for an uncaught KeyboardInterrupt, after which Python ends itself by SIGINT.
INTERRUPTED = -2
GENERATOR = 0x20 | 0x80 | 0x200  # CO_GENERATOR, CO_COROUTINE, CO_ASYNC_GENERATOR
# Modules that need no finalisation, and may be imported once for all tests of a candidate.
QUIET = frozenset(
    """math cmath random statistics fractions decimal datetime functools re string operator collections heapq bisect
    itertools array copy typing enum dataclasses time io numbers types abc sys os struct queue calendar textwrap
    collections.abc contextlib json bisect __future__ hashlib zlib unicodedata pprint reprlib threading""".split()
)
# Names that may create an object with a finaliser.
LASTING = frozenset(
    """open fdopen type getattr setattr
    __dict__ TemporaryFile NamedTemporaryFile IOBase RawIOBase BufferedIOBase
    TextIOBase FileIO BufferedWriter BufferedRandom BufferedReader TextIOWrapper makefile detach""".split()
)
# Names that may create any object, or hide its creation.
HIDING = frozenset(
    "exec eval compile __import__ import_module importlib builtins globals vars fork __del__ finalize callbacks".split()
)
TRACING = frozenset(("settrace", "setprofile"))
# Names that may leave unwritten output other than by `print`, or redefine `print`.
SPEAKING = frozenset(
    """stderr __stderr__ __stdout__ warn warnings traceback logging atexit threading Thread register print_exc modules
    excepthook fdopen TextIOWrapper StringIO BytesIO __stdin__ contextlib redirect_stdout""".split()
)
# Modules loaded by the zygote but not by a new interpreter; a program that imports them gets fresh ones.
OURS = ("ctypes", "ctypes._endian", "_ctypes", "struct", "_struct", "marshal", "_socket", "select")


class Driver:
    """A prepared driver: its definitions, and the code of its last statement, which runs in a test's process."""

    def __init__(self, names: dict[str, Any], code: CodeType) -> None:
        self.names, self.code = names, code


class PreparedProgram:
    """The code that each test of a candidate runs: the program, or a driver with the program's code.

    As much as possible is prepared before the fork, since each page that a test writes to has to be copied.
    """

    def __init__(self, program: CodeType, driver: Driver | None, folder: str) -> None:
        self.code: CodeType | str = program if driver is None else driver.code
        self.folder = folder
        # A driver is trusted, and creates no such objects.
        names, generators = names_of(program)
        self.is_hiding = bool(names & HIDING)
        self.is_lasting = generators or bool(names & LASTING)
        self.is_traced = bool(names & TRACING)
        self.uses_random = "random" in names
        self.is_plain = not (self.is_hiding or self.is_lasting or names & (SPEAKING | TRACING))
        self.program, self.driver = program, driver
        self.namespace: dict[str, Any] = {}
        self.module_count = 0

    def make_ready(self) -> None:
        """Make the program's module, after `gc.freeze`."""
        self.namespace = main_module(None if self.driver is None else self.program, self.folder)
        if self.driver is not None:
            self.namespace.update({**self.driver.names, **self.namespace})
        self.module_count = len(sys.modules)

    def leave_plainly(self) -> None:
        """Exit now if the program did nothing but print; return if more needs to be done."""
        if len(sys.modules) == self.module_count:
            try:
                sys.stdout.flush()
                if sys.__stdout__ is not None and sys.stdout is not sys.__stdout__:
                    sys.__stdout__.flush()
            except BaseException:
                return
            os._exit(0)

    def leave(self, status: int) -> None:
        """End this process as the interpreter would; return if that needs a full finalisation."""
        if self.is_lasting or self.is_hiding or "atexit" in sys.modules:
            # The interpreter also sets these only while the program runs.
            self.namespace.pop("__file__", None)
            self.namespace.pop("__cached__", None)
        # Our reference would keep the program's variables alive.
        self.namespace, self.code = {}, ""
        if status == INTERRUPTED:
            end_threads_and_flush()
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGINT)
        if self.is_hiding or not QUIET.issuperset(list(sys.modules)[self.module_count :]):
            return
        if not end_threads_and_flush():
            return
        if self.is_lasting and has_finalisers():
            return
        os._exit(status)


def has_finalisers() -> bool:
    """Whether the program left an object with a finaliser; older objects were frozen."""
    kinds = {type(each) for each in gc.get_objects()}
    return any(hasattr(kind, "__del__") or hasattr(kind, "close") for kind in kinds)


def main_module(program: CodeType | None, folder: str) -> dict[str, Any]:
    """Make the module `__main__` of a program, or of a driver of `program`, and return its variables."""
    module = type(sys)("__main__")
    variables = module.__dict__
    file = folder + "/" + (wire.PROGRAM if program is None else wire.DRIVER)
    variables.update(__builtins__=builtins, __file__=file, __cached__=None)
    if sys.version_info < (3, 14):
        variables["__annotations__"] = {}
    variables["__loader__"] = sys.modules["_frozen_importlib_external"].SourceFileLoader("__main__", file)
    if program is not None:
        variables["program"] = program
    sys.modules["__main__"] = module
    sys.argv[:] = [wire.PROGRAM]
    if sys.version_info >= (3, 10):
        sys.orig_argv[:] = [sys.executable, wire.PROGRAM]
    sys.path.insert(0, folder)
    for name in OURS:
        sys.modules.pop(name, None)
    return variables


def compile_all(source: bytes, driver: Driver | None, folder: str) -> PreparedProgram | None:
    """Compile the program, to run alone or by a driver; return None, with the reason on stderr, if that fails."""
    try:
        program = compile(source, folder + "/" + wire.PROGRAM, "exec", 0, True)
        import_early(source)
        return PreparedProgram(program, driver, folder)
    except BaseException as error:
        # Without frames, which are all ours.
        sys.excepthook(type(error), error.with_traceback(None), None)
        return None


def import_early(source: bytes) -> None:
    """Import, once for all tests, the modules in `QUIET` that are named in the program's lines with an `import`."""
    words: set[bytes] = set()
    for line in source.splitlines():
        if b"import" in line:
            words.update(line.replace(b",", b" ").replace(b";", b" ").split())
    for name in sorted(QUIET.intersection(word.decode("ascii", "replace") for word in words)):
        if name not in sys.modules:
            try:
                __import__(name)
            except ImportError:
                pass


def names_of(code: CodeType) -> tuple[set[str], bool]:
    """Return all names that a code object uses, and whether it has a generator other than an expression."""
    names, generators, todo = set(), False, [code]
    while todo:
        code = todo.pop()
        names.update(code.co_names)
        generators = generators or (bool(code.co_flags & GENERATOR) and code.co_name != "<genexpr>")
        todo += [constant for constant in code.co_consts if isinstance(constant, type(code))]
    return names, generators


def status_of(error: BaseException | None) -> int:
    """Return the exit status for the exception that ended the program, and report it on stderr if necessary."""
    flush_streams()
    if error is None:
        return 0
    if not isinstance(error, SystemExit):
        return report(error)
    if error.code is None:
        return 0
    if isinstance(error.code, int):
        # As in C's exit, the lowest byte; numbers that don't fit into a C long count as -1.
        return error.code & 0xFF if -(1 << 63) <= error.code < 1 << 63 else 0xFF
    try:
        text = str(error.code).encode("utf-8", "backslashreplace")
        os.write(2, text) if sys.stderr is None else sys.stderr.write(str(error.code))
    except BaseException:
        pass
    try:
        sys.stderr.write("\n")
    except BaseException:
        os.write(2, b"\n")
    return 1


def report(error: BaseException) -> int:
    """Report the exception that ended the program, by its own hook if it set one; return the exit status."""
    trace = without_ours(error).__traceback__
    sys.last_type, sys.last_value, sys.last_traceback = type(error), error, trace
    if sys.version_info >= (3, 12):
        sys.last_exc = error
    try:
        sys.excepthook(type(error), error, trace)
    except SystemExit as other:
        return status_of(other)
    except BaseException as other:
        sys.stderr.write("Error in sys.excepthook:\n")
        sys.__excepthook__(type(other), without_ours(other), None)
        sys.stderr.write("\nOriginal exception was:\n")
        sys.__excepthook__(type(error), error, trace)
    return INTERRUPTED if type(error) is KeyboardInterrupt else 1


def without_ours(error: BaseException) -> BaseException:
    """Return the exception without our frame, the first of its traceback."""
    trace = error.__traceback__
    return error.with_traceback(trace.tb_next if trace is not None else None)


def flush_streams() -> None:
    """Flush what the program has printed, as the interpreter does after its last line."""
    for name in ("stderr", "stdout"):
        try:
            getattr(sys, name).flush()
        except BaseException:
            pass


def end_threads_and_flush() -> bool:
    """Do what the interpreter does before its finalisation; return whether all of it succeeded."""
    try:
        modules = sys.modules
        if "threading" in modules:
            modules["threading"]._shutdown()
        if "atexit" in modules:
            modules["atexit"]._run_exitfuncs()
        for stream in {sys.stdout, sys.stderr, sys.__stdout__}:
            if stream is not None and not stream.closed:
                stream.flush()
    except BaseException:
        return False
    return True
