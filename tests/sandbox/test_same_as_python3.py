"""A program in the sandbox behaves as `python3 program.py < input` does: each case runs in both."""

# ruff: noqa: E501 - a program stands on one line beside its name

import re
import subprocess
import sys
from pathlib import Path

import pytest

from alpha_codium.limits import Limits
from alpha_codium.sandbox import Sandbox
from alpha_codium.sandbox.portable import environment_of

# name -> (program, input)
CASES: dict[str, tuple[str, str]] = {
    "open(0) reads the input": ("print(open(0).read().split())", "1 2\n3\n"),
    "sys.stdin.buffer": ("import sys\nprint(sys.stdin.buffer.read())", "a\r\nb\xe9\n"),
    "sys.stdin.buffer.readline goes on": ("import sys\nr = sys.stdin.buffer.readline\nprint(r(), r(), r())", "1\n2\n"),
    "os.read of the size of the input": ("import os\nprint(os.read(0, os.fstat(0).st_size))", "12 34\n56\n"),
    "os.read in pieces": ("import os\nwhile b := os.read(0, 3): print(b)", "12345678"),
    "iteration over stdin": ("import sys\nfor line in sys.stdin: print(repr(line))", "a\nb\r\nc"),
    "mmap of the input": ("import mmap\nprint(mmap.mmap(0, 0, prot=mmap.PROT_READ)[:])", "abc\n"),
    "seeking in the input": ("import sys\nprint(input()); sys.stdin.seek(0); print(input())", "a\nb\n"),
    "readlines after input": ("import sys\nprint(input(), sys.stdin.readlines())", "a\nb\nc"),
    "no newline at the end": ("print(repr(input()))", "abc"),
    "an empty input": ("import sys\nprint(repr(sys.stdin.read()))", ""),
    "input at the end is an EOFError": ("input()", ""),
    "input with a prompt": ("print(input('prompt> '))", "x\n"),
    "windows line ends": ("import sys\nprint([l for l in sys.stdin], repr(sys.stdin.newlines))", "1 2\r\n3\r\n"),
    "a carriage return alone": ("print(repr(input()))", "a\rb\n"),
    "NUL bytes in the input": ("import sys\nprint(repr(sys.stdin.read()))", "a\0b\n"),
    "a megabyte line": ("s = input()\nprint(len(s)); print(s)", "x" * 1_000_000 + "\n"),
    "letters beyond ASCII": ("print(input(), 'žluťoučký 漢字 😀')", "ÄÖÜ\n"),
    "print without a newline": ("print(1, end='')", ""),
    "nothing printed": ("", ""),
    "output that is not UTF-8": ("import sys\nsys.stdout.buffer.write(b'a\\xff\\xfeb\\n')", ""),
    "NUL bytes in the output": ("print('a\\0b')", ""),
    "sys.stdout.buffer beside print": (
        "import sys\nprint('a'); sys.stdout.flush(); sys.stdout.buffer.write(b'b\\n')\nprint('c')", "",
    ),
    "os.write beside print": ("import os\nprint('later')\nos.write(1, b'first\\n')", ""),
    "flushed output stays in order": ("import os\nprint('a', flush=True)\nos.write(1, b'b\\n')", ""),
    "sys.exit()": ("import sys\nprint(1)\nsys.exit()", ""),
    "sys.exit(0)": ("import sys\nprint(1)\nsys.exit(0)", ""),
    "sys.exit(7)": ("import sys\nprint(1)\nsys.exit(7)", ""),
    "sys.exit with a text": ("import sys\nsys.exit('wrong')", ""),
    "exit()": ("print(1)\nexit()", ""),
    "quit(2)": ("quit(2)", ""),
    "raise SystemExit": ("raise SystemExit(3)", ""),
    "os._exit loses what was not flushed": ("import os\nprint('lost')\nos._exit(0)", ""),
    "os._exit(5) after a flush": ("import os\nprint('kept', flush=True)\nos._exit(5)", ""),
    "an uncaught exception": ("def f(x):\n    return 1 // x\nprint('before')\nf(0)", ""),
    "a chained exception": ("try:\n    {}[1]\nexcept KeyError as e:\n    raise ValueError('x') from e", ""),
    "an assertion": ("assert 1 == 2, 'no'", ""),
    "assertions are on": ("print(__debug__)", ""),
    "an exception while printing": ("import sys\nsys.stdout.close()\nprint(1)", ""),
    "a recursion error": ("def f(n): return f(n + 1)\nf(0)", ""),
    "atexit handlers": ("import atexit\natexit.register(print, 'bye')\nprint('hi')", ""),
    "atexit after a crash": ("import atexit\natexit.register(print, 'bye')\n1 / 0", ""),
    "a finaliser at the end": ("class A:\n    def __del__(self): print('gone')\na = A()", ""),
    "a file left open is written": (
        "f = open('out', 'w'); f.write('x')\nimport atexit\natexit.register(lambda: print(open('out').read()))", "",
    ),
    "standing as __main__": ("if __name__ == '__main__': print(__name__, __file__.rsplit('/')[-1])", ""),
    "its own arguments": ("import sys\nprint(sys.argv, sys.flags.isolated, sys.flags.no_site)", ""),
    "importing itself": ("import sys\nif __name__ == 'program': print('again')\nelse: import program", ""),
    "inspect.getsource": ("import inspect\ndef f(): return 1\nprint(inspect.getsource(f))", ""),
    "a class that is pickled": (
        "import pickle\nclass P:\n    x = 1\nprint(pickle.loads(pickle.dumps(P())).x, pickle.dumps(P))", "",
    ),
    "a pickled dataclass": (
        "import pickle, dataclasses\n@dataclasses.dataclass\nclass P:\n    x: int\nprint(pickle.loads(pickle.dumps(P(2))))", "",
    ),
    "deep recursion in a big thread": (
        "import sys, threading\nsys.setrecursionlimit(10**6)\nthreading.stack_size(2**27)\n"
        "def f(n): return 0 if n == 0 else 1 + f(n - 1)\n"
        "t = threading.Thread(target=lambda: print(f(200000)))\nt.start(); t.join()", "",
    ),
    "deep recursion in the main thread": (
        "import sys\nsys.setrecursionlimit(10**6)\ndef f(n): return 0 if n == 0 else 1 + f(n - 1)\nprint(f(100000))", "",
    ),
    "the recursion that is left": (
        "def f(n):\n    try: return f(n + 1)\n    except RecursionError: return n\nprint(f(0))", "",
    ),
    "eight threads": (
        "from concurrent.futures import ThreadPoolExecutor\nimport threading\n"
        "b = threading.Barrier(8)\n"
        "with ThreadPoolExecutor(8) as p: print(sorted(p.map(lambda i: b.wait() * 0 + i * i, range(8))))", "",
    ),
    "a daemon thread is not waited for": (
        "import threading, time\nthreading.Thread(target=time.sleep, args=(99,), daemon=True).start()\nprint(1)", "",
    ),
    "a crash in a thread": (
        "import threading\nt = threading.Thread(target=lambda: 1 / 0, name='T')\nt.start(); t.join()\nprint('after')", "",
    ),
    "multiprocessing": (
        "import multiprocessing as m\ndef f(x): return x * x\n"
        "if __name__ == '__main__':\n    with m.get_context('fork').Pool(2) as p: print(p.map(f, range(5)))", "",
    ),
    "a subprocess": ("import subprocess, sys\nprint(subprocess.check_output(['echo', 'x']))", ""),
    "fork and wait": ("import os\npid = os.fork()\nif pid == 0: os._exit(3)\nprint(os.waitstatus_to_exitcode(os.wait()[1]))", ""),
    "an integer with too many digits": ("print(len(str(10 ** 5000)))", ""),
    "set_int_max_str_digits": ("import sys\nsys.set_int_max_str_digits(0)\nprint(len(str(10 ** 5000)))", ""),
    "a signal handler": (
        "import os, signal\nsignal.signal(signal.SIGUSR1, lambda *a: print('got', a[0]))\nos.kill(os.getpid(), signal.SIGUSR1)", "",
    ),
    "an alarm": ("import signal\nsignal.signal(signal.SIGALRM, lambda *a: print('ring'))\nsignal.setitimer(0, 0.01)\nsignal.pause()", ""),
    "signals stand as they do at a start": (
        "import signal\nprint([(s.name, str(signal.getsignal(s))) for s in (2, 13, 15, 25) for s in [signal.Signals(s)]])", "",
    ),
    "SIGINT is a KeyboardInterrupt": (
        "import os, signal, time\ntry:\n    os.kill(os.getpid(), signal.SIGINT); time.sleep(9)\nexcept KeyboardInterrupt: print('ki')", "",
    ),
    "death by a signal": ("import os, signal\nprint(1, flush=True)\nos.kill(os.getpid(), signal.SIGTERM)", ""),
    "abort": ("import os\nos.abort()", ""),
    "the order of a set of texts": ("print(list({'a', 'b', 'c', 'd', 'e'}), hash('x'))", ""),
    "a seeded generator": ("import random\nrandom.seed(1)\nprint(random.random(), random.sample(range(99), 5))", ""),
    "warnings": ("import warnings\nwarnings.warn('careful')\nprint(1)", ""),
    "a syntax warning": ("print(1 is 1)", ""),
    "its folder": ("import os\nprint(os.listdir('.'), os.path.dirname(os.path.abspath(__file__)) == os.getcwd())", ""),
    "sys.path begins with its folder": ("import os, sys\nprint(sys.path[0] == os.getcwd())", ""),
    "a module that it writes": ("open('helper.py', 'w').write('x = 5')\nimport helper\nprint(helper.x)", ""),
    "encodings": ("import sys\nprint(sys.stdin.encoding, sys.stdout.encoding, sys.stdout.errors, sys.getfilesystemencoding())", ""),
    "line buffering": ("import sys\nprint(sys.stdout.line_buffering, sys.stdin.isatty(), sys.stdout.isatty())", ""),
    "a byte order mark": ("\ufeffprint('bom')", ""),
    "windows line ends in the source": ("x = '''a\r\nb'''\r\nif x:\r\n    print(repr(x))\r\n", ""),
    "a coding line": ("# -*- coding: utf-8 -*-\nprint('é')", ""),
    "a form feed": ("x = 1\n\f\nprint(x)", ""),
    "future annotations": ("from __future__ import annotations\ndef f(x: Nope): return x\nprint(f(1), f.__annotations__)", ""),
    "asyncio": ("import asyncio\nasync def m():\n    await asyncio.sleep(0)\n    print('async')\nasyncio.run(m())", ""),
    "lru_cache recursion": (
        "import sys, functools\nsys.setrecursionlimit(10**5)\n@functools.lru_cache(None)\n"
        "def f(n): return n if n < 2 else f(n - 1) + 1\nprint(f(15000))", "",
    ),
    "exec and globals": ("exec('y = 2', globals())\nprint(y, sorted(k for k in globals() if k[0] != '_'))", ""),
    "the dunder names of a module": ("print(sorted(k for k in globals()), __builtins__.__name__, __spec__)", ""),
    "input replaced by readline": ("import sys\ninput = sys.stdin.readline\nprint(repr(input()), repr(input()), repr(input()))", "1\n2"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
async def test_same_as_python3(sandbox: Sandbox, tmp_path: Path, name: str) -> None:
    program, text = CASES[name]
    report = await sandbox.run(program, [text], limits=Limits(wall_seconds=60))
    assert report.compiled, report.compilation
    execution = report.executions[0]
    real = run_for_real(program, text, tmp_path)
    code, number = (real.returncode, None) if real.returncode >= 0 else (None, -real.returncode)
    assert execution.stdout == real.stdout.decode("utf-8", "replace")
    assert (execution.exit_code, execution.signal) == (code, number)
    assert lines_of(execution.stderr) == lines_of(real.stderr.decode("utf-8", "replace"))


def run_for_real(program: str, text: str, folder: Path) -> "subprocess.CompletedProcess[bytes]":
    """`python3 program.py < input`, in a folder with nothing else in it."""
    source, stdin, work = folder / "work" / "program.py", folder / "stdin", folder / "work"
    work.mkdir()
    source.write_bytes(program.encode())
    stdin.write_bytes(text.encode())
    with stdin.open("rb") as file:
        return subprocess.run(
            [sys.executable, "program.py"],
            stdin=file, capture_output=True, cwd=work, env=environment_of(work), timeout=60, check=False,
        )  # fmt: skip


def lines_of(stderr: str) -> list[str]:
    """What was said, without the folders and addresses that differ between any two runs."""
    return [re.sub(r"[^\s\"]*/program\.py", "program.py", line) for line in stderr.splitlines() if "0x" not in line]
