"""Random programs do in the sandbox what they do under `python3 program.py < input`.

1. A program is a list of snippets, each a habit of real programs or an odd corner of the interpreter, in any order,
   some of them wrapped in a function, a thread, a `try`; with a way to end, a source encoding and an input.
2. Every snippet says the same each time it is run: no addresses, no clocks, no races. So the whole of stdout, of
   stderr and the exit status must be the same in both.
   Only how many frames fit under the recursion limit may differ by a few: `test_same_as_python3` has that exactly.
3. Hypothesis shrinks a program that differs to the few snippets that matter, and prints it.
"""

# ruff: noqa: E501 - a snippet stands on one line

import asyncio
import os
import re
import signal
import subprocess
import textwrap
from collections.abc import AsyncIterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, Phase, given, note, settings
from hypothesis import strategies as st

from alpha_codium.limits import Limits
from alpha_codium.sandbox import Sandbox
from alpha_codium.verdict import Execution, Report, Status
from tests.sandbox.backends import BACKENDS
from tests.sandbox.test_same_as_python3 import COMPARED, neutral, run_for_real, same_end

# Set it to try more programs than the usual ones, other ones each time.
MORE = int(os.environ.get("GENCODE_RANDOM_PROGRAMS", "0"))

OUTPUT = (
    "print('plain')",
    "print(1, 2.5, None, sep='|', end='')",
    "print('now', flush=True)",
    "print('ž漢😀', 'tab\\t', 'nul\\0')",
    "print('x' * 5000)",
    "print(*range(3000))",
    "import sys; sys.stdout.write('no newline')",
    "import sys; sys.stdout.write('a\\r\\nb\\rc\\n')",
    "import sys; sys.stdout.buffer.write(b'\\xff\\xfe\\x00 raw\\n')",
    "import sys; print('before'); sys.stdout.flush(); sys.stdout.buffer.write(b'raw\\n'); sys.stdout.buffer.flush()",
    "import sys; sys.stdout.writelines(['l1\\n', 'l2\\n'])",
    "import os; os.write(1, b'straight\\n')",
    "import os, sys; os.write(sys.stdout.fileno(), b'\\x80\\n')",
    "print('\\ud800')",
    "import sys; sys.stdout.reconfigure(errors='backslashreplace'); print('\\udcff')",
    "import sys; sys.stdout.reconfigure(newline='\\r\\n'); print('crlf')",
    "import sys; sys.stdout.reconfigure(encoding='latin-1', errors='replace'); print('é漢')",
    "import sys; sys.stdout.reconfigure(line_buffering=True); print('line')",
    "import sys, io; sys.stdout = io.TextIOWrapper(open(1, 'wb', closefd=False), write_through=True); print('own wrapper')",
    "import io, sys; keep = sys.stdout; sys.stdout = io.StringIO(); print('caught'); got = sys.stdout.getvalue(); sys.stdout = keep; print(got)",
    "import contextlib, io\nwith contextlib.redirect_stdout(io.StringIO()) as f: print('redirected')\nprint(f.getvalue())",
    "open(1, 'w', closefd=False).write('second file\\n')",
    "import sys; sys.stdout = open('out.txt', 'w'); print('elsewhere')",
    "import sys; sys.stdout = None; print('nowhere')",
    "import sys; sys.stdout.close()",
    "import os; os.close(1)",
    "import os; os.dup2(2, 1); print('to stderr')",
    "import pprint; pprint.pprint({'b': list(range(40)), 'a': {'x': 1}})",
)
ERRORS = (
    "import sys; print('err', file=sys.stderr)",
    "import sys; sys.stderr.write('no newline in stderr')",
    "import os; os.write(2, b'\\xff raw err\\n')",
    "import sys; print('\\ud801é', file=sys.stderr)",
    "import warnings; warnings.warn('careful')",
    "import warnings; warnings.warn('old', DeprecationWarning)",
    "import warnings; warnings.simplefilter('error')",
    "import traceback\ntry: [][1]\nexcept IndexError: traceback.print_exc()",
    "import traceback\ntry:\n    try: int('x')\n    except ValueError as e: raise KeyError('k') from e\nexcept KeyError: print(traceback.format_exc())",
    "import sys; sys.stderr = None",
    "import sys; sys.stderr.close()",
    "import sys; sys.excepthook = lambda t, v, b: print('hook', t.__name__, v)",
    "import sys; sys.tracebacklimit = 0",
    "import logging; logging.warning('logged')",
    "import sys; sys.unraisablehook = lambda u: print('unraisable', u.exc_type.__name__)",
)
INPUT = (
    "print(repr(input()))",
    "print(input('prompt> '))",
    "import sys\nfor line in sys.stdin: print(repr(line)); break",
    "import sys; print([l for l in sys.stdin])",
    "import sys; print(repr(sys.stdin.readline()), repr(sys.stdin.read(3)))",
    "import sys; print(sys.stdin.buffer.readline(), sys.stdin.buffer.read(2))",
    "import sys; print(repr(sys.stdin.read()))",
    "print(repr(open(0, closefd=False).read()))",
    "print(open(0, 'rb', closefd=False).read())",
    "print(repr(open(0, newline='', closefd=False).readline()))",
    "import os; print(os.read(0, 5))",
    "import os; print(os.read(0, os.fstat(0).st_size))",
    "import sys; sys.stdin.seek(0); print(repr(sys.stdin.readline()))",
    "import sys; input = sys.stdin.readline; print(repr(input()))",
    "import sys, io; sys.stdin = io.StringIO('given\\n'); print(input())",
    "import fileinput; print([l for l in fileinput.input()])",
    "import sys; print(sys.stdin.tell(), sys.stdin.seekable(), sys.stdin.isatty(), sys.stdin.fileno(), sys.stdin.encoding, sys.stdin.errors)",
    "import os; print(os.lseek(0, 2, 1))",
    "import sys; print(list(map(int, sys.stdin.read().split())))",
    "a, b = map(int, input().split()); print(a + b)",
    "import sys; sys.stdin.close()",
)
RAISES = (
    "raise ValueError('bad\\nvalue')",
    "raise Exception",
    "1 / 0",
    "undefined_name",
    "[].nope",
    "{}['k']",
    "int('x1')",
    "assert 1 == 2, ('tuple', 1)",
    "class Own(Exception): pass\nraise Own('own', 2)",
    "class Odd(Exception):\n    def __str__(self): return 'ž\\ud800'\nraise Odd",
    "class Worse(Exception):\n    def __str__(self): raise RuntimeError('in str')\nraise Worse",
    "class Base(BaseException): pass\nraise Base(1)",
    "try: 1 / 0\nexcept ZeroDivisionError as e: raise OSError(2, 'gone', 'f') from e",
    "try: 1 / 0\nexcept ZeroDivisionError: raise TypeError('while handling')",
    "try: 1 / 0\nexcept ZeroDivisionError: raise TypeError('alone') from None",
    "def deep(n): return deep(n - 1) if n else 1 / 0\ndeep(9)",
    "raise ExceptionGroup('group', [ValueError(1), ExceptionGroup('in', [KeyError('k')])])",
    "e = ValueError('noted'); e.add_note('a note'); raise e",
    "raise KeyboardInterrupt",
    "raise StopIteration(3)",
    "raise 'text'",
    "eval('1 +')",
    "exec('def f(:\\n  pass')",
    "exec('x = 1\\ny = x / 0')",
    "import no_such_module",
    "from math import nothing_there",
    "open('no/such/file')",
    "print(len(str(10 ** 5000)))",
    "int('9' * 4301)",
    "def g():\n    yield 1\n    raise StopIteration\nlist(g())",
    "import json; json.loads('{')",
    "b'\\xff'.decode()",
)
EXITS = (
    "import sys; sys.exit()",
    "import sys; sys.exit(0)",
    "import sys; sys.exit(3)",
    "import sys; sys.exit(256 + 7)",
    "import sys; sys.exit(-1)",
    "import sys; sys.exit(10 ** 30)",
    "import sys; sys.exit('said ž')",
    "import sys; sys.exit(None)",
    "import sys; sys.exit(True)",
    "import sys; sys.exit((1, 2))",
    "import sys; sys.exit(2.5)",
    "exit()",
    "exit(4)",
    "quit('bye')",
    "raise SystemExit",
    "raise SystemExit(9)",
    "raise SystemExit('a', 'b')",
    "class Quit(SystemExit): pass\nraise Quit(6)",
    "import os; os._exit(0)",
    "import os; os._exit(11)",
    "import os, signal; os.kill(os.getpid(), signal.SIGTERM)",
    "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
    "import os; os.abort()",
    "import signal, threading\nif threading.current_thread() is threading.main_thread(): signal.raise_signal(signal.SIGINT)",
    "import signal; signal.raise_signal(signal.SIGUSR1)",
    "import ctypes; ctypes.string_at(0)",
)
ENDINGS = (
    "import atexit; atexit.register(print, 'at exit')",
    "import atexit, os; atexit.register(lambda: os._exit(5))",
    "import atexit; atexit.register(lambda: 1 / 0)",
    "import atexit; atexit.register(exit, 3)",
    "class Gone:\n    def __del__(self): print('gone')\nkept = Gone()",
    "class Loop:\n    def __del__(self): print('loop gone')\nl = Loop(); l.me = l; del l",
    "class Bad:\n    def __del__(self): raise ValueError('in del')\nbad = Bad(); del bad",
    "class Seer:\n    def __init__(self, n): self.n = n\n    def __del__(self): print('seen', self.n, Seer.__name__)\nseer = [Seer(1), Seer(2)]; _hidden = Seer(3)",
    "class Quits:\n    def __del__(self): raise SystemExit(3)\nquits = Quits()",
    "file = open('left.txt', 'w'); file.write('unflushed')",
    "import os; late = os.fdopen(os.dup(1), 'w'); late.write('at the very end\\n')",
    "late2 = open(1, 'w', closefd=False); late2.write('late')",
    "import weakref\nclass W: pass\nw = W(); weakref.finalize(w, print, 'finalised')",
    "import threading\nif threading.main_thread().is_alive(): globals().setdefault('waiting', [threading.main_thread()]).append(threading.Thread(target=lambda t=waiting[-1]: (t.join(), print('after main')))); waiting[-1].start()",
    "import threading; threading.Thread(target=threading.Event().wait, daemon=True).start()",
    "import sys; sys.stdout.write('held back')",
    "def hanging():\n    try: yield\n    finally: print('generator closed')\ngen = hanging(); next(gen)",
    "import contextlib; stack = contextlib.ExitStack(); stack.callback(print, 'never')",
    "import tempfile; tempfile.NamedTemporaryFile(dir='.')",
)
STATE = (
    "import sys; print(sys.argv, len(sys.path) > 1)",
    "import sys; print(sys.getrecursionlimit(), sys.get_int_max_str_digits())",
    "import sys; sys.set_int_max_str_digits(0); print(len(str(10 ** 5000)))",
    "import sys; print(sys.modules['__main__'].__name__, sys.modules['__main__'] is __import__('__main__'))",
    "print(__name__, __doc__, __file__.rpartition('/')[2], __spec__, __package__, __cached__ if '__cached__' in globals() else '')",
    "print(sorted(k for k in globals() if k.startswith('__')), type(__loader__).__name__, __builtins__.__name__)",
    "print(hash('text'), list({'b', 'a', 'd', 'c'}), {1: 2}.keys())",
    "import random; random.seed(5); print(random.random(), random.choice('abc'))",
    "import os; print(os.listdir('.'), os.environ['HOME'] == os.getcwd(), sorted(os.environ))",
    "import os; print(oct(os.umask(0o22)), os.isatty(1), os.getcwd() == os.path.realpath('.'))",
    "import inspect\ndef shown(): return 'source'\nprint(inspect.getsource(shown), inspect.currentframe().f_code.co_name)",
    "import linecache; print(linecache.getline(__file__, 1))",
    "import pickle\nclass P:\n    def __eq__(self, o): return type(o) is P\nprint(pickle.loads(pickle.dumps(P())) == P())",
    "import dataclasses\n@dataclasses.dataclass(order=True)\nclass D:\n    x: int = 1\nprint(D(), D(2) > D())",
    "import enum\nclass E(enum.Enum): A = 1\nprint(E.A, list(E))",
    "import sys; print(type(sys.stdout).__name__, sys.stdout.encoding, sys.stdout.errors, sys.stdout.line_buffering, sys.stdout.name, sys.stdout.mode)",
    "import signal; print([str(signal.getsignal(n)) for n in range(1, 20) if n not in (9, 19)])",
    "import signal, threading\nif threading.current_thread() is threading.main_thread(): signal.signal(signal.SIGUSR1, lambda *a: print('handled', a[0])); signal.raise_signal(signal.SIGUSR1)",
    "import threading; print(threading.current_thread().name, threading.active_count(), threading.main_thread() is threading.current_thread())",
    "import sys; print(sys.exc_info(), sys.gettrace(), sys.getprofile(), sys.displayhook is sys.__displayhook__, sys.excepthook is sys.__excepthook__)",
    "import gc; print(gc.isenabled(), gc.get_threshold(), gc.callbacks)",
    "print = lambda *a, p=print, **k: p('patched', *a, **k)",
    "import builtins; print('_' in vars(builtins), callable(help), callable(exit), repr(exit))",
    "import asyncio\nasync def main(): return await asyncio.sleep(0, 'async')\nprint(asyncio.run(main()))",
    "open('helper_module.py', 'w').write('x = __name__'); import helper_module; print(helper_module.x)",
    "import decimal, fractions; print(decimal.getcontext().prec, decimal.Decimal(1) / 3, fractions.Fraction(3, 6))",
    "import locale, time, os; print(locale.getlocale(), locale.getpreferredencoding(), time.tzname, os.path.expanduser('~') == os.getcwd())",
    "import sys; print(sys.warnoptions, sys.dont_write_bytecode, sys.getswitchinterval(), sys.getfilesystemencodeerrors())",
    "print(1 is 1, '\\d' if True else '')",
)
DEPTH = (
    "def count(n):\n    try: return count(n + 1)\n    except RecursionError: return n\nprint((count(0) + 50) // 100)",
    "def endless(n): return endless(n + 1)\nendless(0)",
    "import sys; sys.setrecursionlimit(3000)\ndef sum_to(n): return n and n + sum_to(n - 1)\nprint(sum_to(2500))",
    "import sys; sys.setrecursionlimit(50)",
    "class R:\n    def __repr__(self): return repr(self)\ntry: repr(R())\nexcept RecursionError as e: print(e)",
    "class N:\n    def __getattr__(self, k): return self.missing\nN().x",
    "import functools\n@functools.lru_cache(None)\ndef fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)\nprint(fib(150))",
    "x = []\nfor _ in range(3000): x = [x]\ntry: print(len(repr(x)))\nexcept RecursionError as e: print(e)",
    "import sys, threading; sys.setrecursionlimit(10 ** 5); old = threading.stack_size(2 ** 26)\ndef down(n): return n and down(n - 1)\nt = threading.Thread(target=lambda: print(down(20000))); t.start(); t.join(); threading.stack_size(old)",
)
SNIPPETS = (OUTPUT, ERRORS, INPUT, RAISES, EXITS, ENDINGS, STATE, DEPTH)
WRAPPERS = (
    "def main():\n    BODY\nmain()",
    "class Scope:\n    BODY",
    "if __name__ == '__main__':\n    BODY",
    "try:\n    BODY\nexcept Exception as e:\n    print(type(e).__name__, ascii(str(e)) if type(e).__name__ != 'Worse' else '')",
    "try:\n    BODY\nexcept BaseException as e:\n    print('caught', type(e).__name__)",
    "try:\n    BODY\nfinally:\n    print('finally')",
    "import contextlib\nwith contextlib.suppress(Exception):\n    BODY",
    "import threading\ndef worker():\n    BODY\nthread = threading.Thread(target=worker, name='named'); thread.start(); thread.join()",
    "for i in range(2):\n    BODY",
    "def gen():\n    yield\n    BODY\nfor _ in gen(): pass",
    "async def run():\n    BODY\nimport asyncio; asyncio.run(run())",
    "import atexit\n@atexit.register\ndef at_the_end():\n    BODY",
    "lazy = lambda: None\n@lambda f: f()\ndef decorated():\n    BODY",
)  # fmt: skip
FLAWS = ("print(1", "x = = 2", "  indented = 1\n dedented = 2", "return 1", "x = '\n", "print 'old'", "f(a=1, a=2)", "\0", "def f(x, x): pass", "break", "nonlocal y", "x = '\\N{nope}'", "0777", "'\\ud800' = 1", "\tif 1:\n        pass\n\tpass", "await x", "from __future__ import nope", "(" * 300 + ")" * 300, "\\", "\x01")  # fmt: skip
HEADS = ("", "", "", "\ufeff", "# -*- coding: utf-8 -*-\n", "# coding: latin-1\nprint('é')\n", "#!/usr/bin/env python3\n", "# coding: ascii\n", "\n\n\f", "from __future__ import annotations\n", "'''docstring'''\n", "# coding: cp1252\n# é\n", "# coding: nonsense\n", "'é'.encode; x = 'ž'\n")  # fmt: skip
LINE_ENDS = ("\n", "\n", "\n", "\r\n", "\r")


