"""What the assertions decide about objects of the program, and what they leave to it.

1. No `__eq__` or other method of the program may decide an assertion: a proxy is compared as a value of the builtin
   type that its class is derived from, or not at all. There are two exceptions: objects that the assertions made by
   calling a class (`assertion_needs`) and the results of arithmetic with them; and two objects of the program, if the
   assertions use a name that is spelt like a class, or if methods of objects that they made returned them. These are
   compared by the program, and `believed` is set. It is also set if the program does arithmetic with two of its own
   objects, unless their builtin values give the same.
2. Where the answer is known here, such as that an object isn't None, the program is asked, too: its method, which
   Python would call, may be wrong. If it says something else, the assertion fails, whatever it expects. It is asked
   afterwards, or else it could answer what it is asked for; and never about a container of the assertions, which it
   could change.
"""

from typing import Any, NoReturn

from alpha_codium.judge.codec import Malformed, unreferred
from alpha_codium.judge.drivers.changes import CHANGEABLE, containers_in
from alpha_codium.judge.drivers.describing import comparable, content_of, is_compared
from alpha_codium.judge.drivers.exceptions import crosses
from alpha_codium.judge.drivers.operations import OPERATIONS
from alpha_codium.judge.drivers.peer import Peer
from alpha_codium.judge.drivers.proxies import OVERRIDDEN, base_of_proxy, is_proxy, number_of_proxy


class ForeignComparison(TypeError):
    """The assertions compare an object that only the program could compare."""


