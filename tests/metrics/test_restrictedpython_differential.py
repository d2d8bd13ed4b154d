"""Small programs, judged by RestrictedPython as its documentation uses it, and by us.

The documentation's pages on usage, builtins and guards, and the notes of each release, say what is allowed; the cases
go through that. Where the two differ, the case stands in DIFFERENT with the reason, and ours is the right one.
"""

# ruff: noqa: E501 - a program stands on one line beside its test

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.metrics.restricted import texts_of

pytest.importorskip("RestrictedPython", reason="RestrictedPython isn't installed: pip install alpha_codium[metrics]")
pytestmark = pytest.mark.usefixtures("shared_sandbox")
IMPORTS = ["math", "collections", "itertools", "functools", "re", "string"]
WORLD = ("unshare", "--net", "--pid", "--fork", "--kill-child", "--mount-proc")

# name -> (candidate, test)
ALIKE: dict[str, tuple[str, str]] = {
    "the first example of the documentation": ("def do_something():\n    pass", "assert do_something() is None"),
    "hello world": ("def hello_world():\n    return 'Hello World!'", "assert hello_world() == 'Hello World!'"),
    "a wrong answer": ("def f(x): return x", "assert f(1) == 2"),
    "an exception": ("def f(x): return 1 / x", "assert f(0) == 0"),
    "arithmetic": ("def f(a, b): return a + b * 2 - a ** b // 3 % 5 @ 1 if False else a", "assert f(1, 2) == 1"),
    "bit operations": ("def f(a): return ~a & 255 | 1 ^ 2 << 3 >> 1", "assert f(1) == 254 | 9"),
    "comparisons": ("def f(a): return 0 < a <= 2 != 3 and a in [1, 2] and a is not None", "assert f(2)"),
    "a conditional expression": ("def f(a): return 'y' if a else 'n'", "assert f(0) == 'n'"),
    "lambda": ("f = lambda x, *y, z=1, **w: x + z", "assert f(1) == 2"),
    "list comprehension": ("def f(n): return [i * j for i in range(n) for j in range(i) if j]", "assert f(4) == [2, 3, 6]"),
    "set comprehension": ("def f(x): return {i % 2 for i in x}", "assert f([1, 2, 3]) == {0, 1}"),
    "dict comprehension": ("def f(x): return {k: v for k, v in x}", "assert f([(1, 2)]) == {1: 2}"),
    "generator expression": ("def f(x): return list(i + 1 for i in x)", "assert f([1]) == [2]"),
    "yield": ("def f(n):\n    for i in range(n):\n        yield i", "assert list(f(3)) == [0, 1, 2]"),
    "yield from": ("def f(n):\n    yield from range(n)", "assert list(f(3)) == [0, 1, 2]"),
    "while, break, continue, else": ("def f(n):\n    while n:\n        n = n - 1\n        if n == 5: continue\n        if n == 2: break\n    else:\n        return 'else'\n    return n", "assert f(9) == 2 and f(1) == 'else'"),
    "unpacking": ("def f(x):\n    a, (b, *c), d = x\n    return [a, b, c, d]", "assert f([1, [2, 3, 4], 5]) == [1, 2, [3, 4], 5]"),
    "too few to unpack": ("def f(x):\n    a, b = x\n    return a", "assert f([1]) == 1"),
    "stars in a call": ("def g(*a, **k): return list(a) + [k['z']]\ndef f(): return g(*[1, 2], **{'z': 3})", "assert f() == [1, 2, 3]"),
    "default arguments": ("def f(a, /, b=2, *, c=3): return a + b + c", "assert f(1, c=4) == 7"),
    "augmented assignment of a name": ("def f(x):\n    x += 1\n    x *= 3\n    x -= 2\n    x **= 2\n    return x", "assert f(1) == 16"),
    "augmented assignment of a list": ("def f(x):\n    x += [2]\n    return x", "assert f([1]) == [1, 2]"),
    "augmented assignment of an attribute": ("def f(x): x.a += 1", "assert f(1) is None"),
    "augmented assignment of an item": ("def f(x): x[0] += 1", "assert f([1]) is None"),
    "augmented assignment of a slice": ("def f(x): x[0:1] += [1]", "assert f([1]) is None"),
    "setting an item": ("def f():\n    d = {}\n    d['a'] = 1\n    return d", "assert f() == {'a': 1}"),
    "deleting an item": ("def f(x):\n    del x[0]\n    return x", "assert f([1, 2]) == [2]"),
    "deleting a slice": ("def f(x):\n    del x[1:]\n    return x", "assert f([1, 2, 3]) == [1]"),
    "an annotated assignment": ("x: int = 1", "assert x == 1"),
    "annotations of a function": ("def f(x: int) -> int: return x", "assert f(1) == 1"),
    "a walrus": ("def f(x): return [y for i in x if (y := i * 2) > 2]", "assert f([1, 2]) == [4]"),
    "f-string": ("def f(x): return f'{x!r:>5}'", "assert f('a') == \"  'a'\""),
    "percent format": ("def f(x): return '%05.1f' % x", "assert f(2.25) == '002.2'"),
    "str.format": ("def f(x): return '{}'.format(x)", "assert f(1) == '1'"),
    "str.format_map": ("def f(x): return '{a}'.format_map({'a': x})", "assert f(1) == '1'"),
    "format of the class str": ("def f(x): return str.format('{}', x)", "assert f(1) == '1'"),
    "string.Formatter": ("def f(x): return string.Formatter().format('{}', x)", "assert f(1) == '1'"),
    "string.Formatter by an import": ("import string as s\ndef f(x): return s.Formatter().format('{}', x)", "assert f(1) == '1'"),
    "a name with an underscore": ("_x = 1", "assert True"),
    "the name _": ("for _ in [1]: x = _", "assert x == 1"),
    "a name that ends with __roles__": ("x__roles__ = 1", "assert True"),
    "an argument with an underscore": ("def f(_x): return 1", "assert f(1) == 1"),
    "a function with an underscore": ("def _f(): return 1", "assert True"),
    "a class with an underscore": ("class _A: pass", "assert True"),
    "an exception with an underscore": ("try:\n    pass\nexcept Exception as _e:\n    pass", "assert True"),
    "an import as an underscore": ("import math as _m", "assert True"),
    "an attribute with an underscore": ("def f(x): return x._y", "assert f(1)"),
    "a dunder attribute": ("def f(x): return x.__class__", "assert f(1)"),
    "getattr of a dunder attribute": ("def f(x): return getattr(x, '__class__')", "assert f(1)"),
    "getattr with a text of another class": ("def f(x): return getattr(x, 1)", "assert f(1)"),
    "the reserved name printed": ("printed = 1", "assert True"),
    "the reserved name print": ("def print(x): return x", "assert True"),
    "the reserved name breakpoint": ("breakpoint()", "assert True"),
    "exec": ("def f(): exec('1')", "assert f() is None"),
    "eval": ("def f(): return eval('1')", "assert f() == 1"),
    "open": ("def f(): return open('/etc/passwd').read()", "assert f()"),
    "input": ("def f(): return input()", "assert f()"),
    "compile": ("def f(): return compile('1', '', 'eval')", "assert f()"),
    "type": ("def f(x): return type(x)", "assert f(1)"),
    "globals": ("def f(): return globals()", "assert f()"),
    "sorted": ("def f(x): return sorted(x)", "assert f([1]) == [1]"),
    "sum": ("def f(x): return sum(x)", "assert f([1]) == 1"),
    "dict": ("def f(): return dict(a=1)", "assert f() == {'a': 1}"),
    "zip": ("def f(): return zip([1], [2])", "assert f()"),
    "enumerate": ("def f(): return enumerate([1])", "assert f()"),
    "safe builtins": ("def f(x): return [abs(x), bool(x), callable(f), chr(97), divmod(7, 2), hex(x), isinstance(x, int), ord('a'), pow(2, 3), repr(x), round(2.5), str(x)]", "assert f(3) == [3, True, True, 'a', (3, 1), '0x3', True, 97, 8, '3', 2, '3']"),
    "id, hash, slice, complex": ("def f(): return [hash(1) == 1, id(f) == id(f), [1, 2, 3][slice(1, 3)], complex(1, 2)]", "assert f() == [True, True, [2, 3], 1 + 2j]"),
    "a limited range": ("def f(n): return len(range(n))", "assert f(999) == 999"),
    "a range that is too long": ("def f(n): return len(range(n))", "assert f(1001) == 1001"),
    "a range with the step 0": ("def f(): return range(1, 2, 0)", "assert f()"),
    "a list of a text": ("def f(x): return list(x)", "assert f('ab') == ['a', 'b']"),
    "a tuple of a text": ("def f(x): return tuple(x)", "assert f('ab') == ('a', 'b')"),
    "utility builtins": ("def f(): return [math.floor(2.5), string.digits, set([1]), frozenset([2]), same_type(1, 2), test(0, 'a', 1, 'b')]", "assert f() == [2, '0123456789', {1}, frozenset([2]), True, 'b']"),
    "reorder": ("def f(): return reorder([1, 2, 3], [3, 1], [1])", "assert f() == [(3, 3)]"),
    "random": ("def f(): return 0 <= random.random() < 1", "assert f()"),
    "an import that isn't allowed": ("import os", "assert True"),
    "an import that is allowed": ("import itertools\ndef f(): return list(itertools.chain([1], [2]))", "assert f() == [1, 2]"),
    "from import": ("from functools import reduce\ndef f(x): return reduce(lambda a, b: a * b, x)", "assert f([2, 3]) == 6"),
    "import of a star": ("from math import *", "assert True"),
    "nonlocal": ("def f():\n    x = 1\n    def g():\n        nonlocal x\n        x = 2\n    g()\n    return x", "assert f() == 2"),
    "global": ("x = 1\ndef f():\n    global x\n    x = 2\n    return x", "assert f() == 2"),
    "async def": ("async def f(): return 1", "assert True"),
    "a class": ("class A:\n    x = 1\n    def get(self): return self.x", "assert A().get() == 1"),
    "a metaclass": ("class A(metaclass=type): pass", "assert True"),
    "a base class": ("class A(Exception): pass\ndef f():\n    try:\n        raise A('x')\n    except A as e:\n        return str(e)", "assert f() == 'x'"),
    "a method that may be defined": ("class A:\n    def __init__(self): pass\n    def __eq__(self, other): return True\n    def __contains__(self, x): return True\ndef f(): return A() == 1 and 2 in A()", "assert f()"),
    "a method that may not": ("class A:\n    def __add__(self, other): return 1", "assert True"),
    "a decorator": ("def twice(g): return lambda x: g(g(x))\n@twice\ndef f(x): return x + 1", "assert f(1) == 3"),
    "try, else, finally": ("def f(x):\n    r = []\n    try:\n        1 / x\n    except ZeroDivisionError:\n        r.append('e')\n    else:\n        r.append('o')\n    finally:\n        r.append('f')\n    return r", "assert f(0) == ['e', 'f'] and f(1) == ['o', 'f']"),
    "raise from": ("def f():\n    raise ValueError('a') from KeyError('b')", "assert f()"),
    "assert": ("def f(x):\n    assert x, 'no x'\n    return x", "assert f(0) == 0"),
    "except*": ("try:\n    pass\nexcept* ValueError:\n    pass", "assert True"),
    "match": ("def f(x):\n    match x:\n        case 1: return 1", "assert f(1) == 1"),
    "print": ("def f(x):\n    print('a', x, sep='-', end='')\n    return printed", "assert f(1) == 'a-1'"),
    "print at the top": ("print('a')\nprint('b')", "assert printed == 'a\\nb\\n'"),
    "print in the test": ("print('a')", "print('b')\nassert printed == 'a\\nb\\n'"),
    "printed without print": ("x = 1", "assert printed == ''"),
    "print to a file": ("def f(): print('a', file=1)", "assert f() is None"),
    "a frame of a generator": ("def f():\n    g = (i for i in [1])\n    return g.gi_frame", "assert f()"),
    "a traceback": ("def f():\n    try:\n        1 / 0\n    except Exception as e:\n        return e.__traceback__", "assert f()"),
    "a code object": ("def f(): return f.__code__", "assert f()"),
    "writing to a module": ("def f(): math.pi = 3", "assert f() is None"),
    "setattr on a function": ("def f(): setattr(f, 'x', 1)", "assert f() is None"),
    "Ellipsis, None, True": ("def f(): return [Ellipsis is ..., None, True, False]", "assert f() == [True, None, True, False]"),
    "bytes and complex": ("def f(): return [b'a'[0], 1j * 1j]", "assert f() == [97, -1 + 0j]"),
    "no Python": ("def f(:", "assert True"),
    "indented wrongly": ("  x = 1", "assert x == 1"),
    "an empty line": ("\n", "assert True"),
    "SystemExit": ("raise SystemExit(0)", "assert True"),
    "a text that isn't closed": ("x = 'abc", "assert True"),
}  # fmt: skip

