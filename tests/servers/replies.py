"""What a scripted server can answer: answers, faults, and the rules that say which request meets which fault.

A script is a callable that gets the parsed body of a request, with its messages in OpenAI's form, and gives a
`Reply` or a text. A fault rule is a callable that gets the `Seen` request and gives a `Reply`, or None to leave the
request to the next rule and at last to the script. All rules are deterministic: what a request meets depends on its
body and on how often that body was seen, never on the clock.
"""

import hashlib
import json
import random
import re
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


class Reply:
    """Whatever the server does with one request."""


@dataclass(frozen=True)
class Text(Reply):
    """An answer. Tokens that are not given are counted in words."""

    content: str
    finish_reason: str = "stop"
    reasoning: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int = 0


def Truncated(content: str) -> Text:
    """An answer that reached its limit of tokens."""
    return Text(content, finish_reason="length")


def Filtered(content: str = "") -> Text:
    """An answer that a content filter stopped."""
    return Text(content, finish_reason="content_filter")


@dataclass(frozen=True)
class Status(Reply):
    """An HTTP error; `retry_after` is seconds or an HTTP date; `body` replaces the usual JSON error."""

    code: int
    message: str = "scripted fault"
    retry_after: float | str | None = None
    error_type: str = "scripted_error"
    error_code: str | None = None
    body: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Hang(Reply):
    """No answer until the client gives up or the server stops."""


@dataclass(frozen=True)
class Cut(Reply):
    """The connection is closed after so many bytes of the answer's body; None: before its first header."""

    after_bytes: int | None = 20


@dataclass(frozen=True)
class Malformed(Reply):
    """Status 200 and a body that is no answer."""

    body: str = '{"id": "chatcmpl-1", "choices": [{"mess'
    content_type: str = "application/json"


@dataclass(frozen=True)
class Delay(Reply):
    """Another reply, so many seconds later."""

    seconds: float
    reply: Reply | str


@dataclass(frozen=True)
class Seen:
    """One request as it arrived; `times_before` counts earlier requests with the same body."""

    number: int
    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]
    arrived: float
    times_before: int = 0

    @property
    def digest(self) -> str:
        """A short hash of the body."""
        return digest_of(self.body)


Script = Callable[[dict[str, Any]], Reply | str]
Rule = Callable[[Seen], Reply | None]


def digest_of(body: Mapping[str, Any]) -> str:
    """A short hash of a body, whatever the order of its keys."""
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()[:16]


def text_of(message: Mapping[str, Any]) -> str:
    """The text of a message, whose content may be a text or a list of parts."""
    content = message.get("content") or ""
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def last_user(body: Mapping[str, Any]) -> str:
    """The text of the last message of the user."""
    users = [message for message in body.get("messages", ()) if message.get("role") == "user"]
    return text_of(users[-1]) if users else ""


def echo(body: dict[str, Any]) -> Reply:
    """The default script: says what the user said last."""
    return Text(f"echo: {last_user(body)}")


def table(rules: Sequence[tuple[str, Reply | str]], default: Reply | str | None = None) -> Script:
    """A script that answers by the first regular expression found in the user's last message.

    A request that no rule fits gets `default`, or status 400, which says so.
    """
    compiled = [(re.compile(pattern, re.DOTALL), reply) for pattern, reply in rules]
    otherwise = Status(400, "no rule of the script fits") if default is None else default

    def script(body: dict[str, Any]) -> Reply | str:
        said = last_user(body)
        return next((reply for pattern, reply in compiled if pattern.search(said)), otherwise)

    return script


def OnNumbers(replies: Mapping[int, Reply]) -> Rule:
    """A fault for the requests of these numbers, the first of which is 1."""
    return lambda seen: replies.get(seen.number)


def When(predicate: Callable[[Seen], bool], reply: Reply) -> Rule:
    """A fault for every request that the predicate takes."""
    return lambda seen: reply if predicate(seen) else None


def Always(reply: Reply) -> Rule:
    """A fault for every request."""
    return lambda _seen: reply


def FaultOnce(*replies: Reply) -> Rule:
    """Each distinct request meets these faults, one each time it comes, and is answered from then on."""
    return lambda seen: replies[seen.times_before] if seen.times_before < len(replies) else None


def OneOfOnce(replies: Sequence[Reply], probability: float = 1.0, seed: int = 0) -> Rule:
    """Each distinct request meets, with this probability, one of these faults, once."""

    def rule(seen: Seen) -> Reply | None:
        chance = random.Random(f"{seed} {seen.digest}")
        return chance.choice(replies) if seen.times_before == 0 and chance.random() < probability else None

    return rule


def WithProbability(probability: float, *replies: Reply, seed: int = 0) -> Rule:
    """With this probability one of these faults, drawn anew for every time a request comes."""

    def rule(seen: Seen) -> Reply | None:
        chance = random.Random(f"{seed} {seen.digest} {seen.times_before}")
        return chance.choice(replies) if chance.random() < probability else None

    return rule


class Tally:
    """Counts how often each body was seen; safe between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seen: Counter[str] = Counter()

    def next(self, body: Mapping[str, Any]) -> int:
        """How often this body came before."""
        with self._lock:
            digest = digest_of(body)
            self._seen[digest] += 1
            return self._seen[digest] - 1
