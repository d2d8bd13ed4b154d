"""Malformed requests for any address: bodies, types, sizes, encodings and nesting that no client should send."""

import json
from collections.abc import Iterable

import httpx
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(st.characters(), max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters(), max_size=5), inner, max_size=3)
    ),
)
NESTED = [b"[" * 100_000, b'{"a":' * 50_000, b"[" * 900 + b"]" * 900]
ENCODED = ['{"code": "\ud800"}'.encode("utf-8", "surrogatepass"), '{"a": 1}'.encode("utf-16"), b"\xff\xfe", b"\0"]
TYPES = ["application/json", "application/json; charset=utf-16", "text/plain", "application/x-www-form-urlencoded", ""]
"""The types of bodies that requests are sent with."""


def bodies_of(fields: Iterable[str], right: dict) -> st.SearchStrategy[bytes]:
    """Return bodies: bytes, JSON of any shape, the fields with any values, and a right request with wrong values."""
    names = tuple(fields)
    any_values = st.fixed_dictionaries({}, optional=dict.fromkeys(names, JSON))
    one_wrong = st.tuples(st.sampled_from(names), JSON).map(lambda pair: right | {pair[0]: pair[1]})
    values = (any_values | JSON | one_wrong | changed(right)).map(lambda value: json.dumps(value).encode())
    return st.binary() | values | st.sampled_from(NESTED + ENCODED)


@st.composite
def changed(draw: st.DrawFn, right: dict) -> object:
    """A right request in which values at any depth are replaced or left out, or have a name that there isn't."""
    value = json.loads(json.dumps(right))
    for _ in range(draw(st.integers(1, 3))):
        place, key = value, draw(st.sampled_from([*value]))
        while isinstance(inner := place[key], dict | list) and inner and draw(st.booleans()):
            place, key = inner, draw(st.sampled_from([*inner] if isinstance(inner, dict) else range(len(inner))))
        if isinstance(place, list) or len(place) == 1 or draw(st.booleans()):
            place[key] = draw(JSON)
        elif draw(st.booleans()):
            del place[key]
        else:
            place[draw(st.text(st.characters(), max_size=5)) + "\ud800"] = place.pop(key)
    return value


def never_a_fault(client: httpx.Client, address: str, bodies: st.SearchStrategy[bytes], examples: int) -> None:
    """Send `examples` bodies; each must be answered in time, with a status below 500."""

    @settings(max_examples=examples, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(body=bodies, kind=st.sampled_from(TYPES))
    def send(body: bytes, kind: str) -> None:
        answer = client.post(address, content=body, headers={"Content-Type": kind})
        assert answer.status_code < 500, f"{answer.status_code} {answer.text[:1000]}"

    send()
