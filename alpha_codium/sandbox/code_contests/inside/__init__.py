"""The child's side, which runs on CPython 3.9 in the sandbox's own environment, without this package.

Standard library and the wheel only.
"""
