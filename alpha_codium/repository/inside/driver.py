"""The driver of a repository's tests (see `Job.driver`): puts an edited file into effect, runs tests and reports them.

1. The request is on standard input. The answer is JSON on what was standard output; what tests print goes to stderr.
2. If only the body of a method was changed, the function that is already loaded gets the new code, and nothing is
   imported again. Otherwise all modules of the repository are removed, and its tests are loaded again.
3. In a container, the edited file doesn't cover that of the repository. Imports get its code, and tracebacks its lines,
   all the same.
"""

from __future__ import annotations

import importlib.machinery
import json
import linecache
import os
import sys
import threading
import time
import types

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Optional

# The module that the warm-up script made: see the scripts beside this one.
TESTS = "gencode_repository"
MOST_CHARACTERS = 4000
# Attributes of wrappers and descriptors that hold the function that they call.
WITHIN = ("__func__", "__wrapped__", "fget", "fset", "fdel", "func", "real_func")


def nested(code: types.CodeType, names: list[str]) -> Optional[types.CodeType]:
    """Return the code of a method within that of a module, by the names of its classes and its own; None if missing."""
    for name in names:
        inner = [each for each in code.co_consts if isinstance(each, types.CodeType) and each.co_name == name]
        if not inner:
            return None
        code = inner[-1]
    return code


def relocated(code: types.CodeType, file: str) -> types.CodeType:
    """Return the code with the path of the file that it covers, for tracebacks."""
    inner = (relocated(each, file) if isinstance(each, types.CodeType) else each for each in code.co_consts)
    return code.replace(co_filename=file, co_consts=tuple(inner))


def loaded_functions(module: Any, names: list[str], file: str) -> list[types.FunctionType]:
    """Return the function objects of a method in a module, also those that its decorators hold."""
    owner = module
    for name in names:
        owner = vars(owner).get(name)
        if owner is None:
            return []
    found, seen, todo = [], set(), [owner]
    while todo:
        each = todo.pop()
        if id(each) in seen or isinstance(each, type):
            continue
        seen.add(id(each))
        if isinstance(each, types.FunctionType):
            if each.__code__.co_filename == file and each.__code__.co_name == names[-1]:
                found.append(each)
            todo += [cell.cell_contents for cell in each.__closure__ or () if is_filled(cell)]
        todo += [getattr(each, name) for name in WITHIN if getattr(each, name, None) is not None]
    return found


def is_filled(cell: types.CellType) -> bool:
    """Whether a variable of a closure has a value that may be a function."""
    try:
        return callable(cell.cell_contents)
    except ValueError:
        return False


def swap(program: types.CodeType, file: str, method: str) -> bool:
    """Give the loaded method its new code; return whether that is possible."""
    names = method.split(".")
    new = nested(program, names)
    modules = [each for each in list(sys.modules.values()) if getattr(each, "__file__", None) == file]
    if new is None or len(modules) != 1:
        return False
    found = loaded_functions(modules[0], names, file)
    if len({each.__code__ for each in found}) != 1:
        return False
    variables = found[0].__code__.co_freevars
    # A function may use none of the variables that it closes over, such as that of `super()`.
    new = new if new.co_freevars else new.replace(co_freevars=variables)
    if variables != new.co_freevars:
        return False
    for each in found:
        each.__code__ = relocated(new, file)
    return True


def import_edited(program: types.CodeType, file: str) -> None:
    """Have imports execute the edited code in place of what the file has."""
    loader = importlib.machinery.SourceFileLoader
    get_code = loader.get_code

    def edited(self: importlib.machinery.SourceFileLoader, name: str) -> Any:
        return relocated(program, file) if self.path == file else get_code(self, name)

    loader.get_code = edited  # pyrefly: ignore[bad-assignment] - a function of the same form


def load_again(folder: str) -> Any:
    """Load the tests again, with the repository's modules, and return the module that holds them."""
    for name, module in list(sys.modules.items()):
        if (getattr(module, "__file__", None) or "").startswith(folder + "/"):
            del sys.modules[name]
    sys.modules[TESTS].load()
    return sys.modules[TESTS]


