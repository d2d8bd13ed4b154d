// expect: blocked: neither the programs of the host nor the runtime can be executed
const { spawnSync, spawn, execSync, fork } = require("child_process");
const fs = require("fs");
fs.writeSync(1, "ran\n");
if (process.argv[2] === "child") {
    fs.writeSync(1, "ESCAPED: executed again\n");
    process.exit();
}
try {
    fs.copyFileSync(process.execPath, "copy");
    fs.chmodSync("copy", 0o755);
} catch { }
const commands = [
    ["/bin/sh", "-c", "echo ESCAPED: sh"], ["sh", "-c", "echo ESCAPED: sh"], ["/usr/bin/env"],
    ["/usr/bin/python3", "-c", "print('ESCAPED: python')"], ["./copy", "--version"],
];
for (const [program, ...words] of commands) {
    const { error, status } = spawnSync(program, words, { stdio: "inherit" });
    if (!error && status === 0) fs.writeSync(1, `ESCAPED: ${program}\n`);
    try {
        spawn(program, words, { stdio: "inherit", detached: true }).on("error", () => {});
    } catch { }
}
try {
    execSync("echo ESCAPED");
    fs.writeSync(1, "ESCAPED: execSync\n");
} catch { }
fs.writeSync(1, "blocked\n");
