"""C++: for which programs the precompiled header may be read before everything else."""

import random
import shutil
import subprocess
from pathlib import Path

import pytest

from alpha_codium.languages.gcc import may_be_first
from alpha_codium.limits import Limits
from alpha_codium.program import Program
from tests.languages.available import require

ALL = "#include <bits/stdc++.h>\n"
HEADERS = """
    assert.h ctype.h errno.h float.h inttypes.h limits.h locale.h math.h setjmp.h signal.h stdarg.h stdbool.h stddef.h
    stdint.h stdio.h stdlib.h string.h time.h wchar.h wctype.h
    algorithm array bitset cassert cctype cerrno chrono climits cmath complex condition_variable cstdint cstdio cstdlib
    cstring deque fstream functional future iomanip iostream iterator limits list map memory mutex numeric optional
    queue random regex set sstream stack string thread tuple type_traits unordered_map utility valarray variant vector
"""


def program_of(*beginning: str) -> Program:
    return Program.from_source("cpp", "\n".join((*beginning, "int main() {}\n")))


@pytest.mark.parametrize(
    "beginning",
    [
        ALL,
        '#include "bits/stdc++.h"\n',
        f"\ufeff\r\n#include <iostream>\r\n# include<stdio.h> // for scanf\r\n{ALL}",
        f"/* Author: *\n * Somebody? */ // Why?\n#include <cmath>\n\n/**/ {ALL}",
        f"#include <vector>\n{ALL}#define int long long\n",
    ],
)
def test_a_header_behind_comments_and_standard_headers_may_be_read_first(beginning: str) -> None:
    assert may_be_first(program_of(beginning))


@pytest.mark.parametrize(
    "beginning",
    [
        f"#define int long long\n{ALL}",
        f"#define _GLIBCXX_DEBUG\n#include <vector>\n{ALL}",
        f'#pragma GCC optimize("Ofast")\n{ALL}',
        f"#ifdef NEVER\n{ALL}#endif\n",
        f"int y1;\n{ALL}",
        f"using namespace std;\n{ALL}",
        f'#include "iostream"\n{ALL}',
        f"#include <unistd.h>\n{ALL}",
        f"#include <ext/rope>\n{ALL}",
        f"#include <vector> {ALL}",
        f"#include <vector> /*\n*/ {ALL}",
        f"// {ALL}",
        f"/* {ALL} */",
        f"// a line that goes on \\\n{ALL}",
        f"// one that goes on in old standards ??/\n{ALL}",
        "#include <iostream>\n",
    ],
)
def test_a_header_whose_meaning_may_depend_on_its_place_stays_there(beginning: str) -> None:
    assert not may_be_first(program_of(beginning))


def test_a_long_beginning_is_read_in_linear_time() -> None:
    for part in ("#include <vector>\n", "/* */", "/*", "//\n", " "):
        assert not may_be_first(program_of(part * 20_000))


def test_in_a_program_of_several_files_the_name_of_a_header_may_be_that_of_a_file() -> None:
    files = {"program.cpp": f"#include <vector>\n{ALL}", "vector": "#define int long long\n"}
    assert not may_be_first(Program("cpp", files, "program.cpp"))


@pytest.mark.skipif(shutil.which("g++") is None, reason="no g++: apt-get install g++")
def test_standard_headers_mean_the_same_behind_all_of_them(tmp_path: Path) -> None:
    headers = HEADERS.split()
    random.Random(8).shuffle(headers)
    program = program_of(*(f"#include <{name}>" for name in headers), ALL)
    assert may_be_first(program)
    (tmp_path / "program.cpp").write_text(program.source)
    # The macros include the guard of each header that was read.
    plain, first = (
        subprocess.run(
            ["g++", "-E", "-dM", *options, "program.cpp"], cwd=tmp_path, capture_output=True, check=True
        ).stdout
        for options in ([], ["-include", "bits/stdc++.h"])
    )
    assert len(plain.splitlines()) > 1000
    assert set(plain.splitlines()) == set(first.splitlines())


def test_only_such_programs_are_compiled_with_the_header_first() -> None:
    language = require("cpp")
    for source, first in ((f"#include <vector>\n{ALL}", True), (f"#define int long long\n{ALL}", False)):
        build = language.build(program_of(source), Limits())
        assert build is not None and build.prepared is not None
        assert ("-include" in build.command) is first
