"""Folders of this machine, which a page that is given to others doesn't name."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import alpha_codium
from alpha_codium.paths import home

# Folders that every machine has.
PUBLIC = ("/", "/usr", "/usr/local", "/tmp")  # noqa: S108 - compared, not used


@dataclass(frozen=True, slots=True)
class Hiding:
    """Replaces the names of folders in texts, such as paths in the traceback of a program."""

    folders: tuple[str, ...]

    @classmethod
    def here(cls) -> Self:
        """The folders of this user and this process: the deepest first."""
        found = {home(), Path.home(), Path.cwd(), Path(sys.prefix), Path(sys.base_prefix)}
        found.add(Path(alpha_codium.__file__).parents[1])
        both = {str(path) for each in found for path in (each.absolute(), each.resolve())}
        return cls(tuple(sorted(both - set(PUBLIC), key=len, reverse=True)))

    def hide(self, text: str) -> str:
        """Return the text without the folders."""
        for folder in self.folders:
            text = text.replace(f"{folder}/", "~/")
        return text
