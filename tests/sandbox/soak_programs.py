"""The programs of a full load: honest ones with their outputs, and hostile ones."""

# ruff: noqa: E501 - a program stands on one line

import os
from pathlib import Path

from alpha_codium.limits import Limits

MIB = 2**20
HOSTILE_LIMITS = Limits(cpu_seconds=0.4, wall_seconds=0.8, memory_bytes=128 * MIB, output_bytes=MIB, file_bytes=MIB)
SHARED = Path(os.environ.get("GENCODE_SHARED") or Path(__file__).resolve().parents[3] / "shared") / "hostile"

# program, inputs, outputs
HONEST = (
    ("print(sum(map(int, input().split())))", ["1 2", "3 4\n", "-1 1"], ["3\n", "7\n", "0\n"]),
    ("import sys\nfor line in sys.stdin: print(line.strip()[::-1])", ["ab\ncd\n", ""], ["ba\ndc\n", ""]),
    (
        "import heapq, bisect, collections, itertools, math\nn = int(input())\nh = list(range(n, 0, -1)); heapq.heapify(h)\n"
        "print(heapq.heappop(h), math.gcd(n, 12), bisect.bisect(range(n), 3), collections.Counter('aab')['a'])",
        ["5", "18"],
        ["1 1 4 2\n", "1 6 4 2\n"],
    ),
    ("n = int(input())\nprint('x' * n)", ["100000", "3"], ["x" * 100000 + "\n", "xxx\n"]),
    ("print(1 // int(input()))", ["1", "0"], ["1\n", None]),
    ("open('left', 'w').write('x')\nimport os\nprint(sorted(os.listdir('.')))", ["", ""], ["['left', 'program.py']\n"] * 2),
    (
        "import threading\nr = []\nt = [threading.Thread(target=r.append, args=(i,)) for i in range(4)]\n"
        "[x.start() for x in t]; [x.join() for x in t]\nprint(sorted(r), input())",
        ["a", "b"],
        ["[0, 1, 2, 3] a\n", "[0, 1, 2, 3] b\n"],
    ),
    (
        "import sys\nsys.setrecursionlimit(20000)\ndef f(n): return n and 1 + f(n - 1)\nprint(f(int(input())))",
        ["9000", "1"],
        ["9000\n", "1\n"],
    ),
    ("print('a\\x00ž'); import sys; sys.exit(int(input()))", ["0", "3"], ["a\0ž\n", None]),
)  # fmt: skip
HOSTILE = (
    "while True: pass",
    "import time; time.sleep(1000)",
    "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass",
    "x = []\nwhile True: x.append(bytearray(1 << 20))",
    "while True: print('x' * 1000)",
    "import os\nwhile True: os.write(2, b'x' * 100000)",
    "import ctypes; ctypes.string_at(0)",
    "import os; os.abort()",
    "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)",
    "import os\nwhile True: os.kill(1, 10); os.kill(1, 17)",
    "import os\nfor i in range(100000):\n    try: open(f'f{i}', 'wb').write(b'x' * 5000)\n    except OSError: break\nprint(i)",
    "import os\nfor i in range(500): os.mkdir('d'); os.chdir('d')\nprint('deep')",
    "import threading, time\nwhile True:\n    try: threading.Thread(target=time.sleep, args=(99,)).start()\n    except RuntimeError: pass",
    "import os\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        while True: os.write(1, b'late')\nos._exit(0)",
    "import sys; sys.setrecursionlimit(10 ** 9)\nclass A:\n    def __repr__(self): return repr(self)\nrepr(A())",
    "print(len(str(7 ** (7 ** 9))))",
    "import os\nfor fd in range(3, 256):\n    try: os.write(fd, b'accepted' * 100)\n    except OSError: pass\nos.close(0); os.close(1); os.close(2)",
    "x = " + "(" * 5000 + ")" * 5000,
    "x = [" + "[1, 2], " * 100_000 + "]",
    "import signal, os\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nos.kill(-1, 9)",
    "import atexit, time\natexit.register(time.sleep, 1000)",
)


def hostile_programs() -> list[tuple[str, str]]:
    """Our own, and those of the shared folder where there is one."""
    shared = sorted(SHARED.glob("*.py")) if SHARED.is_dir() else []
    return [(f"own {i}", p) for i, p in enumerate(HOSTILE)] + [(path.name, path.read_text()) for path in shared]
