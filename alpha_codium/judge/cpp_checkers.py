"""Checker programs in C++: their files, their driver, and what their compiler says.

The sandbox compiles them, once, as it compiles programs under test: in a jail, into the same cache. Headers that the
checker's files lack (testlib.h) are added from `$GENCODE_HOME/include`.
"""

import functools
import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from alpha_codium.errors import Unjudgeable
from alpha_codium.judge import drivers
from alpha_codium.languages.gcc import Cpp
from alpha_codium.paths import home
from alpha_codium.program import Program, Side
from alpha_codium.verdict import Execution

SUFFIXES = Cpp.suffixes
ERROR = re.compile(r"error: |undefined reference|multiple definition|cannot find -l")


def cpp_side(files: Mapping[str, str]) -> Side:
    """Return the program of these files (relative paths and texts), with its driver; raises Unjudgeable."""
    named = {str(PurePosixPath(path)): text for path, text in files.items()}
    main = next(path for path in named if path.endswith(SUFFIXES))
    return Side(Program(Cpp.name, with_headers(named), main), driver())


@functools.cache
def driver() -> str:
    """Return the source of the driver, for a checker as for an interactor."""
    return Path(drivers.__file__).with_name("checking.cpp").read_text("utf-8")


def with_headers(files: Mapping[str, str]) -> dict[str, str]:
    """Return the files with the user's headers that they, or these headers, name."""
    folder, found = include_folder(), dict(files)
    missing = {str(path.relative_to(folder)): path for path in sorted(folder.rglob("*")) if path.is_file()}
    while named := [
        name for name in missing.keys() - found if any(missing[name].name in each for each in found.values())
    ]:
        try:
            found |= {name: missing[name].read_text("utf-8", "replace") for name in named}
        except OSError as error:
            raise Unjudgeable(f"a header for its checker can't be read: {error}") from error
    return found


def include_folder() -> Path:
    """Return the folder of the user's headers."""
    folder = home() / "include"
    folder.mkdir(exist_ok=True)
    return folder


def first_error(compilation: Execution) -> str:
    """Return why a program in C++ didn't compile, in one line: the first error, if there is one."""
    found = next((line for line in compilation.stderr.splitlines() if ERROR.search(line)), last_line(compilation))
    hint = ""
    if "testlib.h: No such file" in found:
        hint = f"; put testlib.h (github.com/MikeMirzayanov/testlib) into {include_folder()}"
    elif "cannot find -l" in found:
        hint = "; static libraries are needed: dnf install glibc-static libstdc++-static (Fedora, Amazon Linux)"
    return found.strip()[:300] + hint


def last_line(compilation: Execution) -> str:
    """Return the last line of what a compiler said, or its status."""
    return (compilation.stderr.strip().splitlines() or [compilation.status.value])[-1].strip()[:300]