# name -> (candidate, test, what RestrictedPython says, whether ours passes, why)
DIFFERENT: dict[str, tuple[str, str, str, bool, str]] = {
    "an object of the program's own class": (
        "class A:\n    def __init__(self): self.x = 1", "assert A().x == 1",
        "TypeError: attribute-less object (assign or del)", True,
        "full_write_guard refuses to let a program write to its own objects, so no class could have state",
    ),
    "a container of collections": (
        "import collections\ndef f():\n    c = collections.Counter()\n    c['a'] = 1\n    return c", "assert f()['a'] == 1",
        "TypeError: object does not support item or slice assignment", True,
        "full_write_guard knows dict and list, and no class derived from them",
    ),
    "a missing attribute": (
        "class A: pass\ndef f(): return A().nope", "assert f() is None",
        "passed", False,
        "safer_getattr gives None for what is missing; in Python that is an AttributeError",
    ),
    "a test with what programs may not use": (
        "def f(x): return x", "import json\nassert sorted([f(2), f(1)]) == [1, 2] and json.dumps(f([1])) == '[1]'",
        "ImportError: import of 'json' is not allowed", True,
        "tests are the user's, and run on another side: they aren't restricted",
    ),
    "a test that says what is forbidden": (
        "def f(x): return x", "_x = 1\nassert f(_x) == 1",
        "SyntaxError: ('Line 2: \"_x\" is an invalid variable name because it starts with \"_\"', "
        "'Line 3: \"_x\" is an invalid variable name because it starts with \"_\"')", True,
        "tests are the user's, and run on another side: they aren't restricted",
    ),
    "an object that is equal to everything": (
        "class A:\n    def __eq__(self, other): return True\ndef f(): return A()", "assert f() == 5",
        "passed", False,
        "nothing of the program's decides",
    ),
    "an import of a submodule": (
        "import collections.abc\ndef f(): return isinstance([], collections.abc.Sequence)", "assert f()",
        "ImportError: import of 'collections.abc' is not allowed", True,
        "who may import a module may import what is in it: the importer is ours, RestrictedPython has none",
    ),
}  # fmt: skip


