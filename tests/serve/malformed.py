"""Malformed requests."""

import json
from typing import Any

import httpx
from hypothesis import strategies as st

JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(st.characters(), max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
)
NESTED = [b"[" * 100_000, b'{"a":' * 100_000, b"[" * 100_000 + b"]" * 100_000]
LARGE = [b'{"a": ' + b"9" * 100_000 + b"}", b'"' + b"x" * 1_000_000 + b'"', b'{"a": 1e999999}']
ENCODINGS = ("utf-8", "utf-16", "utf-32", "utf-8-sig")


def bodies(valid: dict[str, Any]) -> st.SearchStrategy[bytes]:
    """Bodies of requests that are a little or completely wrong, given a valid one."""
    texts = (mutated(valid) | JSON).map(json.dumps)
    encoded = st.tuples(texts, st.sampled_from(ENCODINGS)).map(lambda pair: pair[0].encode(pair[1]))
    truncated = st.tuples(texts, st.integers(0, 200)).map(lambda pair: pair[0].encode()[: pair[1]])
    return encoded | truncated | st.binary() | st.sampled_from(NESTED + LARGE)


@st.composite
def mutated(draw: st.DrawFn, valid: dict[str, Any]) -> Any:
    """A valid request in which some values are replaced, left out or added."""
    value = json.loads(json.dumps(valid))
    for _ in range(draw(st.integers(1, 3))):
        place, key = value, draw(st.sampled_from([*value, "another"]))
        while isinstance(inner := place.get(key) if isinstance(place, dict) else place[key], dict | list) and inner:
            if draw(st.booleans()):
                break
            place, key = inner, draw(st.sampled_from([*inner] if isinstance(inner, dict) else range(len(inner))))
        if draw(st.booleans()) or isinstance(place, list) or key not in place:
            place[key] = draw(JSON)
        else:
            del place[key]
        if not value:
            break
    return value


def is_answered(client: httpx.Client, path: str, body: bytes) -> None:
    """Assert that the server answers, and doesn't take the blame."""
    answer = client.post(path, content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code < 500, (path, body[:1000], answer.text[:1000])
