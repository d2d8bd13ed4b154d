"""The child's side: runs on CPython 3.9 in the sandbox's own environment, from a folder, without the package.

Standard library and the wheel only.
"""
