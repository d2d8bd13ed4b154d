"""Values between processes: what goes in comes out, with its type, and nothing else gets through."""

import collections
import contextlib
import enum
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alpha_codium.judge import codec
from alpha_codium.judge.codec import MAX_DEPTH, Malformed, Unencodable, decode, encode, unreferred
from alpha_codium.judge.drivers import driver
from tests.judge.pythons import OTHER_PYTHONS

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(-(10**400), 10**400)
    | st.floats(allow_nan=False)
    | st.complex_numbers(allow_nan=False)
    | st.text(st.characters(exclude_categories=()))
    | st.binary()
)
HASHABLE = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3).map(tuple) | st.frozensets(inner, max_size=3), max_leaves=5
)
VALUES = st.recursive(
    HASHABLE | st.binary().map(bytearray) | st.builds(range, st.integers(), st.integers(), st.integers(1)),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.sets(HASHABLE, max_size=4)
        | st.dictionaries(HASHABLE, inner, max_size=4)
        | st.lists(inner, max_size=3).map(collections.deque)
        | st.dictionaries(HASHABLE, inner, max_size=3).map(collections.OrderedDict)
        | st.dictionaries(HASHABLE, inner, max_size=3).map(lambda d: collections.defaultdict(None, d))
        | st.dictionaries(HASHABLE, st.integers(), max_size=3).map(collections.Counter)
    ),
    max_leaves=12,
)


def shape(value: object) -> object:
    """A value as nested types and reprs, so that 1, 1.0 and True differ, and so do 0.0 and -0.0."""
    if isinstance(value, dict):
        return type(value), sorted((repr(shape(k)), repr(shape(v))) for k, v in value.items())
    if isinstance(value, set | frozenset):
        return type(value), sorted(repr(shape(item)) for item in value)
    if isinstance(value, list | tuple | collections.deque):
        return type(value), [shape(item) for item in value]
    return type(value), repr(value)


@pytest.mark.parametrize("value", [collections.defaultdict(int), collections.deque([1], maxlen=2)])
def test_values_that_would_cross_in_part_are_referred_to_if_possible(value: object) -> None:
    assert decode(encode([value], lambda _: 7), referred=lambda number: number) == [7]
    assert decode(encode(value)) == value
    with pytest.raises(Unencodable):
        encode(value, unreferred)


@pytest.mark.thorough
@given(VALUES)
def test_a_value_comes_back_as_it_was_with_every_type(value: object) -> None:
    text = encode(value)
    assert text.isascii()
    assert shape(decode(text)) == shape(value)
    assert encode(decode(text)) == text or isinstance(value, set | frozenset) or "S" in text or "Z" in text


@given(st.floats(), st.floats())
def test_a_nan_stays_a_nan(real: float, imaginary: float) -> None:
    assert repr(decode(encode([real, complex(real, imaginary)]))) == repr([real, complex(real, imaginary)])


@given(st.sampled_from(["bool", "int8", "uint64", "float16", "float64", "complex64", "M8[ns]", "m8[D]"]), st.data())
def test_a_number_of_numpy_keeps_its_type_where_objects_may_cross(name: str, data: st.DataObject) -> None:
    numpy = pytest.importorskip("numpy", reason="NumPy isn't installed")
    dtype = numpy.dtype(name)
    digits = data.draw(st.binary(min_size=dtype.itemsize, max_size=dtype.itemsize))
    value = numpy.frombuffer(bytes(each & 1 for each in digits) if name == "bool" else digits, dtype)[0]
    back = decode(encode([value], unreferred), referred=unreferred)[0]
    assert type(back) is type(value)
    assert (back.dtype, back.tobytes()) == (dtype, value.tobytes())


@pytest.mark.parametrize("body", ["O,00", "<f8,00", "f8," + "0" * 16, "<i1,01", "|i1,0A", "<i4", "(,", "i4,i4,00"])
def test_what_is_no_number_of_numpy_is_malformed(body: str) -> None:
    with pytest.raises(Malformed):
        decode(f"y{body};", referred=unreferred)
    with pytest.raises(Malformed, match="unexpected reference"):
        decode(f"y{body};")


