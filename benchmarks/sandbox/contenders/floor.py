"""The floor: a warm interpreter forks, the child runs code that is compiled already, the parent waits.

Nothing is isolated or limited. This is the least cost of any design with a process per test.
"""

import gc
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import types

_codes: "list[types.CodeType]" = []
_stdin = _stdout = -1


def start(options: "dict[str, str]") -> None:
    """Import what the workload imports, and freeze it as a careful zygote would."""
    global _stdin, _stdout
    if options.get("packages"):
        sys.path.append(options["packages"])
    for module in filter(None, options.get("modules", "").split(",")):
        __import__(module)
    _stdin, _stdout = os.memfd_create("stdin"), os.memfd_create("stdout")
    gc.collect()
    gc.freeze()


def prepare(programs: "list[str]", _inputs: "list[str]", _outputs: "list[str]") -> None:
    """Compile."""
    _codes[:] = [compile(program, "program.py", "exec") for program in programs]


def run(_programs: "list[str]", inputs: "list[str]", outputs: "list[str]") -> int:
    """Run each program on each input."""
    pairs = [(text.encode(), output.encode()) for text, output in zip(inputs, outputs, strict=True)]
    return sum(_one(code, text) == output for code in _codes for text, output in pairs)


def _one(code: "types.CodeType", text: bytes) -> bytes:
    os.ftruncate(_stdin, 0)
    os.ftruncate(_stdout, 0)
    os.pwrite(_stdin, text, 0)
    os.lseek(_stdin, 0, 0)
    os.lseek(_stdout, 0, 0)
    pid = os.fork()
    if pid == 0:
        os.dup2(_stdin, 0)
        os.dup2(_stdout, 1)
        exec(code, {"__name__": "__main__"})
        sys.stdout.flush()
        os._exit(0)
    os.waitpid(pid, 0)
    return os.pread(_stdout, 1 << 16, 0)
