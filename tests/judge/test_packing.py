"""Several texts as one, which nothing that stands in them can break."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alpha_codium.judge.packing import pack, unpack

TEXTS = st.lists(st.text(st.characters(codec="utf-8")) | st.sampled_from(["", "\n", "3 4\n", "0\n", "é\r\n", "-1\n"]))


@given(TEXTS)
def test_what_is_unpacked_is_what_was_packed(texts: list[str]) -> None:
    assert unpack(pack(texts).encode()) == [text.encode() for text in texts]


@given(st.lists(st.text(), min_size=1))
def test_invalid_unicode_is_counted_as_the_sandbox_writes_it(texts: list[str]) -> None:
    packed = pack(texts).encode("utf-8", "replace")
    assert unpack(packed) == [text.encode("utf-8", "replace") for text in texts]


@given(TEXTS, st.text(st.characters(codec="utf-8"), min_size=1), st.data())
def test_a_hostile_text_does_not_change_the_others(texts: list[str], hostile: str, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(texts)))
    changed = [*texts[:place], hostile, *texts[place:]]
    read = unpack(pack(changed).encode())
    assert read[:place] + read[place + 1 :] == [text.encode() for text in texts]


@pytest.mark.parametrize("torn", [b"3\nab", b"1 1\nabc", b"x\nabc", b"-1 4\nabc", b"3"])
def test_a_torn_text_is_an_error(torn: bytes) -> None:
    with pytest.raises(ValueError, match=r"bytes of texts whose sizes|invalid literal"):
        unpack(torn)
