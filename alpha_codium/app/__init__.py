"""Use cases: settings and values in, results and events out. Nothing here prints or parses options.

Each one is a coroutine `NAME_async`, and beside it a function `NAME` for callers without an event loop.
"""
