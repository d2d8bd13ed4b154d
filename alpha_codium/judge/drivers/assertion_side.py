"""The assertions' side of a pair: what they may ask of the program, and the objects that they lend to it.

1. No `__eq__` or other method of the program may decide an assertion, with the exceptions in `deciding`. The program
   is also `believed` if it suppresses an exception in `__exit__`, which it can't for a failed assertion.
2. `final_outcomes` can't be undone by catching an exception; the first one counts. `crossed` holds the exceptions that
   came from the program.
3. The program may only call, iterate and read the functions, iterators and objects that it is lent: see `lending`.
"""

import sys
from collections.abc import Iterable
from typing import Any

from alpha_codium.judge.codec import Excessive, Malformed, Unencodable, encode
from alpha_codium.judge.drivers.deciding import DecidingPeer
from alpha_codium.judge.drivers.exceptions import ExceptionOfOther
from alpha_codium.judge.drivers.lending import is_lendable, lend
from alpha_codium.judge.drivers.peer import ProgramEnded
from alpha_codium.judge.drivers.proxies import is_proxy, number_of_proxy

STDOUT = sys.stdout
CALLS = ("call", "call_name")
# Requests that raise StopIteration at the end of an iterator.
NEXT = ("next", "next_async")
EXITS = ("exit", "exit_async")
# Names of types of values that are parts of an answer, such as the traceback of an exception.
PARTS = ("traceback", "SafeUUID", "odict_items", "odict_keys", "odict_values")
# Methods of sets that count as comparisons, in addition to names such as `issubset` and `startswith`.
COMPARING = ("difference", "symmetric_difference", "intersection")
# Characters of an encoded answer that is shown if an assertion fails.
MAX_SHOWN = 1 << 16


