"""The system call filter: read as a program by an evaluator of our own, and installed for real in forked children."""

import errno
import re
import signal
import struct
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from alpha_codium.errors import SandboxError
from alpha_codium.sandbox.engine.policy import ALLOW, KILL, SyscallRule, policy, refuse
from alpha_codium.sandbox.engine.seccomp import AUDIT_ARCH, build_filter
from alpha_codium.sandbox.engine.syscalls import ALLOWED, HOSTILE, MACHINES, names_in, numbers_of

VARIANTS = [(machine, processes) for machine in MACHINES for processes in (True, False)]
WORDS = st.integers(0, 2**32 - 1)
EPERM, ENOSYS, EAGAIN, EACCES = map(refuse, (errno.EPERM, errno.ENOSYS, errno.EAGAIN, errno.EACCES))


def evaluate(program: bytes, arch: int, number: int, arguments: tuple[int, ...] = (0,) * 6) -> int:
    """What the kernel would answer: the classic BPF instructions we use, over a `struct seccomp_data`."""
    data = struct.pack("<IIQ6Q", number, arch, 0, *arguments)
    code = list(struct.iter_unpack("<HBBI", program))
    word, at = 0, 0
    for _ in code:
        operation, if_true, if_false, constant = code[at]
        at += 1
        if operation == 0x20:
            (word,) = struct.unpack_from("<I", data, constant)
        elif operation == 0x54:
            word &= constant
        elif operation == 0x15:
            at += if_true if word == constant else if_false
        elif operation == 0x35:
            at += if_true if word >= constant else if_false
        elif operation == 0x06:
            return constant
        else:
            raise AssertionError(f"unknown instruction {operation:#x}")
    raise AssertionError("the program doesn't end")


def verdict(machine: str, processes: bool, name_or_number: str | int, *arguments: int) -> int:
    number = numbers_of(machine)[name_or_number] if isinstance(name_or_number, str) else name_or_number
    program = build_filter(machine, processes=processes)
    padded = (*arguments, *(0,) * (6 - len(arguments)))
    return evaluate(program, AUDIT_ARCH[machine], number, padded)


def plainly(rule: SyscallRule, arguments: tuple[int, ...]) -> int:
    """A rule read as its description says, without ranges, jumps or words of a program."""
    for check in rule.checks:
        word = arguments[check.argument] >> (32 if check.high else 0) & 0xFFFFFFFF & check.mask
        if (word in check.values) != check.unless:
            return check.verdict
    return rule.otherwise


def expected(machine: str, processes: bool, number: int, arguments: tuple[int, ...]) -> int:
    names = {value: name for name, value in numbers_of(machine).items()}
    if number in names:
        return plainly(policy(processes).get(names[number], SyscallRule(EPERM)), arguments)
    if machine == "x86_64" and number >= 0x40000000:
        return KILL
    return ENOSYS if number >= 451 else EPERM


@pytest.mark.thorough
@pytest.mark.parametrize(("machine", "processes"), VARIANTS)
def test_every_number_gets_the_verdict_that_the_policy_names(machine, processes):
    for number in range(600):
        assert verdict(machine, processes, number) == expected(machine, processes, number, (0,) * 6), number


SPECIAL = sorted({value for rule in policy(False).values() for check in rule.checks for value in check.values})
BITS = [1 << bit for bit in range(64)]
ARGUMENT = st.one_of(
    st.sampled_from(SPECIAL), st.sampled_from(BITS), st.builds(lambda a, b: a << 32 | b, WORDS, WORDS), WORDS
)
CHECKED = sorted(name for name, rule in policy(False).items() if rule.checks)


@pytest.mark.thorough
@given(st.sampled_from(VARIANTS), st.sampled_from(CHECKED), st.tuples(*[ARGUMENT] * 6))
@example(("x86_64", False), "clone", (0x003D0F00, 0, 0, 0, 0, 0))
def test_arguments_are_checked_as_the_policy_says(variant, name, arguments):
    machine, processes = variant
    number = numbers_of(machine)[name]
    assert verdict(machine, processes, name, *arguments) == expected(machine, processes, number, arguments)


@pytest.mark.thorough
@given(st.sampled_from(VARIANTS), WORDS, st.tuples(*[ARGUMENT] * 6))
@example(("x86_64", True), 0x40000000, (0,) * 6)
@example(("x86_64", True), 0x3FFFFFFF, (0,) * 6)
@example(("aarch64", True), 0xFFFFFFFF, (0,) * 6)
def test_any_number_at_all_gets_the_verdict_that_the_policy_names(variant, number, arguments):
    machine, processes = variant
    assert verdict(machine, processes, number, *arguments) == expected(machine, processes, number, arguments)


@given(st.sampled_from(VARIANTS), WORDS, st.integers(0, 600))
@example(("x86_64", True), 0x40000003, 4)  # i386
@example(("aarch64", True), 0x40000028, 4)  # arm
def test_a_call_of_another_architecture_ends_the_process(variant, arch, number):
    machine, processes = variant
    if arch != AUDIT_ARCH[machine]:
        assert evaluate(build_filter(machine, processes=processes), arch, number) == KILL


def test_an_x32_call_ends_the_process():
    assert all(verdict("x86_64", True, 0x40000000 | number) == KILL for number in range(600))


@pytest.mark.parametrize(("machine", "processes"), VARIANTS)
def test_new_namespaces_end_the_process_and_odd_clones_are_refused(machine, processes):
    for bit in (0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000):
        assert verdict(machine, processes, "clone", bit | signal.SIGCHLD) == KILL
    for bit in (0x8000, 0x800000, 0x2000, 0x1000, 0x80000000, 1 << 32, 1 << 33, 1 << 63):
        assert verdict(machine, processes, "clone", bit | 0x10000) == EPERM


