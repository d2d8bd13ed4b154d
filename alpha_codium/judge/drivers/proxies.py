"""Proxies of the other side's objects, which forward operations there.

`peer.request` forwards any operation. Calls, attributes, comparisons, arithmetic and `in` go through separate methods
of the peer, since objects of a program must not decide the outcome of assertions.
"""

from collections.abc import Callable, Sequence
from typing import Any

COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
BINARY = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor", "lshift", "rshift"]
UNARY = ("neg", "pos", "abs", "invert")
CONVERSIONS = ("int", "float", "complex", "round")
ROUNDINGS = ("trunc", "floor", "ceil")
# Special methods, and the operations that they request from the other side.
ASKED = {"len": "length", "str": "text", "repr": "repr", "iter": "iterate", "next": "next", "bool": "truth"}
ASKED.update({"hash": "hash", "getitem": "item", "setitem": "put", "delitem": "remove", "reversed": "reversed"})
ASKED.update({"format": "format", "delattr": "delete", "index": "index", "enter": "enter", "exit": "exit"})
ASKED.update({"copy": "copy", "deepcopy": "deepcopy", "instancecheck": "is_instance", "subclasscheck": "is_subclass"})
ASKED["dir"] = "dir"


def new_proxy(peer: "Any", number: int, base: "type | None" = None) -> "Any":
    """Make a proxy of the object with that number; `base` is the mutable type that its class is derived from."""
    if not PROXY:
        PROXY.append(proxy_type())
    proxy = object.__new__(PROXY[0])
    for name, value in (("_proxy_peer_", peer), ("_proxy_number_", number), ("_proxy_base_", base)):
        object.__setattr__(proxy, name, value)
    return proxy


def is_proxy(value: "Any") -> bool:
    """Whether `value` was made by `new_proxy`."""
    return bool(PROXY) and type(value) is PROXY[0]


def number_of_proxy(proxy: "Any") -> int:
    """Return the reference number of a proxy's object."""
    return object.__getattribute__(proxy, "_proxy_number_")


def base_of_proxy(proxy: "Any") -> "type | None":
    """Return the type by whose values a proxy is compared; None if there is none."""
    return object.__getattribute__(proxy, "_proxy_base_")


# The type, made with the first proxy: many processes need none, and making it takes as long as the rest of the module.
PROXY: "list[type]" = []


def proxy_type() -> type:
    """Return the type of proxies, whose special methods are forwarded to the other side."""
    names: dict[str, Any] = {
        **special_methods(),
        "__slots__": ("_proxy_base_", "_proxy_number_", "_proxy_peer_"),
        "__getattr__": lambda self, name: self._proxy_peer_.get(self, name),
        "__setattr__": lambda self, name, value: self._proxy_peer_.request("set", self, name, value),
        "__doc__": property(lambda self: self._proxy_peer_.get(self, "__doc__")),
        "__class__": property(_class_of),
        "__aiter__": lambda self: self._proxy_peer_.request("iterate_async", self),
        "__anext__": awaited("next_async"),
        "__aenter__": awaited("enter_async"),
        "__aexit__": awaited("exit_async"),
    }
    return type("Proxy", (), names)


def _class_of(proxy: "Any") -> "Any":
    """Return the object's class, for `isinstance`; one derived from the same builtin type, if there is one."""
    if proxy._proxy_base_ is not None:
        return proxy._proxy_base_
    kind = proxy._proxy_peer_.request("class", proxy)
    # Decimal trusts the `denominator` of an object that claims to be a number, when it is compared with one.
    lies = type(kind) is type and issubclass(kind, (*BASES.values(), *CHANGING_BASES.values()))
    return object if lies else kind


def asked(what: str) -> "Callable[..., Any]":
    """Return a special method that requests `what`."""

    def method(self: "Any", *arguments: "Any") -> "Any":
        # Other arguments, such as a traceback or the memo of a deep copy, aren't sent.
        return self._proxy_peer_.request(what, self, *arguments[: TAKEN.get(what, 2)])

    return method


