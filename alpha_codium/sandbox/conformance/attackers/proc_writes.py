# expect: blocked: nothing below /proc or /sys can be written but one's own name
import os

print("ran", flush=True)
done = []
for path in (
    "/proc/1/oom_score_adj", "/proc/1/mem", "/proc/1/comm", "/proc/1/timerslack_ns", "/proc/1/coredump_filter",
    "/proc/1/clear_refs", "/proc/1/uid_map", "/proc/self/uid_map", "/proc/self/setgroups", "/proc/self/attr/current",
    "/proc/sys/kernel/core_pattern", "/proc/sys/kernel/ns_last_pid", "/proc/sys/vm/drop_caches", "/proc/sysrq-trigger",
    "/proc/sys/kernel/hostname", "/sys/kernel/uevent_helper", "/sys/fs/cgroup/cgroup.procs", "/proc/kmsg",
    "/sys/fs/cgroup/memory/cgroup.procs", "/proc/self/loginuid", "/dev/kmsg", "/dev/mem", "/dev/console", "/dev/ptmx",
):  # fmt: skip
    try:
        os.close(os.open(path, os.O_WRONLY))
        done.append(path)
    except OSError:
        pass
print("ESCAPED: " + " ".join(done) if done else "blocked")
