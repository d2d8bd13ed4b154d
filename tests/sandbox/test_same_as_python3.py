"""A program in the sandbox behaves as `python3 program.py < input` does: each case runs in both."""

# ruff: noqa: E501 - a program stands on one line beside its name

import asyncio
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from alpha_codium.limits import Limits
from alpha_codium.sandbox.portable import environment_of
from alpha_codium.verdict import Report
from tests.sandbox.backends import BACKENDS, Backend

# What every backend keeps at least of what a program says on stderr.
STDERR_KEPT = 64 * 1024

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
    "its own arguments": ("import sys\nprint(sys.argv, sys.flags.isolated, sys.flags.optimize)", ""),
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
    "recursion from the top of the module": (
        "n = 0\ndef f():\n    global n\n    n += 1\n    f()\ntry: f()\nexcept RecursionError: print(n)", "",
    ),
    "the recursion that a limit of 3000 leaves": (
        "import sys\nsys.setrecursionlimit(3000)\ndef f(n):\n    try: return f(n + 1)\n    except RecursionError: return n\nprint(f(0))", "",
    ),
    "the recursion that a limit of 100 leaves in a thread": (
        "import sys, threading\nsys.setrecursionlimit(100)\ndef f(n):\n    try: return f(n + 1)\n    except RecursionError: return n\n"
        "t = threading.Thread(target=lambda: print(f(0)))\nt.start(); t.join()", "",
    ),
    "the recursion of repr": (
        "for k in range(150, 1200):\n    y = []\n    for i in range(k): y = [y]\n"
        "    try: repr(y)\n    except RecursionError: print(k); break", "",
    ),
    "the recursion limit as it stands": ("import sys\nprint(sys.getrecursionlimit())", ""),
    "a stack that overflows": (
        "import sys, threading\nsys.setrecursionlimit(10**9)\nthreading.stack_size(2**20)\nclass A:\n    def __repr__(self): return repr(self)\n"
        "t = threading.Thread(target=lambda: repr(A()))\nt.start(); t.join()", "",
    ),
    "the frames below it": (
        "import sys, inspect\nf, n = sys._getframe(), 0\nwhile f: n += 1; f = f.f_back\nprint(n, len(inspect.stack()), inspect.stack()[-1].function)", "",
    ),
    "traceback.print_stack": ("import traceback\ndef f(): traceback.print_stack()\nf()", ""),
    "traceback.print_exc": (
        "import traceback\ndef f(x): return g(x)\ndef g(x): return 1 // x\ntry: f(0)\nexcept ZeroDivisionError: traceback.print_exc()", "",
    ),
    "traceback.extract_tb": (
        "import sys, traceback\ntry: {}['x']\nexcept KeyError: print([tuple(f)[1:] for f in traceback.extract_tb(sys.exc_info()[2])])", "",
    ),
    "a traceback with carets and many lines": ("def f(n): return 1 + f(n - 1) * (2 if n > 0 else 1 / 0)\nf(5)", ""),
    "an exception raised while another is handled": ("def f():\n    try: int('a')\n    except ValueError: {}['k']\nf()", ""),
    "a cause that is suppressed": ("try: int('a')\nexcept ValueError: raise KeyError(1) from None", ""),
    "an exception group": ("raise ExceptionGroup('g', [ValueError(1), TypeError(2)])", ""),
    "an exception with notes": ("e = ValueError('v')\ne.add_note('n1\\nn2')\nraise e", ""),
    "a syntax error in eval": ("x = eval('1 + (2')", ""),
    "a syntax error in exec": ("def f(): exec('a = 1\\nb = = 2')\nf()", ""),
    "a syntax error in a module that it writes": ("open('helper.py', 'w').write('x = = 1\\n')\nimport helper", ""),
    "a name that is nearly there": ("value = 1\nprint(valeu)", ""),
    "an attribute that is nearly there": ("import math\nmath.sqr(2)", ""),
    "a module that is not there": ("import nump", ""),
    "an excepthook of its own": ("import sys\nsys.excepthook = lambda *a: print('hook', a[0].__name__)\n1 / 0", ""),
    "an excepthook that fails": ("import sys\nsys.excepthook = lambda *a: 1 / 0\n[][1]", ""),
    "a traceback limit": ("import sys\nsys.tracebacklimit = 1\ndef f(): g()\ndef g(): 1 / 0\nf()", ""),
    "an exception that can't be printed": ("class E(Exception):\n    def __str__(self): raise ValueError\nraise E", ""),
    "a KeyboardInterrupt": ("raise KeyboardInterrupt", ""),
    "an exit in a thread": ("import threading, sys\nt = threading.Thread(target=sys.exit, args=(3,))\nt.start(); t.join()\nprint('on')", ""),
    "an exit status above 255": ("import sys\nsys.exit(259)", ""),
    "an exit status that is no int": ("import sys\nsys.exit(2.5)", ""),
    "an exit in an atexit handler": ("import atexit, sys\natexit.register(sys.exit, 3)\nprint(1)", ""),
    "os._exit in an atexit handler": ("import atexit, os\natexit.register(os._exit, 3)\nprint('lost')", ""),
    "a crash in an atexit handler": ("import atexit\natexit.register(lambda: 1 / 0)\nprint(1)", ""),
    "atexit handlers from the last to the first": ("import atexit\nfor i in range(3): atexit.register(print, i)", ""),
    "a thread is waited for before atexit": (
        "import atexit, threading\natexit.register(print, 'atexit')\n"
        "threading.Thread(target=lambda: (threading.main_thread().join(), print('thread'))).start()", "",
    ),
    "a finaliser after a crash": ("class A:\n    def __del__(self): print('gone')\na = A()\n1 / 0", ""),
    "a finaliser in a cycle": ("class A:\n    def __del__(self): print('gone')\na = A(); a.me = a; del a", ""),
    "a finaliser kept by another module": ("import math\nclass A:\n    def __del__(self): print('gone')\nmath.kept = A()", ""),
    "a finaliser kept by sys": ("import sys\nclass A:\n    def __del__(self): print('gone')\nsys.kept = A()", ""),
    "a finaliser that raises": ("class A:\n    def __del__(self): 1 / 0\na = A()", ""),
    "a finaliser of a class made by type()": ("A = type('A', (), {'__' + 'del__': lambda self: print('gone')})\na = A()", ""),
    "no finaliser after os._exit": ("import os\nclass A:\n    def __del__(self): print('gone')\na = A()\nos._exit(0)", ""),
    "a finaliser after sys.exit": ("import sys\nclass A:\n    def __del__(self): print('gone', flush=True)\na = A()\nsys.exit(4)", ""),
    "weakref.finalize at the end": ("import weakref\nclass A: pass\na = A()\nweakref.finalize(a, print, 'finalised')", ""),
    "a weakref's callback at the end": ("import weakref\nclass A: pass\na = A()\nr = weakref.ref(a, lambda r: print('dead'))", ""),
    "a generator closed at the end": ("def g():\n    try: yield\n    finally: print('closed')\nx = g(); next(x)", ""),
    "a generator in a with statement": ("import contextlib\n@contextlib.contextmanager\ndef c():\n    try: yield 1\n    finally: print('left')\nx = c(); x.__enter__()", ""),
    "a second file on stdout left open": ("f = open(1, 'w', closefd=False)\nf.write('unflushed')\nprint('a')", ""),
    "os.fdopen of stdout left open": ("import os\nf = os.fdopen(1, 'w')\nf.write('unflushed')", ""),
    "a duplicate of stdout left open": ("import os\nf = os.fdopen(os.dup(1), 'w')\nf.write('unflushed')\nprint('first', flush=True)", ""),
    "a stdout of its own": ("import sys, io\nsys.stdout = io.TextIOWrapper(sys.stdout.detach(), encoding='ascii', errors='replace')\nprint('é')", ""),
    "output collected and written at exit": (
        "import atexit, sys, io\nout = io.StringIO()\natexit.register(lambda: sys.__stdout__.write(out.getvalue()))\nsys.stdout = out\nprint('collected')", "",
    ),
    "fast input and output as in contests": (
        "import os, sys\nfrom io import BytesIO, IOBase\nclass FastIO(IOBase):\n    newlines = 0\n"
        "    def __init__(self, file):\n        self._fd = file.fileno(); self.buffer = BytesIO()\n"
        "        self.writable = 'x' in file.mode or 'r' not in file.mode; self.write = self.buffer.write if self.writable else None\n"
        "    def readline(self):\n        while self.newlines == 0:\n            b = os.read(self._fd, max(os.fstat(self._fd).st_size, 8192))\n"
        "            self.newlines = b.count(b'\\n') + (not b); ptr = self.buffer.tell(); self.buffer.seek(0, 2), self.buffer.write(b), self.buffer.seek(ptr)\n"
        "        self.newlines -= 1\n        return self.buffer.readline()\n"
        "    def flush(self):\n        if self.writable: os.write(self._fd, self.buffer.getvalue()); self.buffer.truncate(0), self.buffer.seek(0)\n"
        "class IOWrapper(IOBase):\n    def __init__(self, file):\n        self.buffer = FastIO(file); self.flush = self.buffer.flush; self.writable = self.buffer.writable\n"
        "        self.write = lambda s: self.buffer.write(s.encode('ascii')); self.readline = lambda: self.buffer.readline().decode('ascii')\n"
        "sys.stdin, sys.stdout = IOWrapper(sys.stdin), IOWrapper(sys.stdout)\ninput = lambda: sys.stdin.readline().rstrip('\\r\\n')\n"
        "n = int(input())\nprint(sum(map(int, input().split())), n)", "3\n1 2 3\n",
    ),
    "a main thread of its own that nobody joins": (
        "import sys, threading\nsys.setrecursionlimit(10**6)\nthreading.stack_size(2**26)\n"
        "def main():\n    def f(n): return n and 1 + f(n - 1)\n    print(f(int(input())))\nthreading.Thread(target=main).start()", "30000\n",
    ),
    "recursion by generators": (
        "from types import GeneratorType\ndef bootstrap(f, stack=[]):\n    def w(*a):\n        if stack: return f(*a)\n        to = f(*a)\n"
        "        while True:\n            if type(to) is GeneratorType: stack.append(to); to = next(to)\n            else:\n"
        "                stack.pop()\n                if not stack: break\n                to = stack[-1].send(to)\n        return to\n    return w\n"
        "@bootstrap\ndef f(n):\n    if n == 0: yield 0\n    yield 1 + (yield f(n - 1))\nprint(f(20000))", "",
    ),
    "output written at once at the end": ("import sys\nout = []\nfor i in range(3): out.append(str(i))\nsys.stdout.write('\\n'.join(out))", ""),
    "os.write of the whole output": ("import os, sys\nos.write(1, '\\n'.join(map(str, range(3))).encode())\nsys.exit()", ""),
    "a closed stdout at exit": ("import os\nprint('lost')\nos.close(1)", ""),
    "a stdout that is None": ("import sys\nsys.stdout = None\nprint('nowhere')", ""),
    "what os._exit keeps of a large output": ("import os\nprint('x' * 10000)\nprint('y' * 100)\nos._exit(0)", ""),
    "what a kill keeps of many lines": ("import os\nfor i in range(5000): print(i)\nos.kill(os.getpid(), 9)", ""),
    "/dev/stdin": ("print(open('/dev/stdin').read().split())", "1 2\n3\n"),
    "/dev/stdin after input": ("print(input())\nprint(open('/dev/stdin').readline())", "1\n2\n"),
    "/dev/stdout": ("f = open('/dev/stdout', 'w')\nf.write('x\\n')", ""),
    "/proc/self/fd/0": ("print(open('/proc/self/fd/0').read())", "abc\n"),
    "/dev/null": ("open('/dev/null', 'w').write('x')\nprint(repr(open('/dev/null').read()))", ""),
    "/dev/urandom": ("print(len(open('/dev/urandom', 'rb').read(8)))", ""),
    "the input read twice by its descriptor": ("a = open(0, closefd=False).read()\nprint(a, repr(open(0).read()))", "1\n"),
    "fileinput": ("import fileinput\nprint([line for line in fileinput.input()])", "a\nb\n"),
    "stdin detached": ("import sys, io\nprint(io.TextIOWrapper(sys.stdin.detach(), newline='').read().split('\\n'))", "a\r\nb\n"),
    "select on stdin": ("import select, sys\nprint(select.select([sys.stdin], [], [], 0)[0] == [sys.stdin])", "a\n"),
    "numbers from a binary buffer": ("import sys\nd = list(map(int, sys.stdin.buffer.read().split()))\nprint(sum(d))", "1 2\r\n3"),
    "a byte order mark in the input": ("print(ascii(input()))", "\ufeffa\n"),
    "a replaced stdin": ("import io, sys\nsys.stdin = io.StringIO(sys.stdin.read())\nprint(input(), input())", "1\n2\n"),
    "faulthandler at an abort": ("import faulthandler, os\nfaulthandler.enable()\ndef f(): os.abort()\nf()", ""),
    "faulthandler.dump_traceback": ("import faulthandler\ndef f(): faulthandler.dump_traceback()\nf()", ""),
    "a segmentation fault": ("import ctypes\nprint('before', flush=True)\nctypes.string_at(0)", ""),
    "help": ("help(len)", ""),
    "the builtins of site": ("print(exit, quit, copyright, type(license).__name__, type(help).__name__)", ""),
    "the names of builtins": ("import builtins\nprint(sorted(vars(builtins)))", ""),
    "sys.modules['__main__']": (
        "import sys, __main__\nx = 5\nprint(sys.modules['__main__'].x, __main__ is sys.modules[__name__], vars(__main__) is globals())", "",
    ),
    "the name of its classes": ("class C: pass\nprint(C, C.__module__, C().__class__.__qualname__)", ""),
    "sys.argv": ("import sys\nprint(sys.argv, sys.orig_argv[1:])", ""),
    "__file__": ("import os\nprint(os.path.isabs(__file__), os.path.exists(__file__), open(__file__).read())", ""),
    "the code object of the module": ("import sys\nc = sys._getframe().f_code\nprint(c.co_name, c.co_firstlineno, c.co_filename == __file__)", ""),
    "its loader": ("print(type(__loader__).__name__, __spec__, __package__, __doc__)", ""),
    "inspect.getsource of a class": ("import inspect\nclass A:\n    x = 1\n    def f(self): return 2\nprint(inspect.getsource(A), inspect.getsourcefile(A).rsplit('/')[-1])", ""),
    "inspect.getmodule": ("import inspect\ndef f(): pass\nprint(inspect.getmodule(f).__name__)", ""),
    "runpy of itself": ("import runpy\nif __name__ == '__main__': print(runpy.run_path(__file__, run_name='again')['__name__'])", ""),
    "type hints of its own names": (
        "from __future__ import annotations\nimport typing\nclass A: pass\ndef f(x: A) -> list[A]: pass\nprint(typing.get_type_hints(f))", "",
    ),
    "doctest of itself": ("def f():\n    \"\"\"\n    >>> f()\n    1\n    \"\"\"\n    return 1\nimport doctest\nprint(doctest.testmod())", ""),
    "unittest of itself": (
        "import unittest, sys\nclass T(unittest.TestCase):\n    def test_a(self): self.assertEqual(1, 1)\n"
        "unittest.TextTestRunner(stream=open('log', 'w')).run(unittest.defaultTestLoader.loadTestsFromName('T', sys.modules['__main__']))\n"
        "print(open('log').read().splitlines()[0])", "",
    ),
    "copies of its own objects": (
        "import copy, pickle\nclass P:\n    def __init__(self): self.x = [1]\np = P(); q = copy.deepcopy(p); r = pickle.loads(pickle.dumps(p, 0))\nprint(q.x, r.x, q.x is p.x)", "",
    ),
    "a pool of threads": ("from multiprocessing.pool import ThreadPool\nwith ThreadPool(2) as p: print(p.map(abs, [-1, -2]))", ""),
    "a process of multiprocessing with a queue": (
        "import multiprocessing as m\ndef f(q): q.put(7)\n"
        "if __name__ == '__main__':\n    c = m.get_context('fork'); q = c.SimpleQueue(); p = c.Process(target=f, args=(q,)); p.start(); print(q.get()); p.join(); print(p.exitcode)", "",
    ),
    "a pool of processes": (
        "from concurrent.futures import ProcessPoolExecutor\nimport multiprocessing as m\ndef f(x): return x * x\n"
        "if __name__ == '__main__':\n    with ProcessPoolExecutor(2, mp_context=m.get_context('fork')) as p: print(list(p.map(f, range(3))))", "",
    ),
    "a pipe to a child": ("import os\nr, w = os.pipe()\nif os.fork() == 0: os.write(w, b'child'); os._exit(0)\nos.close(w); print(os.read(r, 9)); os.wait()", ""),
    "what was not flushed before a fork is written twice": ("import os\nprint('twice')\nif os.fork(): os.wait()", ""),
    "a queue between threads": (
        "import queue, threading\nq = queue.Queue()\nt = threading.Thread(target=lambda: [q.put(i) for i in range(3)] + [q.put(None)])\nt.start()\nprint(list(iter(q.get, None)))\nt.join()", "",
    ),
    "asyncio with threads": ("import asyncio\nprint(asyncio.run(asyncio.to_thread(sum, [1, 2])))", ""),
    "asyncio timers": ("import asyncio\nasync def m():\n    l = asyncio.get_running_loop()\n    f = l.create_future(); l.call_later(0.001, f.set_result, 7)\n    print(await f)\nasyncio.run(m())", ""),
    "signals blocked at a start": ("import signal\nprint(signal.pthread_sigmask(signal.SIG_BLOCK, []))", ""),
    "the handlers of all signals": ("import signal\nprint([(int(s), str(signal.getsignal(s))) for s in sorted(signal.valid_signals())])", ""),
    "timers at a start": ("import signal\nprint(signal.set_wakeup_fd(-1), signal.getitimer(signal.ITIMER_REAL), signal.alarm(0))", ""),
    "a broken pipe is an error and no signal": ("import os\nr, w = os.pipe()\nos.close(r)\ntry: os.write(w, b'x')\nexcept BrokenPipeError: print('broken')", ""),
    "no children to wait for": ("import os\ntry: print(os.wait())\nexcept ChildProcessError: print('none')", ""),
    "raising a signal": ("import signal\nsignal.raise_signal(signal.SIGHUP)", ""),
    "a signal handler that raises": (
        "import os, signal\ndef stop(n, f): raise TimeoutError(n)\nsignal.signal(signal.SIGALRM, stop)\nsignal.setitimer(0, 0.01)\nwhile True: pass", "",
    ),
    "threads have signal handlers of the main thread": (
        "import signal, threading\nsignal.signal(signal.SIGUSR1, lambda *a: print(threading.current_thread().name))\n"
        "t = threading.Thread(target=signal.raise_signal, args=(signal.SIGUSR1,)); t.start(); t.join()", "",
    ),
    "core files are off": ("import resource\nprint(resource.getrlimit(resource.RLIMIT_CORE)[0] in (0, -1))", ""),
    "the warnings filters": ("import warnings, sys\nprint(warnings.filters, sys.warnoptions)", ""),
    "a deprecation warning": ("import warnings\nwarnings.warn('old', DeprecationWarning)", ""),
    "a warning said once a place": ("import warnings\nfor i in range(3): warnings.warn('careful')", ""),
    "a resource warning is not shown": ("open('x', 'w')\nprint(1)", ""),
    "an escape that is none": ("print(len('\\d'))", ""),
    "sys.path": ("import sys, os\nprint([p for p in sys.path if p != os.getcwd() and not p.endswith('.zip')])", ""),
    "sys.executable and prefix": ("import sys\nprint(sys.executable, sys.prefix, sys.base_prefix, sys.version)", ""),
    "packages of the interpreter": ("import importlib.metadata as m\nprint(sorted(d.name for d in m.distributions())[:3])", ""),
    "the environment": ("import os\nprint(sorted(os.environ), os.environ['PYTHONHASHSEED'], os.environ['PATH'])", ""),
    "home and the folder for temporary files": ("import os, tempfile\nprint(os.path.expanduser('~') == os.getcwd() == tempfile.gettempdir())", ""),
    "the hash of texts and bytes": ("import datetime\nprint(hash('abc'), hash(b'abc'), hash((1, 'a')), hash(datetime.date(2000, 1, 1)), hash(3.5))", ""),
    "the order of a frozenset of texts": ("print(list(frozenset(map(str, range(50)))))", ""),
    "garbage collection": ("import gc\nprint(gc.isenabled(), gc.get_threshold(), gc.get_debug(), gc.callbacks)", ""),
    "modules that are loaded at a start": ("import sys\nprint([m for m in ('numpy', 'subprocess', 'socket', 'program', 'alpha_codium') if m in sys.modules])", ""),
    "tracing and profiling": ("import sys\nprint(sys.gettrace(), sys.getprofile(), sys.getswitchinterval())", ""),
    "the longest int that may be read": ("import sys\nprint(sys.get_int_max_str_digits(), int('9' * 4300) > 0)\nint('9' * 4301)", ""),
    "the decimal context": ("import decimal\nprint(decimal.getcontext())", ""),
    "the locale": ("import locale\nprint(locale.setlocale(locale.LC_ALL), locale.getpreferredencoding(False), f'{12345.5:n}')", ""),
    "the time zone": ("import time, datetime\nprint(time.tzname, datetime.datetime.fromtimestamp(0))", ""),
    "clocks": ("import time\nprint(time.monotonic() > 0, 0 <= time.process_time() < 2, time.time() > 1e9, time.thread_time() < 2)", ""),
    "a module docstring": ("'''doc'''\nprint(__doc__)", ""),
    "annotations of the module": ("x: int = 1\nprint(__annotations__)", ""),
    "dir of the module": ("x = 1\nprint(dir(), vars() is globals() is locals())", ""),
    "deleting a dunder name": ("del __file__\nprint('__file__' in globals())\n1 / 0", ""),
    "a name that is changed": ("__name__ = 'other'\nclass A: pass\nprint(A)", ""),
    "__import__": ("m = __import__('os.path', fromlist=['join'])\nprint(m.join('a', 'b'))", ""),
    "sqlite": ("import sqlite3\nprint(sqlite3.connect(':memory:').execute('select 1 + 1').fetchone())", ""),
    "ctypes": ("import ctypes\nprint(ctypes.CDLL(None).abs(-5), ctypes.sizeof(ctypes.c_long))", ""),
    "a callback of ctypes": ("import ctypes\nf = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)(lambda x: x + 1)\nprint(f(1))", ""),
    "mmap of nothing": ("import mmap\nm = mmap.mmap(-1, 4096)\nm[:3] = b'abc'\nprint(m[:3])", ""),
    "a temporary file": ("import tempfile\nwith tempfile.TemporaryFile('w+') as f:\n    f.write('x'); f.seek(0); print(f.read())", ""),
    "a temporary folder": ("import tempfile, os\nwith tempfile.TemporaryDirectory() as d: print(os.listdir(d), os.path.dirname(d) == os.getcwd())", ""),
    "files of its own": (
        "import os\nos.mkdir('d'); open('d/f', 'w').write('x'); os.rename('d/f', 'd/g'); print(os.listdir('d'), os.stat('d/g').st_size)\nos.remove('d/g'); os.rmdir('d')", "",
    ),
    "shelve": ("import shelve\nwith shelve.open('db') as s: s['k'] = 1\nwith shelve.open('db') as s: print(s['k'])", ""),
    "links and modes of files": ("import os\nopen('a', 'w').write('x')\nos.symlink('a', 'b'); os.link('a', 'c'); os.chmod('a', 0o600); print(open('b').read(), oct(os.stat('c').st_mode))", ""),
    "who it is": ("import os\nprint(os.getuid() == os.geteuid(), os.access('.', os.W_OK), os.access('program.py', os.R_OK))", ""),
    "its processors": ("import os\nprint(os.cpu_count() > 0, len(os.sched_getaffinity(0)) > 0)", ""),
    "a host's name and kind": ("import platform, sys\nprint(sys.platform, platform.machine(), platform.python_implementation())", ""),
    "a comment at the end": ("print(1)\n# the end", ""),
    "spaces at the end": ("if 1:\n    print(1)\n    ", ""),
    "an empty program": ("", "unread\n"),
    "old mac line ends in the source": ("print(1)\rprint(2)\r", ""),
    "a source that says it is latin-1": ("# coding: latin-1\nprint(ascii('é'))", ""),
    "a very long line of source": ("x = [" + "1, " * 50000 + "]\nprint(len(x))", ""),
    "deeply nested source": ("x = " + "(" * 90 + "1" + ")" * 90 + "\nprint(x)", ""),
    "many constants": ("x = {" + ", ".join(f"'k{i}': {i}" for i in range(5000)) + "}\nprint(len(x))", ""),
    "numbers that only a float can say": ("print(1e400, -0.0, float('nan'), 0.1 + 0.2, 10 ** 22 / 1.0, 2 ** 0.5)", ""),
    "statistics, fractions and decimals": (
        "import statistics, fractions, decimal\nprint(statistics.median([1, 3, 2]), fractions.Fraction(1, 3), decimal.Decimal(1) / 7)", "",
    ),
    "a closed stderr": ("import sys\nsys.stderr.close()\n1 / 0", ""),
    "a closed stderr and a text to exit with": ("import sys\nsys.stderr.close()\nsys.exit('said')", ""),
    "no stderr and a text to exit with": ("import sys\nsys.stderr = None\nsys.exit('said')", ""),
    "an exit with a surrogate": ("import sys\nsys.exit('\\ud800')", ""),
    "a stdout that fails": ("import os\nos.dup2(os.open('/dev/full', os.O_WRONLY), 1)\nprint('x')", ""),
    "a stdout of its own that fails": (
        "import sys\nclass A:\n    def write(self, s): pass\n    def flush(self): raise ValueError('f')\nsys.stdout = A()\nprint(1)", "",
    ),
    "a stderr of its own that fails": (
        "import sys\nclass A:\n    def write(self, s): raise ValueError('w')\n    def flush(self): raise ValueError('f')\nsys.stderr = A()\n1 / 0", "",
    ),
    "a trace function": ("import sys\n@sys.settrace\ndef tr(f, e, a): print(f.f_code.co_name, e)\ndef g(): pass\ng()", ""),
    "a profile function": (
        "import sys\nsys.setprofile(lambda f, e, a: e[:2] == 'c_' or print(f.f_code.co_name, e))\ndef g(): pass\ng()", "",
    ),
    "no modules": ("import sys\nsys.modules.clear()\nprint(1)", ""),
    "no builtins": ("del __builtins__\n1 / 0", ""),
    "no import": ("import builtins\nbuiltins.__import__ = None\nprint(1)", ""),
    "an atexit handler that recurses": (
        "import atexit\ndef f(n):\n    try: return f(n + 1)\n    except RecursionError: return n\natexit.register(lambda: print(f(0)))", "",
    ),
    "recursion in a thread": (
        "import threading\ndef f(n):\n    try: return f(n + 1)\n    except RecursionError: return n\n"
        "t = threading.Thread(target=lambda: print(f(0))); t.start(); t.join()", "",
    ),
    "recursion in asyncio": (
        "import asyncio\ndef f(n):\n    try: return f(n + 1)\n    except RecursionError: return n\nasync def m(): print(f(0))\nasyncio.run(m())", "",
    ),
    "a callback of the garbage collector": ("import gc\ngc.callbacks.append(lambda p, i: print(p))", ""),
    "a coroutine that nobody awaited": ("async def f(): pass\nf()", ""),
    "a task that nobody awaited": (
        "import asyncio\nasync def f(): await asyncio.sleep(100)\nasync def m(): asyncio.create_task(f())\nasyncio.run(m())", "",
    ),
    "an executor that is not shut down": (
        "from concurrent.futures import ThreadPoolExecutor\np = ThreadPoolExecutor(2)\nprint(p.submit(lambda: 7).result())", "",
    ),
    "a suspended lambda": ("x = lambda: (yield)\ng = x(); next(g)", ""),
    "logging to a file": ("import logging\nlogging.basicConfig(filename='log')\nlogging.error('x')\nprint(open('log').read())", ""),
    "a file in an object left open": (
        "class A:\n    def __init__(self): self.f = open(1, 'w', closefd=False); self.f.write('x')\na = A()", "",
    ),
    "a file of a class left open": ("class A:\n    f = open(1, 'w', closefd=False)\n    f.write('x')", ""),
    "a file kept by a module left open": ("import math\nmath.f = open(1, 'w', closefd=False)\nmath.f.write('x')", ""),
    "a file kept by sys left open": ("import sys\nsys.f = open(1, 'w', closefd=False)\nsys.f.write('x')", ""),
    "finalisers see the variables of the module, in order": (
        "class A:\n    def __init__(self, n): self.n = n\n    def __del__(self): print(self.n, x, z, A)\n"
        "x = 5\na = A(1)\n_b = A(2)\nc = A(3); c.me = c\nz = 6", "",
    ),
    "a finaliser after a KeyboardInterrupt": ("class A:\n    def __del__(self): print('gone')\na = A()\nraise KeyboardInterrupt", ""),
    "a generator after a KeyboardInterrupt": ("def g():\n    try: yield\n    finally: print('closed')\nx = g(); next(x)\nraise KeyboardInterrupt", ""),
    "its __file__ at the end": ("import atexit\natexit.register(lambda: print('__file__' in globals(), '__cached__' in globals()))", ""),
}  # fmt: skip

