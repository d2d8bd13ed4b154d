"""Programs that try to pass without solving anything, and what gets out of the language: the jail and the pair hold.

RestrictedPython isn't what holds them. So all of them run as the language allows it, then with everything that the
metric can be told to allow, and then with a policy that restricts nothing.
"""

import builtins
from pathlib import Path
from typing import Any

import pytest

from tests.metrics.restricted import results_of, text_of, texts_of

RestrictedPython = pytest.importorskip("RestrictedPython", reason="RestrictedPython isn't installed")
ADD = "assert add(2, 3) == 5\nassert add(20, 30) == 50"
NAMES = (
    "os sys builtins atexit signal threading gc ctypes inspect traceback math time types socket subprocess importlib "
    "string RestrictedPython"
)
MODULES = NAMES.split()


class Unrestricted(RestrictedPython.RestrictingNodeTransformer):
    """A policy without any restriction: Python as it is."""

    def visit(self, node: Any) -> Any:
        return node


ALLOWING = {
    "allowed_imports": MODULES,
    "allow_underscore_variable_names": True,
    "allow_str_format": True,
    "additional_globals": {name: getattr(builtins, name) for name in ("all", "type", "open", "sum", "vars", "dir")},
}
OPEN = {
    "policy": Unrestricted,
    "additional_globals": {"__builtins__": builtins},
    "use_safe_builtins": False,
    "use_limited_builtins": False,
    "use_utility_builtins": False,
}
WAYS: dict[str, dict[str, Any]] = {"as it is": {}, "with all that can be allowed": ALLOWING, "unrestricted": OPEN}

