"""Programs that do what real programs do: how they read, print, end, recurse and clean up."""

# ruff: noqa: E501 - a program stands on one line beside its name

# name -> (program, input)
HABITS: dict[str, tuple[str, str]] = {
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
}  # fmt: skip