class LeftPeer(DecidingPeer):
    """The side of the assertions."""

    def __init__(
        self,
        catches: "Iterable[str]" = (),
        has_class: bool = False,
        classes: "Iterable[str]" = (),
        imports: "Iterable[str]" = (),
    ) -> None:
        super().__init__(lend(self), has_class)
        self.catches, self.class_names = frozenset(catches), frozenset(classes)
        self.imports = tuple(imports)
        self.crossed: list[Any] = []
        self.classes: set[int | None] = set()
        # Methods of objects that the assertions made, whose results are `offspring`.
        self.methods: set[int | None] = set()
        self.highest = -1
        # What the last call returned, if that was short.
        self.returned: list[Any] = []

    def load(self, names: "list[str]") -> "dict[str, Any]":
        """Return the objects that the program defines under these names; raises the exception that it raised."""
        asked_for = tuple(names)  # the program's answer may change the list
        given = self.request("load", names)
        # Ignore other names: the program's `abs` must not replace the builtin in the assertions.
        found = {name: given[name] for name in asked_for if type(given) is dict and name in given}
        self.share(found)
        numbers = {name: self.number_of(value) for name, value in found.items() if is_proxy(value)}
        # An object that also has a name which isn't used as a class counts as a function.
        others = {number for name, number in numbers.items() if name not in self.class_names}
        self.classes = {number for name, number in numbers.items() if name in self.class_names} - others
        return found

    def follow_seeds(self) -> None:
        """Seed the program's random numbers, too, when the assertions seed theirs."""
        for name in ("random", "numpy.random") if "numpy" in self.imports else ("random",):
            __import__(name)
            module = sys.modules[name]

            def seed(*given: "Any", name: str = name, own: "Any" = module.seed, **keywords: "Any") -> None:
                own(*given, **keywords)
                self.request("seed", name, *given, **keywords)

            module.seed = seed  # type: ignore[attr-defined]

    def request(self, what: str, /, *arguments: "Any", **keywords: "Any") -> "Any":
        """Ask the program; returns its answer or raises its exception."""
        if what not in ("operate", "content"):
            self.given.clear()
        try:
            kind, value = self.ask(what, *arguments, **keywords)
            if kind == "raised" and not isinstance(value, BaseException):
                raise TypeError("it raised something that isn't an exception")
        except Exception as fault:
            # A program can make any value too deep or too large; this must not make the verdict `in_process`.
            other_type = isinstance(fault, Unencodable) and not isinstance(fault, Excessive)
            self.final_outcomes.append("unsupported" if other_type else "ended")
            if isinstance(fault, (ProgramEnded, Unencodable)):
                raise
            raise Malformed("the program's answer can't be read") from fault
        if kind == "value":
            return self.believes_exit(value, *arguments) if what in EXITS else value
        expected = what in NEXT or (what in CALLS and "StopIteration" in self.catches)
        if isinstance(value, StopIteration) and not expected:
            # StopIteration would silently end a `map` or `zip` of the assertions, and skip checks.
            value = RuntimeError("the program raised StopIteration")
        self.crossed.append(value)
        if not isinstance(value, Exception) and self.catches.isdisjoint(each.__name__ for each in type(value).__mro__):
            self.final_outcomes.append("ended")
        raise value

    def show(self, error: "Any") -> None:
        """Let the program's side print the traceback of an exception that it raised; what it answers doesn't matter."""
        if id(error) in self.stand_ins:
            try:
                self.ask("show", error)
            except Exception:  # noqa: BLE001 - the program has ended, or its answer can't be read
                return

    def believes_exit(self, value: "Any", proxy: "Any", kind: "Any" = None, *_: "Any") -> "Any":
        """Return what `__exit__` returned. No object that the program returned may suppress a failed assertion."""
        if kind is None or not value:
            return value
        if not self.is_made(proxy) and issubclass(kind, AssertionError):
            return False
        self.believed = True
        return value

    def refer(self, value: "Any") -> int:
        """The number of an object that stays here; raises Unencodable if it can't be lent."""
        if id(value) not in self.stand_ins and not is_proxy(value):
            if isinstance(value, ExceptionOfOther):
                made = self.request("call", type(value), *value.args)
                self.stand_in(self.stand_ins[id(made)], value)
                self.stand_ins[id(value)] = self.stand_ins[id(made)]
            elif not is_lendable(value):
                if self.is_part_of_answer(value):
                    self.refuse()
                raise Unencodable(f"a value of the type {type(value).__name__!r} can't be lent")
        return super().refer(value)

    def is_part_of_answer(self, value: "Any") -> bool:
        """Whether the assertions have probably taken a value that can't be lent from what the program returned.

        The test's code alone decides whether it runs in the program's process; such a value must not.
        """
        kind = type(value)
        if kind.__module__ == "numpy":
            return any(type(each).__name__ == "ndarray" for each in self.foreign.values())
        return kind.__name__ in PARTS and bool(self.foreign)

    def send_answer(self, message: "tuple[Any, ...]") -> None:
        """Answer a request of the program, with an exception if the result can't be lent."""
        try:
            self.send(message)
        except Unencodable as error:
            self.send(("raised", TypeError(str(error))))

    def call(self, proxy: "Any", arguments: "tuple[Any, ...]", keywords: "dict[str, Any]") -> "Any":
        """Call a function or class of the program; its output goes where the assertions redirect it."""
        captures, highest, self.returned = sys.stdout is not STDOUT, self.highest, []
        if captures:
            self.request("capture")
        try:
            value = self.request("call", proxy, *arguments, **keywords)
            self.returned = [value] if self.size <= MAX_SHOWN else []
        finally:
            if captures:
                for stream, text in zip((sys.stdout, sys.stderr), self.request("captured")):  # noqa: B905 - Python 3.9
                    stream.write(text)
        number = self.number_of(value)
        # An object that was known before the call isn't a new one, even if the class returned it.
        is_new = number is not None and number > highest
        if is_new and not self.is_like_value(value):
            if self.number_of(proxy) in self.classes:
                self.made.add(number)
            elif self.number_of(proxy) in self.methods:
                self.offspring.add(number)
        return value

    def last_answer(self) -> str:
        """Return what the last call returned, encoded; empty for a long value, or an object of the program."""
        try:
            return "".join(map(encode, self.returned))
        except Unencodable:
            return ""

    def referred(self, number: int) -> "Any":
        """Return the object for a number. Objects that the program returns aren't believed, whoever made them."""
        self.made.discard(number)
        self.offspring.discard(number)
        self.highest = max(self.highest, number)
        return super().referred(number)

    def get(self, proxy: "Any", name: str) -> "Any":
        """Return an attribute; refuse methods that amount to a comparison: `candidate(x).issubset(y)`."""
        asks = name.endswith("with") or name.startswith("is") or name in COMPARING
        if asks and any(hasattr(kind, name) for kind in (str, set, float)) and not self.is_made(proxy):
            if self.is_like_value(proxy):
                return getattr(self.value_of(proxy), name)
            self.refuse()
        if name.startswith("__array"):
            # NumPy would read memory at an address that the program chose.
            raise AttributeError(name)
        value = self.request("get", proxy, name)
        if self.made and is_proxy(value) and self.number_of(proxy) in self.made | self.offspring:
            self.methods.add(number_of_proxy(value))
        return value
