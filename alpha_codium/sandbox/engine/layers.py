"""What a jail is made of on this machine, what each part is for, and how to get one that is missing."""

from dataclasses import dataclass

from alpha_codium.sandbox.engine.worker import Worker

NEEDS = (
    "run as root, or allow user namespaces (sysctl kernel.unprivileged_userns_clone=1, on Ubuntu also "
    "kernel.apparmor_restrict_unprivileged_userns=0, in Docker --security-opt seccomp=unconfined)"
)

# What takes the place of namespaces, and what it leaves open.
WALLS = (
    "in their place Landlock and seccomp: no network, one process, no signal to others, nothing of what the host's "
    "files hold; left open: which files and processes exist, and how many files a test writes"
)


@dataclass(frozen=True, slots=True)
class Layer:
    """One part of a jail: whether it is `used`, what it is `for_`, and `how` to get it. `needed`: by sandbox=strict."""

    name: str
    used: bool
    for_: str
    how: str
    needed: bool = True


def layers_of(worker: Worker) -> list[Layer]:
    """The layers of a worker whose jail stands; without seccomp it wouldn't, nor without namespaces or Landlock."""
    walls = worker.jail.walls
    return [
        Layer("namespaces", not walls, "no network, no other process, no file of the host", NEEDS),
        *([Layer("walls", True, WALLS, NEEDS)] if walls else []),
        Layer("seccomp", True, "no system call that an ordinary program doesn't need, no other program", ""),
        Layer(
            "landlock",
            worker.facts["landlock"],
            "the wall around files" if walls else "a second wall around files",
            "Linux 5.13 or later with Landlock among its security modules (boot with lsm=landlock,...)",
        ),
        Layer(
            "cgroup",
            worker.may_fork,
            "CPU time and memory of all processes of a test together; without it a test has one process, with threads",
            "namespaces, and: " * walls + "run as root, or under systemd-run --user --scope -p Delegate=yes",
            needed=False,
        ),
        Layer(
            "proc",
            worker.facts["proc"],
            "/dev/stdin and /proc/self for the programs that open them",
            "an unmasked /proc (in Docker --security-opt systempaths=unconfined)",
            needed=False,
        ),
    ]
