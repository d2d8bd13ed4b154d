"""The system call filter of the jail, as a classic BPF program for seccomp(SECCOMP_SET_MODE_FILTER).

1. `policy` has a rule for each call: a verdict, or a few checks of arguments and then a verdict. Calls without a rule
   are refused with EPERM; those newer than our tables with ENOSYS, so that libraries fall back to older ones; those
   that only an attacker would make kill the process.
2. `build_filter` compiles the policy to a balanced binary search over ranges of numbers with equal verdict. The kernel
   evaluates the filter for every number when it is installed, which happens once per candidate and takes 0.1 ms of CPU
   (x86-64, Linux 6.18); a linear list of comparisons takes 0.6 ms.
3. Files are restricted by mounts and Landlock, processes by namespaces, so calls on paths and `kill` are allowed.
   Without namespaces (`walled`) a process may signal and inspect only itself, and can't change or read the mode, dates
   and attributes of files, which Landlock doesn't cover.

pyseccomp isn't used: it needs the C library libseccomp on the host, and loads filters into its own process, while we
need the bytes. The filter for aarch64 is built and evaluated by tests, but has never been run.
"""

import errno
import functools
import struct
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from alpha_codium.sandbox.engine.inside import wire
from alpha_codium.sandbox.engine.syscalls import numbers_of

# The BPF instructions that the kernel can evaluate at installation, so that allowed calls skip the filter later.
LOAD, MASK, JUMP_EQUAL, JUMP_AT_LEAST, RETURN = 0x20, 0x54, 0x15, 0x35, 0x06
# Offsets in struct seccomp_data; both machines are little endian.
NUMBER, ARCHITECTURE, ARGUMENTS = 0, 4, 16
FARTHEST = 255

ALLOW = 0x7FFF0000
KILL = 0x80000000  # SECCOMP_RET_KILL_PROCESS
ERRNO = 0x00050000
SET_MODE_FILTER = 1
MSG_OOB = 1
AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
X32_BIT = 0x40000000
# The first number after those in the headers of Linux 6.1.
FIRST_UNKNOWN = 451

FILES = """
    read write readv writev pread64 pwrite64 preadv pwritev lseek open openat openat2 creat close close_range dup dup2
    dup3 pipe pipe2 flock truncate ftruncate fallocate sendfile copy_file_range stat fstat lstat newfstatat statx
    access faccessat faccessat2 readlink readlinkat getdents getdents64 getcwd chdir fchdir statfs fstatfs getxattr
    lgetxattr fgetxattr listxattr llistxattr flistxattr mkdir mkdirat rmdir unlink unlinkat rename renameat renameat2
    link linkat symlink symlinkat chmod fchmod fchmodat fchmodat2 utime utimes utimensat futimesat umask
"""
MEMORY = "mmap mprotect munmap mremap madvise brk msync get_mempolicy"
SIGNALS = """
    rt_sigaction rt_sigprocmask rt_sigreturn rt_sigpending rt_sigtimedwait rt_sigsuspend sigaltstack pause kill tkill
    tgkill
"""
WAITING = """
    poll ppoll select pselect6 epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait epoll_pwait2 eventfd
    eventfd2 timerfd_create timerfd_settime timerfd_gettime
"""
TIME = """
    nanosleep clock_nanosleep clock_gettime clock_getres gettimeofday time times alarm setitimer getitimer timer_create
    timer_settime timer_gettime timer_delete timer_getoverrun
"""
IDENTITY = """
    getpid getppid gettid getuid geteuid getgid getegid getgroups getresuid getresgid getpgrp getpgid getsid setsid
    setpgid uname sysinfo getrusage getrlimit setrlimit getcpu getpriority
"""
TASKS = """
    sched_yield sched_getaffinity sched_getparam sched_getscheduler sched_get_priority_max sched_get_priority_min futex
    futex_waitv set_robust_list rseq set_tid_address arch_prctl getrandom restart_syscall exit exit_group wait4 waitid
"""
# For pairs of connected sockets, which asyncio and multiprocessing use among themselves.
SOCKET_PAIRS = "sendmsg recvmsg sendto recvfrom shutdown getsockopt getsockname getpeername"
ALLOWED = (FILES, MEMORY, SIGNALS, WAITING, TIME, IDENTITY, TASKS, SOCKET_PAIRS)

