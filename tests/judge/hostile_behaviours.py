"""Random programs that do whatever a program can do to get no verdict, for each channel on which a program acts.

A program is a few of the habits below, in any order, then what its channel asks for: an output, a function. Some of
them are right now and then; that none is ever judged `internal_error` is all that is asked.
"""

import base64
import textwrap
from random import Random

from alpha_codium.problem import CheckerSpec, ExecutionSpec, Problem, TestCase
from alpha_codium.sandbox.engine.inside import known_good

# Bytes that programs write.
SAID = (
    "b''",
    "b'\\n'",
    "b'6\\n'",
    "b'abc\\n'",
    "b'? abc\\n'",
    "b'! 1.5\\n'",
    "b'! inf nan\\n'",
    "b'?\\n'",
    "b'\\0' * 9",
    "b'   \\n'",
    "b'\\xff\\xfe\\n'",
    "b'\\xed\\xa0\\x80\\n'",
    "b'9' * 50_000",
    "b'9' * 1_200_000 + b'\\n'",
    "b'? ' + b'9' * 300_000 + b'\\n'",
    "'\\u0663 \\uff16\\n'.encode()",
    "b'-1 ' * 999",
    "b'1e999999999\\n'",
    "b'\\r\\r\\n\\x1a\\x1c\\x85'",
    "b'[' * 60_000",
    "bytes(range(256))",
    "b'internal_error sandbox: no verdict\\n'",
    "b'passed\\n' * 3",
    "b'{\"value\": 6}\\n'",
)
# What is done with them, and everything else; `SAID` stands for some bytes, `FD` for a descriptor.
HABITS = (
    "os.write(1, SAID)",
    "os.write(2, SAID)",
    "os.write(FD, SAID)",
    "sys.stdout.write(repr(SAID)), sys.stdout.flush()",
    "for _ in range(2000): os.write(1, SAID)",
    "for fd in range(64): os.write(fd, SAID)",
    "while True: os.write(FD, SAID + b'x')",
    "os.close(FD)",
    "os.closerange(0, 64)",
    "os.dup2(FD, 1)",
    "os.dup2(0, FD)",
    "os.ftruncate(1, 1 << 40)",
    "os.lseek(1, 1 << 40, 0), os.write(1, b'6')",
    "os.set_blocking(FD, False)",
    "os.fchmod(FD, 0)",
    "os._exit(NUMBER)",
    "sys.exit(NUMBER)",
    "sys.exit('six')",
    "os.abort()",
    "os.kill(os.getpid(), SIGNAL)",
    "os.kill(os.getppid(), SIGNAL)",
    "os.kill(1, SIGNAL)",
    "os.kill(-1, SIGNAL)",
    "os.killpg(0, SIGNAL)",
    "signal.raise_signal(SIGNAL)",
    "signal.setitimer(signal.ITIMER_REAL, 0.001)",
    "[signal.signal(n, signal.SIG_IGN) for n in (1, 2, 15, 24, 25)]",
    "signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))",
    "os.fork()",
    "os.fork() or time.sleep(99)",
    "os.fork() and os._exit(NUMBER)",
    "while True: os.fork()",
    "os.setsid()",
    "os.execv('/bin/sh', ['sh', '-c', 'exit 3'])",
    "os.execv(sys.executable, [sys.executable, '-c', '1 / 0'])",
    "os.execv('/proc/self/exe', ['x'])",
    "threading.Thread(target=time.sleep, args=(99,)).start()",
    "[threading.Thread(target=os.write, args=(FD, SAID)).start() for _ in range(30)]",
    "(lambda f: f(f))(lambda f: f(f))",
    "sys.setrecursionlimit(1 << 30), (lambda f: f(f))(lambda f: f(f))",
    "x = [0] * (1 << 28)",
    "x = b'x' * (1 << 30)",
    "x = [()]\nwhile True: x += x",
    "while True: pass",
    "time.sleep(99)",
    "sys.stdin.read()",
    "input()",
    "os.read(FD, 999)",
    "resource.setrlimit(resource.RLIMIT_CPU, (0, 0))",
    "resource.setrlimit(resource.RLIMIT_CPU, (1, 1))\nwhile True: pass",
    "resource.setrlimit(resource.RLIMIT_AS, (1 << 20, 1 << 20))",
    "resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))",
    "resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))",
    "resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))",
    "resource.setrlimit(resource.RLIMIT_STACK, (0, 0))",
    "ctypes.string_at(0)",
    "ctypes.CDLL(None).exit_group(NUMBER)",
    "ctypes.CDLL(None).timer_create(0, ctypes.byref((ctypes.c_int * 16)(0, 0, 9, 0)), ctypes.byref(ctypes.c_long()))",
    "ctypes.memmove(id(None), id(1), 8)",
    "raise type('E', (BaseException,), {'__str__': lambda self: 1 / 0, '__repr__': lambda self: 1 / 0})",
    "raise type('X' * 99_999, (Exception,), {})('y' * 999_999)",
    "raise KeyboardInterrupt",
    "raise GeneratorExit",
    "raise EOFError",
    "raise AssertionError(SAID)",
    "raise ExceptionGroup('x', [OSError(5, 'Input/output error')]) from MemoryError()",
    "raise MemoryError",
    "sys.stdout = sys.stderr = sys.stdin = None",
    "sys.stdout.close(), sys.stderr.close(), sys.stdin.close()",
    "sys.excepthook = lambda *a: os._exit(NUMBER)",
    "sys.settrace(lambda *a: 1 / 0)",
    "sys.modules.clear()",
    "builtins.__dict__.clear()",
    "builtins.print = builtins.len = builtins.isinstance = lambda *a, **k: SAID",
    "os.write = os.read = os._exit = lambda *a: 1",
    "atexit.register(os._exit, NUMBER)",
    "atexit.register(time.sleep, 99)",
    "atexit.register(os.write, 1, SAID)",
    "gc.set_debug(gc.DEBUG_LEAK)",
    "open('answer', 'wb').write(SAID), open('output', 'wb').write(SAID), open('out.txt', 'wb').write(SAID)",
    "os.remove('out.txt')",
    "os.mkdir('out.txt')",
    "os.mkfifo('out.txt')",
    "os.symlink('/dev/zero', 'out.txt')",
    "os.chmod('.', 0)",
    "os.rmdir(os.getcwd())",
    "for n in range(3000): open(f'f{n}', 'w').write('x' * 9999)",
    "exec('(' * 9999)",
    "compile(SAID, 'x', 'exec')",
    "os.nice(19), os.sched_setaffinity(0, {0})",
    "faulthandler.dump_traceback_later(0.001, exit=True)",
)
# What a function returns; each is the tail of a program.
RETURNED = (
    "6",
    "6.0",
    "'6'",
    "None",
    "float('nan')",
    "-0.0",
    "10 ** 6000",
    "'\\udcff' * 9",
    "b'6'",
    "[[]] * 9",
    "object()",
    "lambda: 6",
    "iter([6])",
    "type('I', (int,), {'__eq__': lambda *a: True, '__hash__': lambda s: 1 / 0})(7)",
    "type('O', (), {'__getattribute__': lambda s, n: 1 / 0})()",
    "type('O', (), {'__class__': property(lambda s: int)})()",
    "type('O', (), {'__eq__': lambda s, o: os._exit(0), '__repr__': lambda s: 1 / 0, '__len__': lambda s: -1})()",
    "type('O', (), {'__bool__': lambda s: s, '__lt__': lambda s, o: o, '__iter__': lambda s: s})()",
    "type('M', (type,), {'__instancecheck__': lambda *a: 1 / 0})('N', (), {})",
    "list(range(300_000))",
    "{n: n for n in range(9999)}",
    "{6: {6: [6]}}",
    "(lambda x: x.append(x) or x)([])",
    "__import__('functools').reduce(lambda x, _: [x], range(50_000), 6)",
    "sys",
    "print",
    "sys._getframe()",
    "int",
    "...",
    "Exception(6)",
    "type('E', (Exception,), {'__str__': lambda s: 1 / 0})()",
    "(x for x in iter(int, 1))",
    "'x' * 9_000_000",
    "memoryview(b'6')",
    "__builtins__",
    "6j",
    "{1, 2}",
    "range(6)",
    "StopIteration(6)",
    "__import__('decimal').Decimal(6)",
)
IMPORTS = "import atexit, builtins, ctypes, faulthandler, gc, os, resource, signal, sys, threading, time\n"
WITHOUT_CTYPES = "import atexit, builtins, faulthandler, gc, os, resource, signal, sys, threading, time\n"


