"""Use cases, which take settings and options, and return results and report events; they print nothing.

Each is a coroutine `NAME_async`, with a blocking version `NAME` for callers without an event loop.
"""