class Calls:
    """The functions of some folders' files that were called since the last test ended.

    From Python 3.12 on, each function is noted once for each test, which costs next to nothing; before, each call is.
    """

    def __init__(self, folder: str, sources: list[str]) -> None:
        self.folder, self.codes = folder + "/", set[types.CodeType]()
        self.sources = tuple(f"{self.folder}{source}/" for source in sources)
        self.monitoring: Any = getattr(sys, "monitoring", None)

    def start(self) -> None:
        """Note the calls of all threads from now on."""
        if self.monitoring is None:
            threading.setprofile(self.note)
            sys.setprofile(self.note)
            return
        tool, begins = self.monitoring.COVERAGE_ID, self.monitoring.events.PY_START
        self.monitoring.use_tool_id(tool, TESTS)
        self.monitoring.register_callback(tool, begins, self.note_once)
        self.monitoring.set_events(tool, begins)

    def note(self, frame: types.FrameType, event: str, _: Any) -> None:
        """Note a call."""
        if event == "call":
            self.codes.add(frame.f_code)

    def note_once(self, code: types.CodeType, _: int) -> Any:
        """Note a call, and no further ones of this function until the test ends."""
        self.codes.add(code)
        return self.monitoring.DISABLE

    def take(self) -> list[tuple[str, int]]:
        """Return the functions, and begin anew."""
        codes, self.codes = self.codes, set()
        if self.monitoring is not None:
            self.monitoring.restart_events()
        places = {(code.co_filename, code.co_firstlineno) for code in codes}
        return [(file[len(self.folder) :], line) for file, line in places if file.startswith(self.sources)]


def traced(request: dict[str, Any]) -> dict[str, Any]:
    """Load the tests again and run them.

    Return all functions that are called; the indices of those that loading calls; and the name, status, seconds and
    indices of each test.
    """
    calls = Calls(request["folder"], request["sources"])
    calls.start()
    tests = load_again(request["folder"])
    indices: dict[tuple[str, int], int] = {}
    loading = [indices.setdefault(place, len(indices)) for place in calls.take()]
    outcomes: list[tuple[str, str, float, list[int]]] = []
    began = seconds()

    def report(name: str, status: str, _: str) -> None:
        nonlocal began
        called = [indices.setdefault(place, len(indices)) for place in calls.take()]
        outcomes.append((name, status, seconds() - began, called))
        began = seconds()

    tests.run(list(tests.TESTS), report, False)
    return {"functions": list(indices), "loading": loading, "tests": outcomes}


def seconds() -> float:
    """Return the time, without that which this process waited for a processor: what tests use, and what they sleep."""
    try:
        with open("/proc/self/schedstat") as file:
            waited = int(file.read().split()[1]) / 1e9
    except OSError:
        waited = 0.0
    return time.monotonic() - waited


def tested(request: dict[str, Any], program: types.CodeType) -> dict[str, Any]:
    """Put the edited file into effect, run the tests, and return their outcomes."""
    file = request["folder"] + "/" + request["file"]
    swapped = bool(request["method"]) and swap(program, file, request["method"])
    if not request["covered"]:
        lines = request["text"].splitlines(keepends=True)
        # Without a time, the entry isn't compared with the file.
        linecache.cache[file] = (len(request["text"]), None, lines, file)
        if not swapped:
            import_edited(program, file)
    tests = sys.modules[TESTS] if swapped else load_again(request["folder"])
    if request["must_fail"]:
        tests.fail_at_end(request["must_fail"])
    if "test" in request:
        path = request["folder"] + "/" + request["test"]["file"]
        swap(compile(request["test"]["text"], path, "exec", dont_inherit=True), path, request["test"]["method"])
    outcomes: list[tuple[str, str, str]] = []
    before = callables(tests.namespaces(request["tests"]))
    report = lambda *outcome: outcomes.append((*outcome[:2], end_of(outcome[2])))  # noqa: E731
    tests.run(request["tests"], report, request["fail_fast"])
    after = callables(tests.namespaces(request["tests"]))
    intact = all(value is after.get(name) for name, value in before.items())
    return {"swapped": swapped, "intact": intact, "tests": outcomes}


def end_of(message: str) -> str:
    """Return the end of a long message, from a white space on, since a part of a path couldn't be hidden."""
    return message if len(message) <= MOST_CHARACTERS else message[-MOST_CHARACTERS:].split(None, 1)[-1]


def callables(namespaces: list[Any]) -> dict[Any, Any]:
    """Return the functions and classes in some namespaces, and the code of the functions, each by a unique name."""
    found = {(number, name): value for number, names in enumerate(namespaces) for name, value in list(names.items())}
    found = {name: value for name, value in found.items() if callable(value)}
    return {**found, **{("code", *name): getattr(value, "__code__", None) for name, value in found.items()}}


def main(program: types.CodeType) -> None:
    """Answer the request on standard input, and end the process."""
    request = json.loads(sys.stdin.buffer.read())
    answers = os.dup(1)
    os.dup2(2, 1)
    sys.modules[TESTS].pin()
    if request["task"] == "list":
        answer = {"names": list(sys.modules[TESTS].TESTS)}
    else:
        answer = traced(request) if request["task"] == "trace" else tested(request, program)
    text = json.dumps({"key": request["key"], **answer}).encode()
    while text:
        text = text[os.write(answers, text) :]
    os._exit(0)


if "program" in globals():
    main(globals()["program"])
