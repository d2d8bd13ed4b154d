import base64
import os
import pickle
import pickletools
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alpha_codium.data.unpickling import ALLOWED, CALLS, LONG_INTEGERS, OPCODES, loads
from alpha_codium.errors import DatasetError

MIB = 1 << 20
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**31), 2**31 - 1)
    | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_categories=()))
)
KEYS = st.text() | st.integers(-(2**31), 2**31 - 1)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner)
        | st.lists(inner).map(tuple)
        | st.dictionaries(KEYS, inner)
        | inner.map(lambda value: [value, (value, value), {"again": value}])
    ),
    max_leaves=20,
)


class Caller:
    def __init__(self, *reduced):
        self.reduced = reduced

    def __reduce__(self):
        return self.reduced


@pytest.mark.thorough
@given(VALUES, st.integers(0, pickle.HIGHEST_PROTOCOL))
def test_what_lists_dicts_text_and_numbers_make_is_read_as_pickle_reads_it(value, protocol):
    assert loads(pickle.dumps(value, protocol), max_bytes=MIB) == value


@pytest.mark.thorough
@given(
    st.binary(max_size=200)
    | st.lists(st.sampled_from([bytes([code]) for code, opcode in OPCODES.items() if opcode.name in ALLOWED])).map(
        b"".join
    )
)
def test_bytes_that_are_no_pickle_are_one_clear_error(data):
    try:
        value = loads(data + b".", max_bytes=MIB, where="all.pkl")
    except DatasetError as error:
        assert str(error).startswith("all.pkl: ") and "\n" not in str(error)
    else:
        assert isinstance(value, str | int | float | list | tuple | dict | None)


@pytest.mark.thorough
@given(VALUES, st.integers(0, pickle.HIGHEST_PROTOCOL), st.data())
@settings(max_examples=200)
def test_a_damaged_pickle_is_read_or_one_clear_error(value, protocol, data):
    damaged = bytearray(pickle.dumps(value, protocol))
    damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    try:
        loads(bytes(damaged), max_bytes=MIB)
    except DatasetError as error:
        assert str(error).startswith("the pickle: ")


@pytest.mark.parametrize(
    "reduced", [(os.system, ("touch called",)), (eval, ("1+1",)), (str.upper, ("a",)), (list, (), None, iter([1]))]
)
@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_what_imports_or_calls_is_refused_and_not_called(reduced, protocol, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DatasetError, match="import or call"):
        loads(pickle.dumps(["a text", Caller(*reduced)], protocol), max_bytes=MIB)
    assert not list(tmp_path.iterdir())


def test_every_instruction_that_pickle_has_is_known_or_refused():
    for opcode in pickletools.opcodes:
        if opcode.name not in ALLOWED | LONG_INTEGERS:
            with pytest.raises(DatasetError, match="import or call" if opcode.name in CALLS else "unsupported instruc"):
                loads(opcode.code.encode("latin-1") + bytes(20), max_bytes=MIB)
    calling = {"GLOBAL", "STACK_GLOBAL", "REDUCE", "BUILD", "INST", "OBJ", "NEWOBJ", "NEWOBJ_EX", "PERSID", "BINPERSID"}
    assert calling < CALLS and not CALLS & (ALLOWED | LONG_INTEGERS)
    assert {opcode.name for opcode in pickletools.opcodes} > ALLOWED | CALLS | LONG_INTEGERS


@pytest.mark.parametrize("value", [{1, 2}, b"bytes", bytearray(b"x"), 1j, time.struct_time(range(9))])
def test_other_types_are_refused(value):
    with pytest.raises(DatasetError):
        loads(pickle.dumps(value, 5), max_bytes=MIB)


def test_shared_lists_that_unfold_into_a_large_value_are_refused():
    value = ["text"]
    for _ in range(40):
        value = [value, value]
    with pytest.raises(DatasetError, match="takes more than 1048576 bytes"):
        loads(pickle.dumps(value), max_bytes=MIB)


def test_many_small_values_are_counted_with_what_they_take():
    with pytest.raises(DatasetError, match="takes more than"):
        loads(b"(" + b"]" * 100_000 + b"l.", max_bytes=MIB)


@pytest.mark.parametrize("number", [b"r\xff\xff\xff\x7f", b"p2147483647\n", b"p" + b"9" * 5000 + b"\n", b"p-5\n"])
def test_a_large_number_of_a_value_takes_no_memory(number):
    with pytest.raises(DatasetError, match="not a valid pickle"):
        loads(b"N" + number + b".", max_bytes=MIB)


@pytest.mark.parametrize("opcode", [b"X\xff\xff\xff\xff", b"\x8d" + b"\xff" * 8, b"T\0\0\0\x7f"])
def test_a_length_beyond_the_end_takes_no_memory(opcode):
    with pytest.raises(DatasetError, match="cut short"):
        loads(opcode + b".", max_bytes=MIB)


def test_a_pickle_above_the_limit_is_not_read():
    with pytest.raises(DatasetError, match="larger than the limit of 10 bytes"):
        loads(pickle.dumps("a" * 100), max_bytes=10)


def test_a_list_that_holds_itself_is_refused():
    value = [1]
    value.append([value])
    with pytest.raises(DatasetError, match="holds itself"):
        loads(pickle.dumps(value), max_bytes=MIB)


@pytest.mark.parametrize("deep", [b"]" * 500 + b"a" * 499, b"N" + b"\x85" * 500])
def test_what_is_nested_too_deep_is_refused(deep):
    with pytest.raises(DatasetError, match="nested deeper"):
        loads(deep + b".", max_bytes=MIB)


def test_keys_that_all_fall_into_one_place_are_refused():
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        with pytest.raises(DatasetError, match="an integer of more than 32 bits"):
            loads(pickle.dumps({n * (2**61 - 1): 1 for n in range(1, 100)}, protocol), max_bytes=MIB)
    with pytest.raises(DatasetError, match="keys must be text or integers, not tuple"):
        loads(pickle.dumps({(1, 2): 1}), max_bytes=MIB)


def test_a_number_that_takes_long_to_read_is_refused():
    with pytest.raises(DatasetError, match="an integer of more than 32 bits"):
        loads(b"L" + b"9" * 100_000 + b"L\n.", max_bytes=MIB)


def test_text_of_python_2_is_read():
    # pickle.dumps({0: ["caf\xc3\xa9", u"\u2603"]}, 0 and 2) of CPython 2.7
    assert loads(b"(dp0\nI0\n(lp1\nS'caf\\xc3\\xa9'\np2\naV\\u2603\np3\nas.", max_bytes=MIB) == {0: ["café", "☃"]}
    data = base64.b64decode("gAJ9cQBLAF1xAShVBWNhZsOpcQJYAwAAAOKYg3EDZXMu")
    assert loads(data, max_bytes=MIB) == {0: ["café", "☃"]}
