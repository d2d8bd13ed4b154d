"""Use cases: settings and values in, results and events out; nothing is printed.

Each is a coroutine `NAME_async`, with a function `NAME` for callers without an event loop.
"""