class DecidingPeer(Peer):
    """The part of the assertions' side that compares objects of the program."""

    def __init__(self, perform: "Any", has_class: bool) -> None:
        super().__init__(True, perform)
        self.has_class = has_class
        self.final_outcomes: list[str] = []
        self.believed = False
        # Numbers of the objects that the assertions made, and of those that methods of these returned, which may only
        # be compared with other objects.
        self.made: set[int] = set()
        self.offspring: set[int] = set()
        # Contents, and results of unary operations, kept until any other request: an object can't return a new number
        # for each use.
        self.given: dict[tuple[str, int | None], Any] = {}

    def request(self, what: str, /, *arguments: "Any", **keywords: "Any") -> "Any":
        """Ask the program; returns its answer or raises its exception."""
        raise NotImplementedError

    def compare(self, name: str, one: "Any", other: "Any") -> "Any":
        """Compare a proxy by the rules in the module's docstring."""
        by_identity = one is None or other is None or (one is other and is_proxy(one))
        if name in ("eq", "ne") and by_identity and not self.is_made(one, other):
            return self.agreed((name == "eq") is (one is other), self.request("compare", name, one, other))
        if self.is_made(one, other) or (self.has_class and self.is_foreign(one) and self.is_foreign(other)):
            self.believed = True
            return self.request("compare", name, one, other)
        one, other = self.value_of(one), self.value_of(other)
        return getattr(__import__("operator"), name)(one, other)

    def value_of(self, value: "Any") -> "Any":
        """Return the builtin value of a proxy whose class is derived from a builtin type; other values as they are."""
        if is_proxy(value):
            base = base_of_proxy(value)
            if base is None:
                self.refuse()
            key = ("content", number_of_proxy(value))
            if key not in self.given:
                self.given[key] = self.request("content", value)
            return self.comparable(base, self.given[key])
        return content_of(value) if self.is_foreign(value) else value

    def comparable(self, base: type, content: "Any") -> "Any":
        """Return what stands for a proxy in comparisons; whatever can't be that ends the assertions."""
        try:
            return comparable(base, content)
        except Exception as fault:
            self.final_outcomes.append("ended")
            raise Malformed("the program's answer can't be read") from fault

    def is_like_value(self, value: "Any") -> bool:
        """Whether a value is a proxy of an object of the standard library that is compared by a value."""
        return is_proxy(value) and is_compared(base_of_proxy(value))

    def operate(self, name: str, *operands: "Any") -> "Any":
        """Do arithmetic with objects that the assertions made, or as with the builtin values of objects."""
        numbers = set(map(self.number_of, operands))
        if not numbers.isdisjoint(self.made | self.offspring):
            value = self.request("operate", name, *operands)
            if is_proxy(value):
                (self.offspring if numbers.isdisjoint(self.made) else self.made).add(number_of_proxy(value))
            elif self.is_made(*operands):  # it is only what the program says
                self.believed = True
            else:
                self.refuse()
            return value
        if any(map(self.is_like_value, operands)):
            return OPERATIONS["operate"](name, *map(self.value_of, operands))
        if len(operands) > 1:
            return self.operate_on_several(name, operands)
        key = (name, self.number_of(operands[0]))
        if key not in self.given:
            self.given[key] = self.request("operate", name, *operands)
        return self.given[key]

    def operate_on_several(self, name: str, operands: "tuple[Any, ...]") -> "Any":
        """Return the program's result if it equals that for the operands' builtin values, as with an `IntEnum`.

        Another one is believed if all are objects of the program. With containers, the result is that of their values.
        """
        may_differ = all(map(self.is_foreign, operands))
        own = self.computed(name, operands) if all(map(self.can_be_sent, operands)) else None
        if not may_differ:
            has_containers = type(own) in CHANGEABLE or containers_in(operands, {})
            if own is None or (has_containers and self.overrides(name, operands)):
                self.refuse()
            if has_containers and not name.startswith("i"):
                return own
        value = self.request("operate", name, *operands)
        if name.startswith("i"):  # in place: the object has changed
            self.given.clear()
        if own is None or not self.is_like(value, own):
            if not may_differ:
                self.refuse()
            self.believed = True
        return value

    def overrides(self, name: str, operands: "tuple[Any, ...]") -> bool:
        """Whether the class of an operand has a method of its own for an operation, or for it in place or reflected."""
        names = {f"__{each}__" for each in (name, name[1:], f"r{name}", f"i{name}")}
        kinds = (base_of_proxy(each) for each in operands if is_proxy(each))
        return any(not names.isdisjoint(getattr(kind, OVERRIDDEN, ())) for kind in kinds)

    def computed(self, name: str, operands: "tuple[Any, ...]") -> "Any":
        """Return the result for the operands' builtin values; None if they have none, or if the operation fails."""
        if not all(map(self.has_value, operands)):
            return None
        try:
            return OPERATIONS["operate"](name, *map(self.value_of, operands))
        except Exception:  # noqa: BLE001 - the operands are of other types
            return None

    def is_like(self, value: "Any", own: "Any") -> bool:
        """Whether a value, or the builtin value of an object, is this one."""
        content = self.value_of(value) if self.has_value(value) else None
        return type(own) is type(content) and bool(own == content)

    def has_value(self, value: "Any") -> bool:
        """Whether something is a value, or an object of a class that is derived from a builtin type."""
        return not is_proxy(value) or base_of_proxy(value) is not None

    def can_be_sent(self, value: "Any") -> bool:
        """Whether something is an object of the program, or a value that can be encoded."""
        return self.is_foreign(value) or crosses(value, unreferred)

    def contains(self, proxy: "Any", item: "Any") -> bool:
        """Whether an object contains an item; one that the assertions didn't make is iterated, too."""
        if self.is_made(proxy):
            self.believed = True
            return self.request("contains", proxy, item)
        if self.is_like_value(proxy):
            return item in self.value_of(proxy)
        # An iterator, which has no such method, is exhausted now.
        asks = self.can_be_sent(item) and not containers_in((item,), {})
        asks = asks and self.request("hasattr", proxy, "__contains__")
        if self.has_value(proxy):
            found = item in self.value_of(proxy)
        else:
            found = any(each is item or each == item for each in self.request("iterate", proxy))
        return self.agreed(found, self.request("contains", proxy, item)) if asks else found

    def agreed(self, known: bool, answer: "Any") -> bool:
        """Return what is known here, unless the program answers something else."""
        if bool(answer) is not known:
            self.final_outcomes.append("wrong")
            raise AssertionError("a method of the program's object is wrong")
        return known

    def number_of(self, value: "Any") -> "int | None":
        """Return the number of an object of the program; None for a value."""
        if is_proxy(value):
            return number_of_proxy(value)
        return self.stand_ins.get(id(value))

    def is_foreign(self, value: "Any") -> bool:
        """Whether a value represents an object of the program."""
        return self.number_of(value) is not None

    def is_made(self, *values: "Any") -> bool:
        """Whether one of the values is an object that the assertions made.

        Of several values that all are objects, one may be what a method of such an object returned.
        """
        numbers = set(map(self.number_of, values))
        others = self.offspring if len(values) > 1 and None not in numbers else set()
        return not numbers.isdisjoint(self.made | others)

    def refuse(self) -> "NoReturn":
        """Report that an object of the program had to be compared."""
        self.final_outcomes.append("foreign")
        raise ForeignComparison("an object of the program's own can't be compared outside of it")