@given(st.text() | st.text("nitfdcsbayLTSZDRCOVQ();,-.x0123456789p", max_size=60))
def test_any_text_is_a_value_or_malformed(text: str) -> None:
    try:
        value = decode(text)
    except Malformed:
        return
    assert shape(decode(encode(value))) == shape(value)


@given(VALUES, st.data())
def test_a_text_with_one_character_changed_is_a_value_or_malformed(value: object, data: st.DataObject) -> None:
    text = encode(value)
    place = data.draw(st.integers(0, len(text) - 1))
    changed = text[:place] + data.draw(st.characters(max_codepoint=127)) + text[place + 1 :]
    with contextlib.suppress(Malformed):
        decode(changed)


@pytest.mark.parametrize("made", [{12, 13, 14, 15, 16}, set(range(12, 17)), frozenset({16, 8, 0, 24, 5, 40})])
def test_a_set_keeps_the_order_that_a_program_may_show(made: object) -> None:
    assert list(decode(encode(made))) == list(made)  # type: ignore[call-overload]


class Colour(enum.IntEnum):
    RED = 1


class Equal(int):
    __eq__ = lambda *_: True  # noqa: E731
    __hash__ = int.__hash__


class Items(dict):
    pass


Point = collections.namedtuple("Point", "x y")


@pytest.mark.parametrize("value", [Colour.RED, Equal(1), Items(), Point(1, 2), object(), len, int, iter([]), {}.keys()])
def test_what_a_program_derives_from_a_known_type_does_not_cross(value: object) -> None:
    with pytest.raises(Unencodable, match="can't cross"):
        encode([{"a": value}])


def test_values_nested_too_deep_or_in_themselves_do_not_cross() -> None:
    deep: list = []
    for _ in range(MAX_DEPTH - 1):
        deep = [deep]
    assert decode(encode(deep)) == deep
    with pytest.raises(Unencodable, match="too deep"):
        encode([deep])
    loop: list = []
    loop.append(loop)
    with pytest.raises(Unencodable, match="too deep"):
        encode(loop)
    with pytest.raises(Malformed, match="too deep"):
        decode("L" * 100_000)


@pytest.mark.parametrize(
    "text",
    ["", "n;n;", "L", ")", "L)x", "i;", "i+1;", "i0x1;", "i 1;", "i1_0;", "iA;", "i01;", "d1;", "dinfinity;", "s0;",
     "s4 1;", "sff;", "b4A;", "n1;", "Di1;)", "Di1;n;i1;n;)", "SL))", "Si1;i1;)", "Ri0;i0;i0;)", "Ri0;)", "r0;",
     "Dr0;n;)"],
)  # fmt: skip
def test_unusual_spellings_are_malformed(text: str) -> None:
    with pytest.raises(Malformed):
        decode(text)


def test_a_number_may_stand_for_a_value_that_can_not_cross() -> None:
    kept: list[object] = []
    text = encode([print, (len,)], lambda value: kept.append(value) or len(kept) - 1)
    assert decode(text, referred=kept.__getitem__) == [print, (len,)]
    with pytest.raises(Malformed):
        decode("r7;", referred=kept.__getitem__)


@pytest.mark.parametrize("python", [sys.executable, *OTHER_PYTHONS])
def test_each_supported_python_spells_values_alike(python: str) -> None:
    value = [
        None,
        True,
        -(10**50),
        1.5,
        float("inf"),
        1j,
        "é\ud800;)",
        b"\0",
        (1, {2: [3]}),
        range(3),
        {"a": frozenset({1})},
    ]
    code = f"exec(open({codec.__file__!r}).read())\nprint(encode(decode({encode(value)!r})))"
    done = subprocess.run([python, "-I", "-S", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == encode(value) + "\n"


def test_the_codec_of_a_driver_needs_the_standard_library_only_and_little_of_it() -> None:
    code = f"import sys\nexec({driver('call')!r})\nencode([1])\nprint('re' in sys.modules)"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