@pytest.mark.parametrize("machine", MACHINES)
def test_without_processes_only_threads_start(machine):
    thread, fork, vfork = 0x3D0F00, 0x1200011, 0x4111
    assert verdict(machine, False, "clone", thread) == ALLOW
    assert verdict(machine, False, "clone", fork) == EAGAIN
    assert verdict(machine, False, "clone", vfork) == EAGAIN
    assert {verdict(machine, True, "clone", flags) for flags in (thread, fork, vfork)} == {ALLOW}
    assert verdict(machine, True, "clone3") == verdict(machine, False, "clone3") == ENOSYS


# Calls that must be refused, with their numbers on x86-64.
REFUSED = {
    "memfd_secret": 447, "shmget": 29, "semget": 64, "msgget": 68, "mq_open": 240, "setuid": 105,
    "setresuid": 117, "setgroups": 116, "setxattr": 188, "fsetxattr": 190, "splice": 275, "vmsplice": 278, "tee": 276,
    "mknod": 133, "mknodat": 259, "inotify_init1": 294, "connect": 42, "bind": 49, "listen": 50, "accept4": 288,
    "setsockopt": 54, "sched_setscheduler": 144, "seccomp": 317,
    "landlock_restrict_self": 446, "capset": 126, "syslog": 103, "pidfd_open": 434, "sync": 162, "io_setup": 206,
    "remap_file_pages": 216, "move_pages": 279, "rt_sigqueueinfo": 129, "chown": 92,
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_reaches_beyond_the_process_is_refused(name):
    assert verdict("x86_64", True, REFUSED[name]) == EPERM


@pytest.mark.parametrize(("machine", "processes"), VARIANTS)
def test_calls_that_have_no_effect_on_others_are_answered(machine, processes):
    pretended = refuse(0)
    for name in ("fsync", "fdatasync", "fadvise64"):
        assert verdict(machine, processes, name, 3) == pretended
    assert verdict(machine, processes, "setpriority", 0, 0, 5) == pretended
    assert verdict(machine, processes, "setpriority", 0, 0, 0xFFFFFFFF) == refuse(errno.EACCES)
    assert {verdict(machine, processes, "setpriority", *who) for who in ((0, 1), (1, 0), (2, 0))} == {EPERM}
    assert verdict(machine, processes, "sched_setaffinity", 0, 8) == pretended
    assert verdict(machine, processes, "sched_setaffinity", 1, 8) == EPERM
    assert verdict(machine, processes, "memfd_create") == (ALLOW if processes else EPERM)
    for name in ("preadv2", "pwritev2"):
        assert verdict(machine, processes, name, 3, 0, 1, 0, 0, 0) == ALLOW
        assert verdict(machine, processes, name, 3, 0, 1, 0, 0, 8) == refuse(errno.EOPNOTSUPP)


@pytest.mark.parametrize("machine", MACHINES)
def test_no_name_of_the_policy_is_missing_in_the_table_or_idle_in_it(machine):
    assert set(numbers_of("x86_64")) | set(numbers_of(machine)) == set(policy(True, narrowing=True, executing=True))
    assert not {*names_in(ALLOWED)} & {*names_in(HOSTILE)}


@pytest.mark.parametrize("machine", MACHINES)
def test_a_second_filter_can_be_added_only_where_that_is_asked_for(machine):
    audit, number = AUDIT_ARCH[machine], numbers_of(machine)["seccomp"]
    narrowing = build_filter(machine, processes=True, narrowing=True)
    assert evaluate(narrowing, audit, number, (1, 0, 0, 0, 0, 0)) == ALLOW
    assert evaluate(narrowing, audit, number, (0, 0, 0, 0, 0, 0)) == EPERM
    assert verdict(machine, True, "seccomp", 1) == EPERM


def test_another_machine_is_refused_in_one_line():
    with pytest.raises(SandboxError, match="riscv64") as raised:
        build_filter("riscv64", processes=True)
    assert "\n" not in str(raised.value)


def header_numbers(path: str) -> dict[str, int]:
    """The `__NR_` names of a kernel header; where a name stands for another one, that one's number."""
    header = Path(path)
    if not header.exists():
        pytest.skip(f"{path} is not installed")
    text = header.read_text()
    values = {name: int(number) for name, number in re.findall(r"#define (__NR\w+)\s+(\d+)", text)}
    aliases = re.findall(r"#define (__NR_\w+)\s+(__NR3264_\w+)", text)
    values = {name: values[other] for name, other in aliases if other in values} | values
    return {name.removeprefix("__NR_"): number for name, number in values.items()}


@pytest.mark.parametrize(
    ("machine", "header"),
    [
        ("x86_64", "/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
        ("aarch64", "/usr/include/asm-generic/unistd.h"),
    ],
)
def test_the_tables_are_those_of_the_kernel_headers(machine, header):
    known = header_numbers(header)
    ours = numbers_of(machine)
    newer = {name: number for name, number in ours.items() if name not in known}
    assert {name: number for name, number in ours.items() if name in known} == {
        name: known[name] for name in ours if name in known
    }
    assert set(newer) <= {"fchmodat2"}, "only what is newer than the header may be missing from it"
    absent = set(numbers_of("x86_64")) - set(ours)
    assert not absent & set(known), "the header has what the table leaves out"
