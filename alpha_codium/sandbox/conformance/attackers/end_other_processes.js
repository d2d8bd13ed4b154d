// expect: blocked or RE; it can end only itself
const fs = require("fs");
fs.writeSync(1, "ran\n");
for (const pid of [1, process.ppid, ...Array.from({ length: 100 }, (_, number) => number + 2), -1]) {
    if (pid === process.pid) continue;
    for (const signal of ["SIGKILL", "SIGSTOP", "SIGUSR1"]) {
        try {
            process.kill(pid, signal);
        } catch { }
    }
}
fs.writeSync(1, "blocked\n");
