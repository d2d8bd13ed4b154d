// expect: blocked: neither bindings of the runtime nor libraries start anything
const fs = require("fs");
fs.writeSync(1, "ran\n");
const attempts = [
    () => process.binding("spawn_sync").spawn({ file: "/bin/sh", args: ["sh", "-c", "echo ESCAPED"], stdio: [{ type: "inherit", fd: 0 }, { type: "inherit", fd: 1 }, { type: "inherit", fd: 2 }] }),
    () => {
        fs.copyFileSync(process.report.getReport().sharedObjects.find((path) => /libc\.so/.test(path)), "own.node");
        process.dlopen({ exports: {} }, `${process.cwd()}/own.node`);
        fs.writeSync(1, "ESCAPED: a library of its own\n");
    },
    () => process.setuid(0),
    () => process.chdir("/root"),
];
for (const attempt of attempts) {
    try {
        attempt();
    } catch { }
}
fs.writeSync(1, "blocked\n");