CHEATS = {
    "sys.exit(0)": "import sys\ndef add(a, b): return a\nsys.exit(0)",
    "sys.exit(0) when called": "import sys\ndef add(a, b): sys.exit(0)",
    "raise SystemExit": "def add(a, b): raise SystemExit(0)",
    "raise SystemExit at once": "raise SystemExit(0)",
    "os._exit(0)": "import os\nos._exit(0)",
    "os._exit(0) by getattr": "import os\ndef add(a, b): getattr(os, '_' + 'exit')(0)",
    "from os import _exit": "from os import _exit\ndef add(a, b): _exit(0)",
    "says that it passed": "print('passed')\ndef add(a, b):\n    print('passed')\n    return 0",
    "equal to everything": (
        "class All:\n    def __eq__(self, other): return True\n    def __ne__(self, other): return False\n"
        "def add(a, b): return All()"
    ),
    "an int that is equal to everything": (
        "class All(int):\n    def __eq__(self, other): return True\n    def __hash__(self): return 5\n"
        "def add(a, b): return All(0)"
    ),
    "a class of another name": (
        "def yes(*_): return True\n"
        "def add(a, b): return type('int', (int,), {'__' + 'eq__': yes, '__' + 'class__': int})(0)"
    ),
    "patched builtins": (
        "import builtins\n"
        "builtins.AssertionError = KeyError\nbuiltins.all = builtins.isinstance = lambda *_: True\n"
        "def add(a, b): return 0"
    ),
    "patched builtins by setattr": (
        "import builtins\nsetattr(builtins, 'AssertionError', KeyError)\ndef add(a, b): return 0"
    ),
    "the builtins of its namespace": "__builtins__['len'] = lambda _: 5\ndef add(a, b): return 0",
    "at exit": "import atexit, os\natexit.register(os.abort)\ndef add(a, b): return 0",
    "at exit with success": (
        "import atexit, os\natexit.register(lambda: getattr(os, '_' + 'exit')(0))\ndef add(a, b): return 0"
    ),
    "settrace": (
        "import sys\ndef trace(frame, *_):\n    frame.f_trace_lines = False\n    return trace\n"
        "sys.settrace(trace)\ndef add(a, b): return 0"
    ),
    "a signal to its parent": "import os\ndef add(a, b):\n    os.kill(os.getppid(), 9)\n    return 0",
    "a signal to all": "import os\ndef add(a, b):\n    os.kill(-1, 9)\n    return 0",
    "an answer of its own on the channel": (
        "import os\ndef add(a, b):\n    os.write(3, b'00000012T' + b's76616c7565;i5;)')\n    return 0"
    ),
    "an outcome of its own on stdout": (
        "import os\ndef add(a, b):\n    os.write(1, b'passed')\n    getattr(os, '_' + 'exit')(0)"
    ),
    "the driver's functions": (
        "import sys\nmain = sys.modules['__main__']\n"
        "for name in ('encode', 'write_all', 'answers_to', 'print_error'):\n"
        "    setattr(main, name, lambda *_, **__: None)\n"
        "def add(a, b): return 0"
    ),
    "the frames below it": (
        "import sys\nframe = sys._getframe()\n"
        "while frame:\n    frame.f_globals['answer_of'] = lambda *_: ('value', 5)\n    frame = frame.f_back\n"
        "def add(a, b): return 0"
    ),
    "what the collector knows": (
        "import gc\n"
        "def add(a, b):\n"
        "    for each in gc.get_objects():\n"
        "        if isinstance(each, dict) and 'token' in each: return each['token']\n"
        "    return 0"
    ),
    "the other side's memory": (
        "import os\ndef add(a, b):\n"
        "    for name in os.listdir('/proc'):\n"
        "        try: open('/proc/' + name + '/mem', 'r+b').write(b'x')\n"
        "        except Exception: pass\n"
        "    return 0"
    ),
    "a thread that ends all": (
        "import threading, os, time\n"
        "threading.Thread(target=lambda: (time.sleep(0.05), getattr(os, '_' + 'exit')(0)), daemon=True).start()\n"
        "def add(a, b):\n    time.sleep(1)\n    return 0"
    ),
    "a module of the test's": (
        "import sys, types\nsys.modules['math'] = types.ModuleType('math')\ndef add(a, b): return 0"
    ),
    "memory by ctypes": "import ctypes\ndef add(a, b):\n    ctypes.string_at(0)\n    return 0",
    "RestrictedPython itself": (
        "import RestrictedPython\nRestrictedPython.compile_restricted_exec = None\n"
        "RestrictedPython.Guards.safe_builtins['len'] = lambda _: 5\ndef add(a, b): return 0"
    ),
    "a guard of its own": "def _getattr_(*_): return 5\n_print_ = 1\ndef add(a, b): return 0",
    "printed is true to everything": (
        "class All:\n    def __eq__(self, other): return True\nprinted = All()\ndef add(a, b): return printed"
    ),
    "nothing": "",
    "a stub": "def add(a, b): pass",
    "an exception of the assertions'": "def add(a, b): raise AssertionError",
    "an exception that is no Exception": "def add(a, b): raise KeyboardInterrupt",
}
# What versions of RestrictedPython have let through, as their advisories tell it.
ESCAPES = {
    "CVE-2023-37271: the frames of a generator": (
        "def frames():\n"
        "    held = []\n"
        "    g = (held[0].gi_frame.f_back.f_back for _ in [1])\n"
        "    held.append(g)\n"
        "    return [i for i in g][0]\n"
        "top = frames()\n"
        "while top.f_back is not None:\n    top = top.f_back\n"
        "{cheat}"
    ),
    "CVE-2023-41039: str.format": "leak = '{{0.__globals__}}'.format(lambda: 0)\n{cheat}",
    "CVE-2023-41039: str.format_map": "leak = '{{x.__globals__}}'.format_map({{'x': lambda: 0}})\n{cheat}",
    "CVE-2024-47532: string.Formatter": (
        "import string\nleak = string.Formatter().get_field('0.__globals__', [lambda: 0], {{}})[0]\n{cheat}"
    ),
    "CVE-2024-47532: AttributeError.obj": (
        "import string\n"
        "try:\n    string.nothing_of_that_name\nexcept AttributeError as error:\n    leak = error.obj\n"
        "{cheat}"
    ),
    "CVE-2025-22153: except*": (
        "try:\n    raise ExceptionGroup('', [ValueError()])\nexcept* ValueError as group:\n    leak = group\n{cheat}"
    ),
    "CVE-2026-55830: a positional-only parameter": (
        "def f(_getattr_, /): return (lambda: 0).__globals__\nleak = f(lambda x, name: x)\n{cheat}"
    ),
}
CHEAT_AFTER = (
    "def add(a, b): return 0\n__import__('sys').modules['__main__'].encode = None\n__import__('os')._exit(0)\n"
)


