// expect: TLE; what keeps the event loop going ends with the test
require("fs").writeSync(1, "ran\n");
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGXCPU"]) process.on(signal, () => {});
process.on("exit", () => { while (true); });
setInterval(() => {}, 10);
Promise.resolve().then(function again() { return Promise.resolve().then(again); });