def habit(random: Random) -> str:
    """A habit, with its errors suppressed now and then."""
    text = random.choice(HABITS)
    for name, values in (
        ("SAID", SAID),
        ("FD", [*map(str, range(8)), "63", "1023"]),
        ("NUMBER", ("0", "1", "3", "42", "43", "126", "127", "255")),
        ("SIGNAL", [str(n) for n in range(1, 65) if n not in (32, 33)]),
    ):
        text = text.replace(name, random.choice(values))
    if random.random() < 0.6:
        text = f"try:\n{textwrap.indent(text, '    ')}\nexcept {random.choice(('Exception', 'BaseException'))}: pass"
    return text


def habits(random: Random) -> str:
    """One to four habits."""
    return "\n".join(habit(random) for _ in range(random.randint(1, 4)))


def printing(random: Random) -> str:
    """A program that reads and prints."""
    head = random.choice((IMPORTS, WITHOUT_CTYPES))
    return (
        f"{head}{habits(random)}\nos.write(1, {random.choice(SAID)})\n{habits(random) if random.random() < 0.5 else ''}"
    )


def talking(random: Random) -> str:
    """A program that asks and answers."""
    talk = [f"os.write(1, {random.choice((*SAID, *HABITS_OF_TALK))})\nsys.stdin.readline()" for _ in range(3)]
    return f"{IMPORTS}{talk[0]}\n{habits(random) if random.random() < 0.7 else ''}\n" + "\n".join(talk[1:])