# Without isolation it is the portable backend.
COMPARED = ("local", "portable")
# A jail runs no other program.
EXECUTES = {"a subprocess"}
# What needs more than one process, which a jail gives only where it can count what they use together.
FORKS = {
    "multiprocessing", "fork and wait", "a process of multiprocessing with a queue", "a pool of processes",
    "a pipe to a child", "what was not flushed before a fork is written twice",
}  # fmt: skip
# What is known to differ in the local backend, and why.
BELOW = "the script of the worker stands below the program, as its caller"
KNOWN = {
    "a finaliser after a KeyboardInterrupt": "it is ended by the signal before its variables go",
    "a generator after a KeyboardInterrupt": "it is ended by the signal before its variables go",
    "the frames below it": BELOW,
    "traceback.print_stack": BELOW,
    "faulthandler at an abort": BELOW,
    "faulthandler.dump_traceback": BELOW,
    "recursion in a thread": "the limit is corrected by what stands below the main thread",
    "the recursion that a limit of 100 leaves in a thread": "the limit is corrected by what stands below the main thread",
    "an atexit handler that recurses": "less stands below it than below the program",
}

Outcomes = dict[str, tuple[Report, "subprocess.CompletedProcess[bytes]"]]


@pytest.fixture(scope="module", params=COMPARED)
def outcomes(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Outcomes:
    """What came of the cases that are asked for, in one open sandbox and under the real interpreter."""
    items = (getattr(item, "callspec", None) for item in request.session.items)
    names = {item.params["name"] for item in items if item is not None and item.params.get("name") in CASES}
    if request.param == "local":
        names -= EXECUTES
    return asyncio.run(all_outcomes(BACKENDS[request.param], sorted(names), tmp_path_factory.mktemp("real")))


async def all_outcomes(backend: Backend, names: Sequence[str], folder: Path) -> Outcomes:
    turns = asyncio.Semaphore(2)

    async def both(number: int, name: str) -> "tuple[Report, subprocess.CompletedProcess[bytes]]":
        program, text = CASES[name]
        async with turns:
            real = asyncio.to_thread(run_for_real, program, text, folder / str(number))
            return await asyncio.gather(sandbox.run(program, [text], limits=Limits(wall_seconds=60)), real)

    async with backend.open() as sandbox:
        return dict(zip(names, await asyncio.gather(*map(both, range(len(names)), names)), strict=True))


@pytest.mark.parametrize("name", CASES)
def test_same_as_python3(request: pytest.FixtureRequest, outcomes: Outcomes, name: str) -> None:
    if name in KNOWN and request.node.callspec.params["outcomes"] == "local":
        request.applymarker(pytest.mark.xfail(reason=KNOWN[name], strict=True))
    if name not in outcomes:
        pytest.skip("a jail runs no other program")
    report, real = outcomes[name]
    assert report.compiled, report.compilation
    execution = report.executions[0]
    if name in FORKS and "BlockingIOError" in execution.stderr:
        pytest.skip("this machine gives no cgroup that counts what processes use together")
    code, number = (real.returncode, None) if real.returncode >= 0 else (None, -real.returncode)
    assert neutral(execution.stdout) == neutral(real.stdout.decode("utf-8", "replace"))
    assert (execution.exit_code, execution.signal) == (code, number)
    assert same_end(execution.stderr, real.stderr)


def run_for_real(program: str, text: str, folder: Path) -> "subprocess.CompletedProcess[bytes]":
    """`python3 program.py < input`, in a folder with nothing else in it; memory alone bounds the stack, as on contest judges."""
    source, stdin, work = folder / "work" / "program.py", folder / "stdin", folder / "work"
    work.mkdir(parents=True)
    source.write_bytes(program.encode("utf-8", "replace"))
    stdin.write_bytes(text.encode("utf-8", "replace"))
    with stdin.open("rb") as file:
        return subprocess.run(
            ["prlimit", "--stack=unlimited", sys.executable, "program.py"],
            stdin=file, capture_output=True, cwd=work, env=environment_of(work), timeout=60, check=False,
        )  # fmt: skip


def neutral(text: str) -> str:
    """A text without what differs between any two runs: folders, addresses, counts of references."""
    text = re.sub(r"/(?:[^\s\"'/]+/)*(program|helper)\.py", r"\1.py", text)
    return re.sub(r"0x[0-9a-f]+|(?<=refcount : )\d+", "N", text)


def same_end(stderr: str, real: bytes, neutral: Callable[[str], str] = neutral) -> bool:
    """Whether a program said the same on stderr; of what is very long, a sandbox keeps the end."""
    given, wanted = neutral(stderr), neutral(real.decode("utf-8", "replace"))
    if len(real) >= STDERR_KEPT and given:
        given = given.partition("\n")[2]
        wanted = wanted[-len(given) :]
    assert given == wanted
    return True
