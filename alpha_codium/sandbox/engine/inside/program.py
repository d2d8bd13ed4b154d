"""A program in a test's process, as `python3 program.py` would run it.

1. The module is like the one that `python3` makes, and nothing of the zygote stands in its tracebacks.
2. At the end the interpreter is taken down properly only where that can be seen, since it costs twice as much as the
   rest of the test: for open files, finalisers, suspended generators. Most programs have none of them and name
   nothing that could make one.
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

# In place of a status: Python ends itself by the signal where nobody caught the exception.
INTERRUPTED = -2
GENERATOR = 0x20 | 0x80 | 0x200  # CO_GENERATOR, CO_COROUTINE, CO_ASYNC_GENERATOR
# Modules that leave nothing to be done at the end, and may be imported once for all tests of a candidate.
QUIET = frozenset(
    """math cmath random statistics fractions decimal datetime functools re string operator collections heapq bisect
    itertools array copy typing enum dataclasses time io numbers types abc sys os struct queue calendar textwrap
    collections.abc contextlib json bisect __future__ hashlib zlib unicodedata pprint reprlib threading""".split()
)
# Names of what may leave an object that does something when it goes.
LASTING = frozenset(
    """open fdopen type getattr setattr
    __dict__ TemporaryFile NamedTemporaryFile IOBase RawIOBase BufferedIOBase
    TextIOBase FileIO BufferedWriter BufferedRandom BufferedReader TextIOWrapper makefile detach""".split()
)
# Names of what may leave something anywhere, or may hide that it does.
HIDING = frozenset(
    "exec eval compile __import__ import_module importlib builtins globals vars fork __del__ finalize callbacks".split()
)
WATCHING = frozenset(("settrace", "setprofile"))
# Names of what may have left something to be said, other than by `print`, or have made `print` something else.
SPEAKING = frozenset(
    """stderr __stderr__ __stdout__ warn warnings traceback logging atexit threading Thread register print_exc modules
    excepthook fdopen TextIOWrapper StringIO BytesIO __stdin__ contextlib redirect_stdout""".split()
)
# Loaded by us and not by an interpreter that starts: a program that imports them gets its own.
OURS = ("ctypes", "ctypes._endian", "_ctypes", "struct", "_struct", "marshal", "_socket")


class Driver:
    """A driver made ready: what it defines, and the code of its last statement, which runs it.

    Only that is left to a test's process, which has to copy each page of memory that it writes to.
    """

    def __init__(self, names: dict[str, Any], code: CodeType) -> None:
        self.names, self.code = names, code


class PreparedProgram:
    """What each test of a candidate runs: the program, or a driver that has the program's code.

    All that can be made ready is made before the fork: each page that a test writes to costs it a copy.
    """

    def __init__(self, program: CodeType, driver: Driver | None, folder: str) -> None:
        self.code: CodeType | str = program if driver is None else driver.code
        self.folder = folder
        # A driver is ours and leaves nothing.
        names, generators = names_of(program)
        self.is_hiding = bool(names & HIDING)
        self.is_lasting = generators or bool(names & LASTING)
        self.is_watched = bool(names & WATCHING)
        self.uses_random = "random" in names
        self.is_plain = not (self.is_hiding or self.is_lasting or names & (SPEAKING | WATCHING))
        self.program, self.driver = program, driver
        self.namespace: dict[str, Any] = {}
        self.module_count = 0

    def make_ready(self) -> None:
        """Make the program's module, after the collector was told to leave all before it alone."""
        self.namespace = main_module(None if self.driver is None else self.program, self.folder)
        if self.driver is not None:
            self.namespace.update({**self.driver.names, **self.namespace})
        self.module_count = len(sys.modules)

    def leave_plainly(self) -> None:
        """End this process as a program does that printed something and nothing else; comes back where it failed."""
        if len(sys.modules) == self.module_count:
            try:
                sys.stdout.flush()
                if sys.__stdout__ is not None and sys.stdout is not sys.__stdout__:
                    sys.__stdout__.flush()
            except BaseException:
                return
            os._exit(0)

    def leave(self, status: int) -> None:
        """End this process as the interpreter would; comes back where all of it must be taken down for that."""
        if self.is_lasting or self.is_hiding or "atexit" in sys.modules:
            # The interpreter has them there only while the program runs.
            self.namespace.pop("__file__", None)
            self.namespace.pop("__cached__", None)
        # Ours is one of the references that would keep the program's variables.
        self.namespace, self.code = {}, ""
        if status == INTERRUPTED:
            wind_down()
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGINT)
        if self.is_hiding or not self.left_no_module() or not wind_down():
            return
        if self.is_lasting and something_lasts():
            return
        os._exit(status)

    def left_no_module(self) -> bool:
        """Whether no module was loaded that may have something to do at the end."""
        return len(sys.modules) == self.module_count or QUIET.issuperset(list(sys.modules)[self.module_count :])


def something_lasts() -> bool:
    """Whether the program left an object that does something when it goes; those older than it were frozen."""
    kinds = {type(each) for each in gc.get_objects()}
    return any(hasattr(kind, "__del__") or hasattr(kind, "close") for kind in kinds)


def main_module(program: CodeType | None, folder: str) -> dict[str, Any]:
    """Make the module `__main__` of a program, or of a driver of `program`, and give its variables."""
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
    """Compile the program, to be run by itself or by its driver; None, with the reason on stderr, if it can't be."""
    try:
        program = compile(source, folder + "/" + wire.PROGRAM, "exec", 0, True)
        import_early(source)
        return PreparedProgram(program, driver, folder)
    except BaseException as error:
        # The frames are ours: a program that doesn't compile has none.
        sys.excepthook(type(error), error.with_traceback(None), None)
        return None


def import_early(source: bytes) -> None:
    """Import once, for all tests, those of `QUIET` that stand on the program's lines with an `import`."""
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
    """All names that a code object and those in it use, and whether there is a generator other than an expression."""
    names, generators, todo = set(), False, [code]
    while todo:
        code = todo.pop()
        names.update(code.co_names)
        generators = generators or (bool(code.co_flags & GENERATOR) and code.co_name != "<genexpr>")
        todo += [constant for constant in code.co_consts if isinstance(constant, type(code))]
    return names, generators


def status_of(error: BaseException | None) -> int:
    """The exit status for what ended the program, told on stderr where it has to be."""
    flush_streams()
    if error is None:
        return 0
    if not isinstance(error, SystemExit):
        return report(error)
    if error.code is None:
        return 0
    if isinstance(error.code, int):
        # As the C library's exit takes it: the lowest byte; what doesn't fit into a C long is -1.
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
    """Say what exception ended the program, by its own hook where it has set one; the status it leads to."""
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
    """The exception without the frame of ours that its trace begins with."""
    trace = error.__traceback__
    return error.with_traceback(trace.tb_next if trace is not None else None)


def flush_streams() -> None:
    """Flush what the program has printed, as is done when its last line was run, however that ended."""
    try:
        sys.stderr.flush()
    except BaseException:
        pass
    try:
        sys.stdout.flush()
    except BaseException:
        pass


def wind_down() -> bool:
    """Do what the interpreter does before it takes itself down; whether all of it went well."""
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