def wrapped(wrapper: str, body: list[str]) -> str:
    """A wrapper around snippets."""
    head, _, tail = wrapper.partition("BODY")
    spaces = " " * (len(head) - len(head.rstrip(" ")))
    return head.rstrip(" ") + textwrap.indent("\n".join(body), spaces) + tail


snippets = st.one_of(*(st.sampled_from(table) for table in SNIPPETS))
printed = st.one_of(st.text(max_size=20), st.integers(), st.floats(), st.binary(max_size=9)).map(
    lambda v: f"print({v!r})"
)
blocks = st.recursive(
    st.one_of(snippets, snippets, snippets, printed),
    lambda inner: st.builds(wrapped, st.sampled_from(WRAPPERS), st.lists(inner, min_size=1, max_size=4)),
    max_leaves=6,
)
inputs = st.one_of(
    st.sampled_from(["", "3 4\n", "3 4", "a\r\nb\r\n", "a\rb\n", "ž\0漢\n", "\n\n", "1\n" * 2000, "\ufeffx\n"]),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=40),
)


@st.composite
def programs(draw: st.DrawFn) -> str:
    """The text of a program; one in ten or so doesn't compile."""
    body = draw(st.lists(blocks, min_size=1, max_size=6))
    if draw(st.integers(0, 9)) == 9:
        body.insert(draw(st.integers(0, len(body))), draw(st.sampled_from(FLAWS)))
    end = draw(st.sampled_from(["\n", "\n", "", "\n\n  ", "\n#", "\n\x0c\n"]))
    return (draw(st.sampled_from(HEADS)) + "\n".join(body) + end).replace("\n", draw(st.sampled_from(LINE_ENDS)))