def plainly(cases: list[tuple[str, str]]) -> list[str]:
    """What RestrictedPython says by itself, in a process without a network and without the others'."""
    if shutil.which("unshare") is None or os.geteuid() != 0:
        pytest.skip("what isn't in our jail runs in namespaces of its own, which takes root and unshare")
    script = Path(__file__).with_name("plain_restricted.py")
    given = json.dumps([(candidate, test, IMPORTS) for candidate, test in cases])
    command = [*WORLD, sys.executable, "-W", "ignore", str(script)]
    ended = subprocess.run(command, input=given, capture_output=True, text=True, timeout=60, check=True)
    return json.loads(ended.stdout)


@pytest.mark.thorough
def test_restrictedpython_by_itself_and_ours_say_the_same() -> None:
    theirs = plainly(list(ALIKE.values()))
    ours = texts_of(ALIKE, allowed_imports=IMPORTS)
    verdicts = {
        name: (plain == "passed", text == "passed") for name, plain, text in zip(ALIKE, theirs, ours, strict=True)
    }
    different = {name: verdict for name, verdict in verdicts.items() if verdict[0] != verdict[1]}
    assert not different, {name: (theirs[i], ours[i]) for i, name in enumerate(ALIKE) if name in different}
    # Neither side says yes, or no, to everything.
    assert 30 < sum(plain for plain, _ in verdicts.values()) < len(ALIKE) - 30


@pytest.mark.thorough
def test_a_program_that_does_not_compile_gets_restrictedpythons_own_words() -> None:
    theirs = plainly(list(ALIKE.values()))
    ours = texts_of(ALIKE, allowed_imports=IMPORTS)
    said = {
        name: (plain.removeprefix("SyntaxError: "), text.removeprefix("failed: "))
        for name, plain, text in zip(ALIKE, theirs, ours, strict=True)
        if plain.startswith("SyntaxError: ")
    }
    assert len(said) >= 20
    assert {name: text for name, (_, text) in said.items()} == {name: plain for name, (plain, _) in said.items()}


def test_each_difference_has_its_reason() -> None:
    cases = [(candidate, test) for candidate, test, *_ in DIFFERENT.values()]
    ours = texts_of(cases, allowed_imports=IMPORTS)
    for (name, (*_, theirs, passes, why)), plain, text in zip(DIFFERENT.items(), plainly(cases), ours, strict=True):
        assert plain == theirs, name
        assert (text == "passed") is passes, (name, text)
        assert (plain == "passed") is not passes, (name, why)