# Calls that no legitimate program or library makes.
HOSTILE = """
    ptrace process_vm_readv process_vm_writev process_madvise kcmp pidfd_getfd mount umount2 pivot_root chroot
    move_mount open_tree fsopen fsconfig fsmount fspick mount_setattr unshare setns init_module finit_module
    delete_module kexec_load kexec_file_load bpf perf_event_open userfaultfd io_uring_setup io_uring_enter
    io_uring_register add_key request_key keyctl reboot swapon swapoff acct quotactl quotactl_fd settimeofday
    clock_settime adjtimex clock_adjtime iopl ioperm modify_ldt open_by_handle_at sethostname setdomainname
    fanotify_init
"""

# Calls on the attributes of files; and calls on any process, by its number in the first argument.
BEYOND_LANDLOCK = """chmod fchmod fchmodat fchmodat2 utime utimes utimensat futimesat
    getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr"""
OF_A_PROCESS = "kill tkill tgkill getpgid getsid sched_getaffinity sched_getparam sched_getscheduler"
# Calls that succeed without effect: on files of the host they would write its disk, or leave what the next test sees.
PRETENDED = "fsync fdatasync fadvise64"
SIGNALLING = ("kill", "tkill", "tgkill")
ITSELF = (0, wire.OWN_PROCESS)

NEW_NAMESPACES = 0x7E020000
CLONE_THREAD = 0x00010000
# CSIGNAL, VM, FS, FILES, SIGHAND, VFORK, THREAD, SYSVSEM, SETTLS, PARENT_SETTID, CHILD_CLEARTID, DETACHED and
# CHILD_SETTID: so neither PARENT nor UNTRACED, PTRACE, PIDFD or IO.
CLONE_KNOWN = 0x017D4FFF
# NAME, GET_NAME, GET_DUMPABLE, and naming anonymous memory, as glibc's malloc and newer interpreters do.
PRCTL_OPTIONS = (15, 16, 3, 0x53564D41)
PDEATHSIG = 1
# TCGETS, TCGETS2, TIOCGWINSZ, FIONREAD, FIONBIO, FIOCLEX, FIONCLEX
IOCTL_REQUESTS = (0x5401, 0x802C542A, 0x5413, 0x541B, 0x5421, 0x5451, 0x5450)
FICLONE = 0x40049409
NEGATIVE = 0x80000000
# DUPFD, GETFD, SETFD, GETFL, SETFL, GETLK, SETLK, SETLKW, GETOWN; OFD locks; GETLEASE, DUPFD_QUERY, DUPFD_CLOEXEC,
# GETPIPE_SZ, GET_SEALS: nothing that sends signals, seals a file or enlarges a pipe.
FCNTL_COMMANDS = (*range(8), 9, 36, 37, 38, 1025, 1027, 1030, 1032, 1034)
AF_UNIX = 1
# Without datagrams, which a connected pair can send to any address.
PAIR_TYPES = (1, 5)  # SOCK_STREAM, SOCK_SEQPACKET
TYPE_MASK = 0xF
WORD = 0xFFFFFFFF


def refuse(number: int) -> int:
    """Return the verdict that makes a call fail with this errno."""
    return ERRNO | number


@dataclass(frozen=True, slots=True)
class Check:
    """A verdict if a word of an argument, after `mask`, is one of `values`; with `unless`, if it is none of them."""

    argument: int
    values: tuple[int, ...]
    verdict: int
    mask: int = WORD
    high: bool = False
    unless: bool = False


@dataclass(frozen=True, slots=True)
class SyscallRule:
    """The rule of a call: the verdict of the first check that applies, else `otherwise`."""

    otherwise: int
    checks: tuple[Check, ...] = ()