@pytest.fixture(params=COMPARED)
async def compared(request: pytest.FixtureRequest) -> AsyncIterator[Sandbox]:
    async with BACKENDS[request.param].open() as opened:
        yield opened


@settings(
    max_examples=MORE or 200,
    derandomize=not MORE,
    database=None,
    deadline=None,
    phases=[Phase.generate, Phase.shrink],
    # The sandbox stays open from one program to the next, and that is meant.
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(program=programs(), text=inputs)
async def test_a_random_program_does_what_python3_does(compared: Sandbox, program: str, text: str) -> None:
    note(program)
    with TemporaryDirectory(prefix="gencode-random-") as folder:
        real, report = await asyncio.gather(
            asyncio.to_thread(run_for_real, program, text, Path(folder)),
            compared.run(program, [text], limits=Limits(wall_seconds=60)),
        )
    compare(report, real)


def compare(report: Report, real: "subprocess.CompletedProcess[bytes]") -> None:
    """Raise AssertionError where a program did something else in the sandbox than under `python3`."""
    if not report.compiled:
        assert (real.returncode, real.stdout) == (1, b"")
        assert error_class(refusal_of(report)) == error_class(real.stderr.decode())
        return
    execution = report.executions[0]
    if real.returncode == -signal.SIGINT:
        # Known: the sandbox ends it before its variables go, and what those would have written.
        assert (end_of(execution), error_class(execution.stderr)) == (real.returncode, "KeyboardInterrupt")
        return
    assert (roughly(execution.stdout), end_of(execution)) == (
        roughly(real.stdout.decode("utf-8", "replace")),
        real.returncode,
    )
    assert same_end(execution.stderr, real.stderr, roughly)


def roughly(text: str) -> str:
    """A text without what tells how near the recursion limit was; of deep tracebacks Python shows the last frames only."""
    text = re.sub(r"(?<=recursion depth exceeded) while .*", "", neutral(text))
    return re.sub(r"^  .*\n", "", text, flags=re.MULTILINE) if "[Previous line repeated" in text else text


def refusal_of(report: Report) -> str:
    assert report.compilation.status is Status.COMPILATION_ERROR, report.compilation
    return report.compilation.stderr


def end_of(execution: Execution) -> int | None:
    """The exit status as `subprocess` gives it: below 0 where a signal ended the program."""
    return execution.exit_code if execution.signal is None else -execution.signal


def error_class(stderr: str) -> str:
    """What kind of error the last line tells of."""
    return stderr.rstrip().rpartition("\n")[2].partition(":")[0]
