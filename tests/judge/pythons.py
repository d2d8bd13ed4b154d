"""Other versions of CPython on this machine, as pyenv puts them."""

from pathlib import Path

SUPPORTED = ("3.9", "3.10", "3.12", "3.13", "3.14")
OTHER_PYTHONS = [
    str(path)
    for version in SUPPORTED
    for path in sorted((Path.home() / ".pyenv" / "versions").glob(f"{version}.*/bin/python3"))[:1]
]