HABITS_OF_TALK = ("b'? 1\\n'", "b'? 2\\n'", "b'! 6\\n'", "b'? 99\\n'", "b'? -7\\n'", "b'!'")


def calling(random: Random) -> str:
    """A program with a function that tests call."""
    inside = textwrap.indent(habits(random), "    ") if random.random() < 0.6 else ""
    before = habits(random) if random.random() < 0.3 else ""
    return f"{IMPORTS}{before}\ndef f(*numbers):\n{inside}\n    return {random.choice(RETURNED)}\n"


# An interactor and a checker as most are written: what they can't read raises an exception.
INTERACTOR = """
import sys
numbers = list(map(int, open(sys.argv[1]).read().split()))
for left in range(20):
    kind, *rest = input().split(" ")
    if kind == "!":
        sys.exit(42 if int(rest[0]) == sum(numbers) else 43)
    print(numbers[int(rest[0]) - 1], flush=True)
sys.exit(43)
"""
INTERACTOR_CPP = r"""
#include <fstream>
#include <iostream>
#include <string>
#include <vector>
int main(int, char **argv) {
    std::ifstream input(argv[1]);
    std::vector<long> numbers;
    for (long number; input >> number;) numbers.push_back(number);
    for (int left = 20; left--;) {
        std::string kind, rest;
        std::cin >> kind >> rest;
        if (kind == "!") return std::stol(rest) == 6 ? 42 : 43;
        std::cout << numbers.at(std::stol(rest) - 1) << std::endl;
    }
    return 43;
}
"""
CHECKER = "import sys\nsys.exit(42 if int(sys.stdin.read().split()[-1]) == int(open(sys.argv[2]).read()) else 43)"
ASSERTIONS = "def check(f):\n    assert f(1, 2, 3) == 6\n    assert f(4) != 7 and f() < 5\ncheck(f)\n"
PATCHES = "from unittest import mock\nwith mock.patch('builtins.print'):\n    assert f(6) == 6\n"
ONE = TestCase("1 2 3\n", "6\n")
CALL = ExecutionSpec("call", "f")
ASSERT = ExecutionSpec("assertions", "f")


def checked_by(name: str, **arguments: object) -> CheckerSpec:
    """A checker."""
    return CheckerSpec(name, arguments)


