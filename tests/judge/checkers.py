"""Checker programs for tests: written here, small, each with a purpose of its own."""

import shutil
from collections.abc import Mapping
from typing import Any

import pytest

from alpha_codium.problem import CheckerSpec, Problem, TestCase

needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="there is no g++: apt-get install g++")

# Any divisor of the input, but 1 and itself; the answer holds one.
DIVISOR = """
import sys
number, least = int(open(sys.argv[1]).read()), int(open(sys.argv[2]).read())
said = sys.stdin.read().split()
right = len(said) == 1 and said[0].isdigit() and 1 < int(said[0]) < number and number % int(said[0]) == 0
open(sys.argv[3] + "judgemessage.txt", "w").write(f"{said} for {number}, ours is {least}")
sys.exit(42 if right else 43)
"""
DIVISOR_CPP = """
#include "number.h"
#include <cassert>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <stdexcept>
struct Last { ~Last() { std::cerr << "taken down" << std::endl; } } last;
int deep(int n) { volatile char here[1000]; here[0] = 1; return n ? deep(n - 1) + here[0] : 0; }
int main(int argc, char **argv) {
    std::ifstream input(argv[1]), answer(argv[2]);
    std::ofstream message(std::string(argv[3]) + "judgemessage.txt");
    Number number, least;
    std::string said, more;
    input >> number, answer >> least, std::cin >> said;
    assert(argc >= 4 && answer && message);
    message << said << std::endl;
    if (said == "crash") return *(volatile int *)nullptr;
    if (said == "assert") assert(!"of the checker's");
    if (said == "throw") throw std::runtime_error("thrown");
    if (said == "deep") exit(deep(100000) == 100000 ? 42 : 43);
    if (said == "flags") exit(argc == 6 && std::string(argv[4]) == "one" && std::string(argv[5]) == "2" ? 42 : 43);
    try {
        Number got = std::stoll(said);
        if (got <= 1 || got >= number || number % got || std::cin >> more) exit(43);
    } catch (const std::exception &) {
        return 43;
    }
    exit(42);
}
"""
NUMBER_H = "typedef long long Number;\n"
# Speaks testlib's protocol: the first word of the output is the status it ends with.
TESTLIB = """
import sys
assert open(sys.argv[1]).read() == "4" and open(sys.argv[3]).read() == "2"
print("says so", file=sys.stderr)
sys.exit(int(open(sys.argv[2]).read()))
"""
CPP_FILES = {"validators/divisor/check.cc": DIVISOR_CPP, "validators/divisor/number.h": NUMBER_H}
TESTS = tuple(TestCase(f"{number}\n", "2\n") for number in (4, 6, 8, 10, 12, 14, 16))


def problem(checker: str | Mapping[str, str], **arguments: Any) -> Problem:
    """A problem with a checker program: one text of Python, or files."""
    files = {"check.py": checker} if isinstance(checker, str) else dict(checker)
    return Problem("p", checker=CheckerSpec("program", {"files": files} | arguments))
