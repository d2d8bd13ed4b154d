"""What is run on a machine that gives no namespaces: programs with the ends that they must have, and attackers."""

from alpha_codium.sandbox.conformance.hostile import Attacker
from tests.sandbox import hostile_programs

SHORT = {"cpu_seconds": 0.5, "wall_seconds": 20}
TRIED = """
def tried(name, action):
    try:
        action()
    except (OSError, RuntimeError):
        return
    print("ESCAPED", name)
"""
CANARY = "/tmp/gencode-canary/secret.txt"

# Name, program, inputs, limits; then the status of each execution, and its whole stdout where that is known.
CASES: dict[str, tuple[str, list[str], dict[str, float], list[str], list[str | None]]] = {
    "it answers": ("print(input()[::-1])", ["abc\n", "de\n"], {}, ["finished"] * 2, ["cba\n", "ed\n"]),
    "an exception": ("print(1)\nraise ValueError('so')", [""], {}, ["runtime_error"], ["1\n"]),
    "a status": ("import sys\nsys.exit(3)", [""], {}, ["runtime_error"], [""]),
    "a signal to itself": ("import os\nos.kill(os.getpid(), 9)", [""], {}, ["runtime_error"], [""]),
    "an interrupt": ("import signal\nsignal.raise_signal(2)", [""], {}, ["runtime_error"], [""]),
    "an abort": ("import os\nos.abort()", [""], {}, ["runtime_error"], [""]),
    "a loop": ("print(1, flush=True)\nwhile True: pass", [""], SHORT, ["time_limit_exceeded"], ["1\n"]),
    "a sleeper": ("import time\ntime.sleep(60)", [""], {"wall_seconds": 0.4}, ["time_limit_exceeded"], [""]),
    "too much memory": ("x = [0] * (1 << 28)", [""], {"memory_bytes": 2**27}, ["memory_limit_exceeded"], [""]),
    "too much output": (
        "while True: print('x' * 99)",
        [""],
        {"output_bytes": 1000},
        ["output_limit_exceeded"],
        [("x" * 99 + "\n") * 10],
    ),
    "no syntax": ("print(1", [""], {}, ["compilation_error"], [""]),
    "threads": (
        "import threading\ndone = []\nall = [threading.Thread(target=done.append, args=(i,)) for i in range(32)]\n"
        "for t in all: t.start()\nfor t in all: t.join()\nprint(len(done))",
        [""],
        {},
        ["finished"],
        ["32\n"],
    ),
    "more threads than allowed": (
        "import threading, time\nn = 0\ntry:\n"
        "    while n < 2000:\n"
        "        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n        n += 1\n"
        "except RuntimeError: print(n < 1000, flush=True)\nimport os\nos._exit(0)",
        [""],
        {"processes": 64, "wall_seconds": 30, "memory_bytes": 2**35},
        ["finished"],
        ["True\n"],
    ),
    "a folder for each test": (
        "import os, tempfile\nhome = os.environ['HOME']\nprint(os.listdir('.'), os.getcwd() == home)\n"
        "with tempfile.TemporaryDirectory() as new: print(os.path.dirname(new) == home)\n"
        "open('left', 'w').write('1')\nos.makedirs('a/b', mode=0)\nos.rename('program.py', 'other')",
        [""] * 3,
        {},
        ["finished"] * 3,
        ["['program.py'] True\nTrue\n"] * 3,
    ),
    "stdin has a name": ("print(open('/dev/stdin').read(), open(0).read())", ["a"], {}, ["finished"], ["a a\n"]),
    "its own source": (
        "import inspect\ndef f(): pass\nprint(inspect.getsource(f))",
        [""],
        {},
        ["finished"],
        ["def f(): pass\n\n"],
    ),
    "a library is read": (
        "import decimal, json, sqlite3, zoneinfo\nprint(json.dumps(1), sqlite3.connect(':memory:') is not None)",
        [""],
        {},
        ["finished"],
        ["1 True\n"],
    ),
    "no network": (
        TRIED + "import socket\nfor family in (1, 2, 10, 16, 17, 40):\n"
        "    for kind in (1, 2, 3, 5): tried((family, kind), lambda: socket.socket(family, kind))\n"
        "tried('pair', lambda: socket.socketpair(type=socket.SOCK_DGRAM))\nprint('held')",
        [""],
        {},
        ["finished"],
        ["held\n"],
    ),
    "no file of the host is read": (
        TRIED + "import os, glob\n"
        f"for path in ({CANARY!r}, '/etc/passwd', '/proc/self/environ', '/proc/1/environ', '/proc/self/maps',\n"
        "             '/proc/%d/mem' % os.getppid(), '/proc/%d/fd/3' % os.getppid(), '/mnt/plan.json', '/dev/tty'):\n"
        "    tried(path, lambda: open(path, 'rb').read(1))\n"
        "    tried('lock ' + path, lambda: os.open(path, os.O_RDWR))\n"
        "for path in ('/', '/tmp', '/etc', '/proc', '/home', '/mnt', '/dev/shm', '..'):\n"
        "    tried(path, lambda: os.listdir(path))\n"
        f"tried('attributes', lambda: os.listxattr({CANARY!r}))\n"
        f"os.symlink({CANARY!r}, 'link')\ntried('link', lambda: open('link').read())\n"
        f"tried('hard link', lambda: os.link({CANARY!r}, 'hard'))\n"
        f"place = os.open({CANARY!r}, os.O_PATH)\ntried('path', lambda: open('/proc/self/fd/%d' % place).read())\n"
        "print('held')",
        [""],
        {},
        ["finished"],
        ["held\n"],
    ),
    "no file of the host is changed": (
        TRIED + "import os, sys\n"
        "for folder in ('/tmp', '/var/tmp', '/dev/shm', '..', '../program', '/', os.path.dirname(os.__file__)):\n"
        "    tried(folder, lambda: open(folder + '/planted', 'w'))\n"
        "    tried('mkdir ' + folder, lambda: os.mkdir(folder + '/planted.d'))\n"
        "    tried('link ' + folder, lambda: os.symlink('x', folder + '/planted.l'))\n"
        "    tried('move ' + folder, lambda: os.rename('program.py', folder + '/moved'))\n"
        "    tried('chmod ' + folder, lambda: os.chmod(folder, 0o777))\n"
        "    tried('utime ' + folder, lambda: os.utime(folder))\n"
        f"for path in ({CANARY!r}, os.__file__, 'program.py', '../program/program.py'):\n"
        "    tried('write ' + path, lambda: open(path, 'r+b'))\n"
        "    tried('truncate ' + path, lambda: os.truncate(path, 0))\n"
        "    tried('cut ' + path, lambda: os.open(path, os.O_RDONLY | os.O_TRUNC))\n"
        "    tried('chmod ' + path, lambda: os.chmod(path, 0o777))\n"
        "    tried('utime ' + path, lambda: os.utime(path))\n"
        f"for path in ({CANARY!r}, os.__file__, '../program/program.py'):\n"
        "    tried('unlink ' + path, lambda: os.unlink(path))\n"
        "    tried('take ' + path, lambda: os.rename(path, 'mine'))\n"
        "tried('fchmod', lambda: os.fchmod(os.open(os.__file__, os.O_RDONLY), 0o777))\n"
        "print('held')",
        [""],
        {},
        ["finished"],
        ["held\n"],
    ),
    "nobody else is signalled or asked for": (
        TRIED + "import os, signal, ctypes, threading\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "def call(*arguments):\n"
        "    if libc.syscall(*arguments) < 0: raise OSError(ctypes.get_errno())\n"
        "for number in [-1, os.getppid(), -os.getpgid(0) - 1, *range(1, 400)]:\n"
        "    if number == os.getpid(): continue\n"
        "    for what in (0, 9, 19, 10):\n"
        "        tried((number, what), lambda: os.kill(number, what))\n"
        "    tried(('group', number), lambda: os.getpgid(number))\n"
        "    tried(('session', number), lambda: os.getsid(number))\n"
        "    tried(('processors', number), lambda: os.sched_getaffinity(number))\n"
        "    tried(('priority', number), lambda: os.getpriority(os.PRIO_PROCESS, number))\n"
        "    tried(('grip', number), lambda: os.pidfd_open(number))\n"
        "    tried(('tkill', number), lambda: call(200, ctypes.c_long(number), 9))\n"
        "    tried(('tgkill', number), lambda: call(234, ctypes.c_long(number), ctypes.c_long(number), 9))\n"
        "    tried(('queue', number), lambda: call(129, ctypes.c_long(number), 9, ctypes.create_string_buffer(128)))\n"
        "tried('death', lambda: call(157, 1, 0, 0, 0, 0))\ntried('reaper', lambda: call(157, 36, 1, 0, 0, 0))\n"
        "os.kill(os.getpid(), 0)\nos.kill(0, 0)\nsignal.pthread_kill(threading.get_ident(), 0)\nprint('held')",
        [""],
        {},
        ["finished"],
        ["held\n"],
    ),
    "it starts no process": (
        TRIED + "import os, ctypes, subprocess, multiprocessing\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "def call(*arguments):\n"
        "    if libc.syscall(*arguments) < 0: raise OSError(ctypes.get_errno())\n"
        "tried('fork', os.fork)\ntried('vfork', lambda: call(58))\ntried('clone', lambda: call(56, 17, 0, 0, 0, 0))\n"
        "tried('clone3', lambda: call(435, ctypes.create_string_buffer(88), 88))\n"
        "tried('parent', lambda: call(56, 0x8000 | 17, 0, 0, 0, 0))\n"
        "tried('exec', lambda: os.execv('/bin/true', ['true']))\ntried('shell', lambda: subprocess.run('true'))\n"
        "tried('spawn', lambda: os.posix_spawn('/bin/true', ['true'], {}))\n"
        "tried('filter', lambda: call(317, 1, 0, 0))\ntried('landlock', lambda: call(446, 4, 0))\n"
        "print('held')",
        [""],
        {},
        ["finished"],
        ["held\n"],
    ),
    "tracing is an attack": (
        "import ctypes\nctypes.CDLL(None).ptrace(16, 1, 0, 0)",
        [""],
        {},
        ["sandbox_violation"],
        [""],
    ),
}
# Those that reach the machine in another way than by processes, and those that kill all they can.
ATTACKERS = (
    *("02", "05", "14", "16", "17", "19", "20", "22", "23", "25", "26", "28", "29", "40", "41", "46", "47", "49", "50"),
    *("53", "58", "59", "62", "daemon_keeps_forking", "deep_folders", "exit_by_a_liar", "filter_of_its_own"),
    *(
        "kill_init_every_signal",
        "leader_ends_first",
        "leave_the_folder",
        "lock_the_folder",
        "other_calling_conventions",
    ),
    *("plant_modules", "proc_writes", "read_host_files_more", "read_the_answer_channel", "remove_program"),
    *("rewrite_program", "secrets_of_the_host", "signal_by_descriptor", "signal_storm", "state_in_every_corner"),
    *("stop_everyone", "threads_and_forks", "trace_the_end", "vfork_sleeper", "stdio_flags_locks_leases"),
)


def attackers() -> list[Attacker]:
    """The hostile programs that matter here."""
    every = hostile_programs.attackers()
    return [each for each in every if each.name[:2] in ATTACKERS or each.name.removesuffix(".py") in ATTACKERS]
