"""Inputs that servers store, so that those which many programs run on are sent once."""

import hashlib
import json
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

# Smaller inputs are sent along each time.
LEAST_CHARACTERS = 8 << 10
# Characters of the inputs that are remembered.
MOST_REMEMBERED = 64 << 20


def canonical(problem: Mapping[str, Any]) -> bytes:
    """Return a request for `/v1/problems`, without its defaults, in the form that is hashed."""
    return json.dumps(problem, sort_keys=True, separators=(",", ":")).encode()


def digest_of(problem: Mapping[str, Any]) -> str:
    """Return the SHA-256 under which servers store a problem, in hexadecimal digits."""
    return hashlib.sha256(canonical(problem)).hexdigest()


@dataclass(frozen=True)
class StoredInputs:
    """Inputs that servers store as a problem without outputs."""

    inputs: tuple[str, ...]

    @cached_property
    def digest(self) -> str:
        """The name of the problem."""
        return digest_of(self.problem())

    def problem(self) -> dict[str, Any]:
        """Return the request that stores them."""
        return {"tests": [{"input": text} for text in self.inputs]}

    def part(self, first: int, count: int) -> dict[str, Any]:
        """Return what stands in a job in place of some of the inputs."""
        return {"problem": self.digest, "first": first, "count": count}


class RepeatedInputs:
    """Recognizes the inputs that several programs run on. The least recently used are forgotten."""

    def __init__(self, most: int = MOST_REMEMBERED) -> None:
        self.most = most
        self._size = 0
        self._seen: OrderedDict[tuple[str, ...], StoredInputs | None] = OrderedDict()

    def find(self, inputs: Sequence[str]) -> StoredInputs | None:
        """Return the inputs as stored by servers, or None where they are small or seen for the first time."""
        key, size = tuple(inputs), sum(map(len, inputs))
        if not LEAST_CHARACTERS <= size <= self.most:
            return None
        if key in self._seen:
            self._seen[key] = self._seen[key] or StoredInputs(key)
            self._seen.move_to_end(key)
            return self._seen[key]
        self._seen[key] = None
        self._size += size
        while self._size > self.most:
            self._size -= sum(map(len, self._seen.popitem(last=False)[0]))
        return None
