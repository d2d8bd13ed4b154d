"""The policy of the jail: which system calls a program may make, as rules that `seccomp` compiles to a filter.

1. `policy` has a rule for each call: a verdict, or a few checks of arguments and then a verdict. Calls without a rule
   are refused with EPERM; those newer than our tables with ENOSYS, so that libraries fall back to older ones; those
   that only an attacker would make kill the process.
2. Files are restricted by mounts and Landlock, processes by namespaces, so calls on paths and `kill` are allowed.
   Without namespaces (`walled`) a process may signal and inspect only itself, and can't change or read the mode, dates
   and attributes of files, which Landlock doesn't cover.
"""

import errno
from dataclasses import dataclass

from alpha_codium.sandbox.engine.inside import wire
from alpha_codium.sandbox.engine.syscalls import ALLOWED, HOSTILE, names_in

ALLOW = 0x7FFF0000
KILL = 0x80000000  # SECCOMP_RET_KILL_PROCESS
ERRNO = 0x00050000
SET_MODE_FILTER = 1
MSG_OOB = 1

# Calls on the attributes of files; and calls on any process, by its number in the first argument.
BEYOND_LANDLOCK = """chmod fchmod fchmodat fchmodat2 utime utimes utimensat futimesat
    getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr"""
OF_A_PROCESS = "kill tkill tgkill getpgid getsid sched_getaffinity sched_getparam sched_getscheduler"
# Calls that succeed without effect; they could write to the host's disk, or leave traces for the next test.
PRETENDED = "fsync fdatasync fadvise64"
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


def needs(argument: int, values: tuple[int, ...], number: int, mask: int = WORD, *, high: bool = False) -> Check:
    """Return the check that a call fails with this errno unless a word of an argument is one of `values`."""
    return Check(argument, values, refuse(number), mask, high, unless=True)


@dataclass(frozen=True, slots=True)
class SyscallRule:
    """The rule of a call: the verdict of the first check that applies, else `otherwise`."""

    otherwise: int
    checks: tuple[Check, ...] = ()


def policy(
    processes: bool, narrowing: bool = False, walled: bool = False, executing: bool = False
) -> dict[str, SyscallRule]:
    """Return the rule of each call that isn't refused with EPERM; without `processes` only threads may be started."""
    rules = dict.fromkeys(names_in(ALLOWED), SyscallRule(ALLOW))
    rules |= dict.fromkeys(names_in(HOSTILE), SyscallRule(KILL))
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
            "execve": SyscallRule(ALLOW if executing else refuse(errno.EACCES)),
            "execveat": SyscallRule(ALLOW if executing else refuse(errno.EACCES)),
            "socket": SyscallRule(refuse(errno.EACCES)),
            "socketpair": SyscallRule(
                ALLOW, (needs(0, (AF_UNIX,), errno.EACCES), needs(1, PAIR_TYPES, errno.EACCES, TYPE_MASK))
            ),
            "sendto": without_urgency(3),
            "recvfrom": without_urgency(3),
            "sendmsg": without_urgency(2),
            "recvmsg": without_urgency(2),
            # No flags: one tells whether a file is in the page cache, others write to the disk.
            "preadv2": SyscallRule(ALLOW, (needs(5, (0,), errno.EOPNOTSUPP),)),
            "pwritev2": SyscallRule(ALLOW, (needs(5, (0,), errno.EOPNOTSUPP),)),
            # A control group counts such files; without one, they would escape the limit of memory.
            "memfd_create": SyscallRule(ALLOW if processes else refuse(errno.EPERM)),
            # Lowering its own priority and choosing processors succeed without effect.
            "setpriority": SyscallRule(
                refuse(0),
                (needs(0, (0,), errno.EPERM), needs(1, (0,), errno.EPERM), needs(2, (0,), errno.EACCES, NEGATIVE)),
            ),
            "sched_setaffinity": SyscallRule(refuse(0), (needs(0, (0,), errno.EPERM),)),
            "prctl": only(0, PRCTL_OPTIONS),
            "prlimit64": only(0, (0,)),
            "personality": only(0, (WORD,)),
            "fcntl": only(1, FCNTL_COMMANDS),
            # On EOPNOTSUPP pathlib falls back to copying.
            "ioctl": SyscallRule(
                refuse(errno.ENOTTY), (Check(1, IOCTL_REQUESTS, ALLOW), Check(1, (FICLONE,), refuse(errno.EOPNOTSUPP)))
            ),
        }
        | (EXECUTING if executing else {})
        | (NARROWING if narrowing else {})
        | (WALLED if walled else {})
        | (RUNTIMES if walled and executing else {})
    )


def without_urgency(flags: int) -> SyscallRule:
    """Return a rule that allows a call without MSG_OOB, which is unused on such sockets and had vulnerabilities."""
    return SyscallRule(ALLOW, (needs(flags, (0,), errno.EPERM, mask=MSG_OOB),))


def only(argument: int, values: tuple[int, ...]) -> SyscallRule:
    """Return a rule that allows a call if the argument, an int, is one of `values`."""
    return SyscallRule(refuse(errno.EPERM), (Check(argument, values, ALLOW),))


# Mono sets the usual scheduling of each thread, and complains on standard output if it can't; without effect.
EXECUTING = {"sched_setscheduler": SyscallRule(refuse(0))}
# Calls that a runner needs to restrict its tests further.
NARROWING = {
    "seccomp": only(0, (SET_MODE_FILTER,)),
    "landlock_restrict_self": SyscallRule(ALLOW),
    "prctl": only(0, (*PRCTL_OPTIONS, PDEATHSIG)),
}
WALLED = {
    **{name: SyscallRule(refuse(errno.EPERM)) for name in BEYOND_LANDLOCK.split()},
    **{name: only(0, ITSELF) for name in OF_A_PROCESS.split()},
    # All processes of a compiler stay in the group that is killed at its end.
    **{name: SyscallRule(refuse(errno.EPERM)) for name in ("setsid", "setpgid")},
    "getpriority": only(1, ITSELF),
}

# Java asks for the processors of each of its threads, by their numbers.
RUNTIMES = {"sched_getaffinity": SyscallRule(ALLOW)}


def clone_rule(processes: bool) -> SyscallRule:
    """Return the rule for clone: only the flags of fork and pthread_create; without `processes` threads only."""
    checks = [
        Check(0, (0,), KILL, mask=NEW_NAMESPACES, unless=True),
        needs(0, (0,), errno.EPERM, high=True),
        needs(0, (0,), errno.EPERM, mask=WORD ^ CLONE_KNOWN),
    ]
    if not processes:
        checks.append(Check(0, (0,), refuse(errno.EAGAIN), mask=CLONE_THREAD))
    return SyscallRule(ALLOW, tuple(checks))