TAKEN = {"exit": 2, "deepcopy": 0}


def awaited(what: str) -> "Callable[..., Any]":
    """Return an async special method that requests `what`."""

    async def method(self: "Any", *arguments: "Any") -> "Any":
        return self._proxy_peer_.request(what, self, *arguments[:2])

    return method


def compared(name: str) -> "Callable[..., Any]":
    """Return a special method for a comparison."""
    return lambda self, other: self._proxy_peer_.compare(name, self, other)


def operated(name: str, reflected: bool = False) -> "Callable[..., Any]":
    """Return a special method for arithmetic; `pow` may have a third operand."""
    if reflected:
        return lambda self, other: self._proxy_peer_.operate(name, other, self)
    return lambda self, *others: self._proxy_peer_.operate(name, self, *others)


def special_methods() -> "dict[str, Callable[..., Any]]":
    """Return all forwarding special methods by name."""
    methods: dict[str, Any] = {f"__{name}__": asked(what) for name, what in ASKED.items()}
    methods["__contains__"] = lambda self, item: self._proxy_peer_.contains(self, item)
    methods["__call__"] = lambda self, /, *given, **keywords: self._proxy_peer_.call(self, given, keywords)
    methods.update((f"__{name}__", compared(name)) for name in COMPARISONS)
    for name in (*BINARY, "divmod"):
        methods[f"__{name}__"], methods[f"__r{name}__"] = operated(name), operated(name, reflected=True)
        if name != "divmod":
            methods[f"__i{name}__"] = operated(f"i{name}")
    methods.update((f"__{name}__", operated(name)) for name in (*UNARY, *CONVERSIONS, *ROUNDINGS))
    return methods


# Methods that aren't forwarded for an object of a class derived from a builtin type, even if the class overrides them.
OWN = ("__hash__", "__index__", "__copy__", "__deepcopy__")
KINDS: "dict[tuple[Any, ...], type]" = {}
# The attribute of such a class with the special methods that it overrides.
OVERRIDDEN = "_overridden_"
BASES: "dict[str, Any]" = {kind.__name__: kind for kind in (int, str, float, complex, bytes, tuple, frozenset)}
CHANGING_BASES: "dict[str, Any]" = {kind.__name__: kind for kind in (list, dict, set, bytearray)}


def subclass_of(base: type, name: str, overridden: "Sequence[str]" = ()) -> type:
    """Return a class of this name derived from a mutable type: the class that a proxy shows, without its methods."""
    key = (base, name, *overridden)
    if key not in KINDS:
        KINDS[key] = type(name, (base,), {OVERRIDDEN: key[2:]})
    return KINDS[key]


def derived_of(peer: "Any", number: int, base: str, content: "Any", name: str, overridden: "list[str]") -> "Any":
    """Make a proxy that is also a value: its class is derived from the builtin type `base`."""
    kind = BASES[base]
    if type(content) is not kind:
        raise ValueError("content of another type")
    key = (base, name, tuple(overridden))
    if key not in KINDS:
        methods = special_methods()
        methods = {name: methods[name] for name in overridden if name in methods and name not in OWN}
        KINDS[key] = type(name, (kind,), {"__getattr__": _get_of_derived, "__hash__": kind.__hash__, **methods})
    value = kind.__new__(KINDS[key], content)
    value.__dict__.update(_proxy_peer_=peer, _proxy_number_=number)
    return value


def _get_of_derived(value: "Any", name: str) -> "Any":
    if name in ("_proxy_peer_", "_proxy_number_"):
        raise AttributeError(name)
    return value._proxy_peer_.get(value, name)


def awaitable_of(peer: "Any", number: int) -> "Any":
    """Return an object that can be awaited once; the other side awaits the original."""

    async def wait() -> "Any":
        return peer.request("await", new_proxy(peer, number))

    return wait()