@pytest.mark.thorough
@pytest.mark.parametrize("way", WAYS)
def test_a_program_that_cheats_never_passes(way: str) -> None:
    given = results_of([(program, ADD) for program in CHEATS.values()], timeout=2, **WAYS[way])
    assert [name for name, result in zip(CHEATS, given, strict=True) if result["passed"]] == []


@pytest.mark.thorough
@pytest.mark.parametrize("way", WAYS)
def test_the_same_way_lets_a_right_program_pass(way: str) -> None:
    """So that no cheat fails for a reason of ours."""
    assert text_of("def add(a, b): return a + b", ADD, **WAYS[way]) == "passed"


@pytest.mark.thorough
def test_what_got_out_of_restrictedpython_once_does_not_any_more() -> None:
    programs = [(escape.format(cheat="def add(a, b): return a + b"), ADD) for escape in ESCAPES.values()]
    given = dict(zip(ESCAPES, texts_of(programs, allowed_imports=["string"]), strict=True))
    # Reading AttributeError.obj is no offence: string is a delegate of RestrictedPython's, which hides the module.
    assert [name for name, text in given.items() if text == "passed"] == ["CVE-2024-47532: AttributeError.obj"]


@pytest.mark.thorough
def test_what_gets_out_of_the_language_still_does_not_pass_without_solving() -> None:
    """Each escape first does get out, where nothing restricts it: a right program passes after it. Then it cheats."""
    right = [(escape.format(cheat="def add(a, b): return a + b"), ADD) for escape in ESCAPES.values()]
    cheating = [(escape.format(cheat=CHEAT_AFTER), ADD) for escape in ESCAPES.values()]
    given = texts_of([*right, *cheating], **OPEN)
    assert given[: len(right)] == ["passed"] * len(right), given
    assert not [text for text in given[len(right) :] if text == "passed"]


@pytest.mark.thorough
def test_the_jail_holds_whatever_the_language_allows(tmp_path: Path) -> None:
    canary = tmp_path / "canary"
    canary.write_text("a secret of the host")
    program = (
        "import os, socket, subprocess\n"
        "def tried(action):\n"
        "    try:\n        return str(action())\n"
        "    except BaseException as error:\n        return 'blocked'\n"
        "def f():\n"
        f"    return [tried(lambda: open({str(canary)!r}).read()), tried(lambda: os.listdir('/root')),\n"
        f"            tried(lambda: open({str(canary)!r}, 'w').write('x')),\n"
        "            tried(lambda: os.environ['HF_ALLOW_CODE_EVAL']),\n"
        "            tried(lambda: socket.create_connection(('127.0.0.1', 22), 1)),\n"
        "            tried(lambda: subprocess.run(['id'], capture_output=True))]\n"
    )
    [result] = results_of([(program, "output = f()")], return_output=True, **OPEN)
    assert result["output"] == ["blocked"] * 6
    assert canary.read_text() == "a secret of the host"


def test_a_program_cannot_make_the_metric_say_that_its_user_was_wrong() -> None:
    """What surrounds the programs is tried out without any of them."""
    program = "raise ImportError(\"No module named 'RestrictedPython'\")"
    assert text_of(program, ADD).startswith("failed")