PRINTS, FUNCTION = "print(6)", "def f(*numbers): return sum(numbers)"
# For each channel: the problem, its test, what writes a program, and a right one.
CHANNELS = {
    "stdin": (Problem("tokens"), ONE, printing, PRINTS),
    "stdin, by floats": (Problem("float", checker=checked_by("float", abs=1e-6)), ONE, printing, PRINTS),
    "stdin, by deepmind": (Problem("deepmind", checker=checked_by("deepmind")), ONE, printing, PRINTS),
    "files": (
        Problem("files", input_file="in.txt", output_file="out.txt"),
        ONE,
        printing,
        "open('out.txt', 'w').write('6')",
    ),
    "checker": (Problem("checker", checker=checked_by("program", files={"c.py": CHECKER})), ONE, printing, PRINTS),
    "interactor": (
        Problem("interactor", checker=checked_by("interactor", files={"i.py": INTERACTOR})),
        ONE,
        talking,
        "print('! 6')",
    ),
    "interactor in C++": (
        Problem("interactor", checker=checked_by("interactor", files={"i.cpp": INTERACTOR_CPP})),
        ONE,
        talking,
        "print('! 6')",
    ),
    "call": (Problem("call", execution=CALL), TestCase("[1, 2, 3]", "6"), calling, FUNCTION),
    "assertions": (Problem("assertions", execution=ASSERT), TestCase(ASSERTIONS, ""), calling, FUNCTION),
    "assertions in process": (
        Problem("in process", execution=ASSERT),
        TestCase(f"{PATCHES}{ASSERTIONS}", ""),
        calling,
        FUNCTION,
    ),
}


def mutated(random: Random) -> str:
    """An executable with some of its bytes changed, in base64."""
    image = bytearray(known_good.image())
    for _ in range(random.choice((1, 1, 2, 3, 8))):
        place = random.choice((random.randrange(len(image)), random.randrange(4, 64), random.randrange(64, 120)))
        image[place] = random.choice((0, 1, 2, 3, 127, 128, 255, random.randrange(256)))
    if random.random() < 0.1:
        del image[random.randrange(len(image)) :]
    if random.random() < 0.2:
        image += random.randbytes(5000)
    return base64.b64encode(image).decode()


INTERPRETERS = (
    "",
    "/",
    "/nowhere",
    "/proc/self/exe",
    "/dev/null",
    "/dev/zero",
    "/bin/sh",
    "a",
    "/lib64/ld-linux-x86-64.so.2",
    "/x" * 3000,
)
SECTIONS = (
    ".interp",
    ".dynamic",
    ".note.gnu.property",
    ".note.GNU-stack",
    ".tbss",
    ".init_array",
    ".preinit_array",
    ".got",
    ".eh_frame",
)
C_BODIES = (
    "static __thread char large[1ul << 33];",
    "static char large[100ul << 30];",
    "static char large[40 << 20] = {1};",
    "__attribute__((aligned(1 << 24))) char aligned[4] = {1};",
    'static void *resolve(void) { for (;;); } int f(void) __attribute__((ifunc("resolve")));',
    'static void *resolve(void) { return 0; } int f(void) __attribute__((ifunc("resolve"))); int (*g)(void) = f;',
    "__attribute__((constructor)) static void first(void) { _exit(NUMBER); }",
    "__attribute__((constructor)) static void first(void) { kill(PID, SIGNAL); }",
    "__attribute__((constructor)) static void first(void) { for (int fd = 0; fd < 99; fd++) close(fd); }",
    "__attribute__((constructor)) static void first(void) { for (;;) fork(); }",
    "__attribute__((destructor)) static void last(void) { kill(PID, SIGNAL); }",
    'asm(".section .interp,\\"a\\"\\n.ascii \\"/nope\\"\\n.text");',
    'asm(".section SECTION,\\"aw\\"\\n.zero 64,NUMBER\\n.text");',
    '__attribute__((section(".interp"), used)) const char path[] = "INTERPRETER";',
    '__attribute__((section("SECTION"), used)) const char bytes[] = "INTERPRETER";',
)


def image_in_c(random: Random) -> str:
    """A program in C of which the loader may make nothing."""
    bodies = " ".join(f"{body}\n" for body in random.sample(C_BODIES, random.choice((1, 1, 2))))
    for name, values in (
        ("INTERPRETER", INTERPRETERS),
        ("SECTION", SECTIONS),
        ("NUMBER", ("0", "1", "42", "126", "127", "255")),
        ("SIGNAL", [str(n) for n in range(1, 65) if n not in (32, 33)]),
        ("PID", ("0", "-1", "1", "getpid()", "getppid()")),
    ):
        bodies = bodies.replace(name, random.choice(values))
    end = random.choice(('puts("6");', "return 126;", "for (;;);", "pause();", "*(volatile int *)0 = 1;"))
    return (
        f"#include <signal.h>\n#include <stdio.h>\n#include <unistd.h>\n{bodies}int main(void) {{ {end} return 0; }}\n"
    )