def policy(processes: bool, narrowing: bool = False, walled: bool = False) -> dict[str, SyscallRule]:
    """Return the rule of each call that isn't refused with EPERM; without `processes` only threads may be started."""
    rules: dict[str, SyscallRule] = {name: SyscallRule(ALLOW) for names in ALLOWED for name in names.split()}
    rules.update((name, SyscallRule(KILL)) for name in HOSTILE.split())
    rules.update((name, SyscallRule(refuse(0))) for name in PRETENDED.split())
    forking = SyscallRule(ALLOW if processes else refuse(errno.EAGAIN))
    return (
        rules
        | {
            "clone": clone_rule(processes),
            # Its flags are in memory, which a filter can't read; the C library falls back to clone.
            "clone3": SyscallRule(refuse(errno.ENOSYS)),
            "fork": forking,
            "vfork": forking,
            "execve": SyscallRule(refuse(errno.EACCES)),
            "execveat": SyscallRule(refuse(errno.EACCES)),
            "socket": SyscallRule(refuse(errno.EACCES)),
            "socketpair": SyscallRule(
                ALLOW,
                (
                    Check(0, (AF_UNIX,), refuse(errno.EACCES), unless=True),
                    Check(1, PAIR_TYPES, refuse(errno.EACCES), mask=TYPE_MASK, unless=True),
                ),
            ),
            "sendto": without_urgency(3),
            "recvfrom": without_urgency(3),
            "sendmsg": without_urgency(2),
            "recvmsg": without_urgency(2),
            # No flags: one tells whether a file is in the page cache, others write to the disk.
            "preadv2": SyscallRule(ALLOW, (Check(5, (0,), refuse(errno.EOPNOTSUPP), unless=True),)),
            "pwritev2": SyscallRule(ALLOW, (Check(5, (0,), refuse(errno.EOPNOTSUPP), unless=True),)),
            # A control group counts such files; without one, they would escape the limit of memory.
            "memfd_create": SyscallRule(ALLOW if processes else refuse(errno.EPERM)),
            # A process may lower its priority and choose its processors, in vain.
            "setpriority": SyscallRule(
                refuse(0),
                (
                    Check(0, (0,), refuse(errno.EPERM), unless=True),
                    Check(1, (0,), refuse(errno.EPERM), unless=True),
                    Check(2, (0,), refuse(errno.EACCES), mask=NEGATIVE, unless=True),
                ),
            ),
            "sched_setaffinity": SyscallRule(refuse(0), (Check(0, (0,), refuse(errno.EPERM), unless=True),)),
            "prctl": only(0, PRCTL_OPTIONS),
            "prlimit64": only(0, (0,)),
            "personality": only(0, (WORD,)),
            "fcntl": only(1, FCNTL_COMMANDS),
            # On EOPNOTSUPP pathlib falls back to copying.
            "ioctl": SyscallRule(
                refuse(errno.ENOTTY), (Check(1, IOCTL_REQUESTS, ALLOW), Check(1, (FICLONE,), refuse(errno.EOPNOTSUPP)))
            ),
        }
        | (NARROWING if narrowing else {})
        | (WALLED if walled else {})
    )


def without_urgency(flags: int) -> SyscallRule:
    """Return a rule that allows a call without MSG_OOB, which is unused on such sockets and had vulnerabilities."""
    return SyscallRule(ALLOW, (Check(flags, (0,), refuse(errno.EPERM), mask=MSG_OOB, unless=True),))


def only(argument: int, values: tuple[int, ...]) -> SyscallRule:
    """Return a rule that allows a call if the argument, an int, is one of `values`."""
    return SyscallRule(refuse(errno.EPERM), (Check(argument, values, ALLOW),))


# Calls that a runner needs to restrict its tests further.
NARROWING = {
    "seccomp": only(0, (SET_MODE_FILTER,)),
    "landlock_restrict_self": SyscallRule(ALLOW),
    "prctl": only(0, (*PRCTL_OPTIONS, PDEATHSIG)),
}
WALLED = {
    **{name: SyscallRule(refuse(errno.EPERM)) for name in BEYOND_LANDLOCK.split()},
    **{name: only(0, ITSELF) for name in OF_A_PROCESS.split()},
    "getpriority": only(1, ITSELF),
}


def clone_rule(processes: bool) -> SyscallRule:
    """Return the rule for clone: only the flags of fork and pthread_create; without `processes` threads only."""
    checks = [
        Check(0, (0,), KILL, mask=NEW_NAMESPACES, unless=True),
        Check(0, (0,), refuse(errno.EPERM), high=True, unless=True),
        Check(0, (0,), refuse(errno.EPERM), mask=WORD ^ CLONE_KNOWN, unless=True),
    ]
    if not processes:
        checks.append(Check(0, (0,), refuse(errno.EAGAIN), mask=CLONE_THREAD))
    return SyscallRule(ALLOW, tuple(checks))


@functools.cache
def build_filter(machine: str, *, processes: bool, narrowing: bool = False, walled: bool = False) -> bytes:
    """Return the filter, an array of `struct sock_filter`, for a machine as `platform.machine()` names it.

    `processes`: a program may fork. `narrowing`: a second filter may be added, for tests of a runner. `walled`: for
    tests without namespaces; `wire.OWN_PROCESS` in it is to be replaced by the number of the test's process. Raises
    SandboxError for a machine without a table of calls.
    """
    numbers = numbers_of(machine)
    rules = {numbers[name]: rule for name, rule in policy(processes, narrowing, walled).items() if name in numbers}
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
