"""The system calls that `policy` has rules for, with their numbers on x86-64 and aarch64.

Taken from the kernel's headers (asm/unistd_64.h and asm-generic/unistd.h); a test compares them if those are installed.
Python's standard library has no such table. The number is "-" where a machine has no such call.
"""

from alpha_codium.errors import SandboxError

MACHINES = ("x86_64", "aarch64")

FILES = """
    read 0 63, write 1 64, readv 19 65, writev 20 66, pread64 17 67, pwrite64 18 68, preadv 295 69, pwritev 296 70,
    lseek 8 62, open 2 -, openat 257 56, openat2 437 437, creat 85 -, close 3 57, close_range 436 436, dup 32 23,
    dup2 33 -, dup3 292 24, pipe 22 -, pipe2 293 59, flock 73 32, truncate 76 45, ftruncate 77 46, fallocate 285 47,
    sendfile 40 71, copy_file_range 326 285, stat 4 -, fstat 5 80, lstat 6 -, newfstatat 262 79, statx 332 291,
    access 21 -, faccessat 269 48, faccessat2 439 439, readlink 89 -, readlinkat 267 78, getdents 78 -,
    getdents64 217 61, getcwd 79 17, chdir 80 49, fchdir 81 50, statfs 137 43, fstatfs 138 44, getxattr 191 8,
    lgetxattr 192 9, fgetxattr 193 10, listxattr 194 11, llistxattr 195 12, flistxattr 196 13, mkdir 83 -,
    mkdirat 258 34, rmdir 84 -, unlink 87 -, unlinkat 263 35, rename 82 -, renameat 264 38, renameat2 316 276,
    link 86 -, linkat 265 37, symlink 88 -, symlinkat 266 36, chmod 90 -, fchmod 91 52, fchmodat 268 53,
    fchmodat2 452 452, utime 132 -, utimes 235 -, utimensat 280 88, futimesat 261 -, umask 95 166,
"""
MEMORY = """
    mmap 9 222, mprotect 10 226, munmap 11 215, mremap 25 216, madvise 28 233, brk 12 214, msync 26 227,
    get_mempolicy 239 236,
"""
SIGNALS = """
    rt_sigaction 13 134, rt_sigprocmask 14 135, rt_sigreturn 15 139, rt_sigpending 127 136, rt_sigtimedwait 128 137,
    rt_sigsuspend 130 133, sigaltstack 131 132, pause 34 -, kill 62 129, tkill 200 130, tgkill 234 131,
"""
WAITING = """
    poll 7 -, ppoll 271 73, select 23 -, pselect6 270 72, epoll_create 213 -, epoll_create1 291 20,
    epoll_ctl 233 21, epoll_wait 232 -, epoll_pwait 281 22, epoll_pwait2 441 441, eventfd 284 -, eventfd2 290 19,
    timerfd_create 283 85, timerfd_settime 286 86, timerfd_gettime 287 87,
"""
TIME = """
    nanosleep 35 101, clock_nanosleep 230 115, clock_gettime 228 113, clock_getres 229 114, gettimeofday 96 169,
    time 201 -, times 100 153, alarm 37 -, setitimer 38 103, getitimer 36 102, timer_create 222 107,
    timer_settime 223 110, timer_gettime 224 108, timer_delete 226 111, timer_getoverrun 225 109,
"""
IDENTITY = """
    getpid 39 172, getppid 110 173, gettid 186 178, getuid 102 174, geteuid 107 175, getgid 104 176,
    getegid 108 177, getgroups 115 158, getresuid 118 148, getresgid 120 150, getpgrp 111 -, getpgid 121 155,
    getsid 124 156, setsid 112 157, setpgid 109 154, uname 63 160, sysinfo 99 179, getrusage 98 165,
    getrlimit 97 163, setrlimit 160 164, getcpu 309 168, getpriority 140 141,
"""
TASKS = """
    sched_yield 24 124, sched_getaffinity 204 123, sched_getparam 143 121, sched_getscheduler 145 120,
    sched_get_priority_max 146 125, sched_get_priority_min 147 126, futex 202 98, futex_waitv 449 449,
    set_robust_list 273 99, rseq 334 293, set_tid_address 218 96, arch_prctl 158 -, getrandom 318 278,
    restart_syscall 219 128, exit 60 93, exit_group 231 94, wait4 61 260, waitid 247 95,
"""
# For pairs of connected sockets, which asyncio and multiprocessing use among themselves.
SOCKET_PAIRS = """
    sendmsg 46 211, recvmsg 47 212, sendto 44 206, recvfrom 45 207, shutdown 48 210, getsockopt 55 209,
    getsockname 51 204, getpeername 52 205,
"""
ALLOWED = FILES + MEMORY + SIGNALS + WAITING + TIME + IDENTITY + TASKS + SOCKET_PAIRS

# Calls that no legitimate program or library makes.
HOSTILE = """
    ptrace 101 117, process_vm_readv 310 270, process_vm_writev 311 271, process_madvise 440 440, kcmp 312 272,
    pidfd_getfd 438 438, mount 165 40, umount2 166 39, pivot_root 155 41, chroot 161 51, move_mount 429 429,
    open_tree 428 428, fsopen 430 430, fsconfig 431 431, fsmount 432 432, fspick 433 433, mount_setattr 442 442,
    unshare 272 97, setns 308 268, init_module 175 105, finit_module 313 273, delete_module 176 106,
    kexec_load 246 104, kexec_file_load 320 294, bpf 321 280, perf_event_open 298 241, userfaultfd 323 282,
    io_uring_setup 425 425, io_uring_enter 426 426, io_uring_register 427 427, add_key 248 217, request_key 249 218,
    keyctl 250 219, reboot 169 142, swapon 167 224, swapoff 168 225, acct 163 89, quotactl 179 60,
    quotactl_fd 443 443, settimeofday 164 170, clock_settime 227 112, adjtimex 159 171, clock_adjtime 305 266,
    iopl 172 -, ioperm 173 -, modify_ldt 154 -, open_by_handle_at 304 265, sethostname 170 161,
    setdomainname 171 162, fanotify_init 300 262,
"""
# Calls with rules of their own.
RULED = """
    preadv2 327 286, pwritev2 328 287, fcntl 72 25, fsync 74 82, fdatasync 75 83, fadvise64 221 223, ioctl 16 29,
    prlimit64 302 261, prctl 157 167, personality 135 92, sched_setscheduler 144 119, sched_setaffinity 203 122,
    setpriority 141 140, memfd_create 319 279, seccomp 317 277, landlock_restrict_self 446 446, clone 56 220,
    clone3 435 435, fork 57 -, vfork 58 -, execve 59 221, execveat 322 281, socket 41 198, socketpair 53 199,
"""


def names_in(table: str) -> list[str]:
    """Return the names of the calls in a table."""
    return [row[0] for row in _rows(table)]


def numbers_of(machine: str) -> dict[str, int]:
    """Return the number of each call that `machine` has; raises SandboxError if it isn't one of `MACHINES`."""
    if machine not in MACHINES:
        raise SandboxError(
            f"the local sandbox has no system call table for {machine!r} (only {' and '.join(MACHINES)}): "
            "use `ac.open_sandbox('portable')`"
        )
    column = 1 + MACHINES.index(machine)
    return {row[0]: int(row[column]) for row in _rows(ALLOWED + HOSTILE + RULED) if row[column] != "-"}


def _rows(table: str) -> list[list[str]]:
    return [entry.split() for entry in table.replace("\n", " ").split(",") if entry.strip()]
