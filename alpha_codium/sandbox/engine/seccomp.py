"""The system call filter of the jail, as a classic BPF program for seccomp(SECCOMP_SET_MODE_FILTER).

`build_filter` compiles the rules of `policy` to a balanced binary search over ranges of numbers with equal verdict. The
kernel evaluates the filter for every number when it is installed, which happens once per candidate and takes 0.1 ms of
CPU (x86-64, Linux 6.18); a linear list of comparisons takes 0.6 ms.

pyseccomp isn't used: it needs the C library libseccomp on the host, and loads filters into its own process, while we
need the bytes. The filter for aarch64 is built and evaluated by tests, but has never been run.
"""

import errno
import functools
import struct
from collections.abc import Iterable, Iterator, Mapping

from alpha_codium.sandbox.engine.policy import ALLOW, KILL, WORD, Check, SyscallRule, policy, refuse
from alpha_codium.sandbox.engine.syscalls import numbers_of

# The BPF instructions that the kernel can evaluate at installation, so that allowed calls skip the filter later.
LOAD, MASK, JUMP_EQUAL, JUMP_AT_LEAST, RETURN = 0x20, 0x54, 0x15, 0x35, 0x06
# Offsets in struct seccomp_data; both machines are little endian.
NUMBER, ARCHITECTURE, ARGUMENTS = 0, 4, 16
FARTHEST = 255

AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
X32_BIT = 0x40000000
# The first number after those in the headers of Linux 6.1.
FIRST_UNKNOWN = 451
SIGNALLING = ("kill", "tkill", "tgkill")


@functools.cache
def build_filter(
    machine: str, *, processes: bool, narrowing: bool = False, walled: bool = False, executing: bool = False
) -> bytes:
    """Return the filter, an array of `struct sock_filter`, for a machine as `platform.machine()` names it.

    `processes`: a program may fork. `narrowing`: a second filter may be added, for tests of a runner. `walled`: for
    tests without namespaces; `wire.OWN_PROCESS` in it is to be replaced by the number of the test's process.
    `executing`: other programs may be executed. Raises SandboxError for a machine without a table of calls.
    """
    numbers = numbers_of(machine)
    named = policy(processes, narrowing, walled, executing)
    rules = {numbers[name]: rule for name, rule in named.items() if name in numbers}
    ranges = list(ranges_of(rules, x32=machine == "x86_64"))
    endings, starts = compile_rules({rule: None for _, rule in ranges})
    search = compile_search([(number, starts[rule]) for number, rule in ranges])
    head = [
        instruction(LOAD, ARCHITECTURE),
        instruction(JUMP_EQUAL, AUDIT_ARCH[machine], 1, 0),
        instruction(RETURN, KILL),
        instruction(LOAD, NUMBER),
    ]
    return b"".join([*head, *search, *endings])


def ranges_of(rules: Mapping[int, SyscallRule], *, x32: bool) -> Iterator[tuple[int, SyscallRule]]:
    """Yield where each range of numbers with an equal rule begins, from 0 on, and that rule."""
    edges = {0: SyscallRule(refuse(errno.EPERM)), FIRST_UNKNOWN: SyscallRule(refuse(errno.ENOSYS))}
    if x32:
        edges[X32_BIT] = SyscallRule(KILL)
    last = None
    for number in sorted({*edges, *rules, *(number + 1 for number in rules)}):
        default = edges[max(edge for edge in edges if edge <= number)]
        rule = rules.get(number, default)
        if rule != last:
            yield number, rule
        last = rule


def instruction(code: int, constant: int, if_true: int = 0, if_false: int = 0) -> bytes:
    """Return one `struct sock_filter`; jumps count the instructions to skip."""
    return struct.pack("<HBBI", code, if_true, if_false, constant)


def compile_rules(rules: Iterable[SyscallRule]) -> tuple[list[bytes], dict[SyscallRule, int]]:
    """Return the code of all rules, and where in it each begins."""
    code: list[bytes] = []
    starts = {}
    for rule in rules:
        starts[rule] = len(code)
        for check in rule.checks:
            code += compile_check(check)
        code.append(instruction(RETURN, rule.otherwise))
    return code, starts


def compile_check(check: Check) -> list[bytes]:
    """Compile to: load the word, compare it with each value, return the verdict or continue after it."""
    code = [instruction(LOAD, ARGUMENTS + 8 * check.argument + 4 * check.high)]
    if check.mask != WORD:
        code.append(instruction(MASK, check.mask))
    last = len(check.values) - 1
    for index, value in enumerate(check.values):
        # The verdict comes after the last comparison, which skips it if the check doesn't apply.
        equal = last - index + check.unless
        other = int(index == last and not check.unless)
        code.append(instruction(JUMP_EQUAL, value, equal, other))
    return [*code, instruction(RETURN, check.verdict)]


def compile_search(ranges: list[tuple[int, int]], behind: int = 0) -> list[bytes]:
    """Return a binary search for the range that contains the number in the accumulator.

    `ranges` are (first number, offset of its rule in the code that follows the search); `behind` is the number of
    instructions between this part of the search and that code. A single range needs no code.
    """
    if len(ranges) == 1:
        return []
    middle = len(ranges) // 2
    above = compile_search(ranges[middle:], behind)
    below = compile_search(ranges[:middle], behind + len(above))
    if_above = len(below) + (0 if above else len(above) + behind + ranges[middle][1])
    if_below = 0 if below else len(above) + behind + ranges[0][1]
    assert max(if_above, if_below) <= FARTHEST, "the filter is too long for its jumps"
    return [instruction(JUMP_AT_LEAST, ranges[middle][0], if_above, if_below), *below, *above]


@functools.cache
def build_guard(machine: str) -> bytes:
    """Return a filter that protects process 1, a runner, from its tests: signals to it are dropped silently.

    For gVisor, where any process can kill process 1 of its namespace. A runner installs it before its own filter.
    """
    numbers = [numbers_of(machine)[name] for name in SIGNALLING]
    # Each comparison that holds skips those that follow, and the verdict after them.
    matches = [instruction(JUMP_EQUAL, number, len(numbers) - index) for index, number in enumerate(numbers)]
    return b"".join(
        [
            instruction(LOAD, NUMBER),
            *matches,
            instruction(RETURN, ALLOW),
            instruction(LOAD, ARGUMENTS),
            instruction(JUMP_EQUAL, 1, 0, 1),
            instruction(RETURN, refuse(0)),
            instruction(RETURN, ALLOW),
        ]
    )
