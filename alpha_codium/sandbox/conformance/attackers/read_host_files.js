// expect: blocked: no file of the host but the runtime's, no environment
const fs = require("fs");
const paths = [
    "/etc/passwd", "/etc/shadow", "/etc/hostname", "/root/.bashrc", "/tmp/gencode-canary/secret.txt", "/proc/1/environ",
    "/proc/1/mem", "/proc/1/root/etc/passwd", "/proc/kcore", "/sys/kernel", "/dev/mem", "/dev/vda", "/home", "/srv",
    "/var/run/docker.sock", "../../../../etc/passwd", "/proc/self/root/etc/passwd", "/proc/self/cwd/../../etc/passwd",
    "/usr/bin/python3", "/bin/sh",
];
fs.writeSync(1, "ran\n");
for (const path of paths) {
    for (const flags of ["r", "r+", "a"]) {
        try {
            fs.openSync(path, flags);
            console.log(`ESCAPED: ${path} can be opened (${flags})`);
        } catch { }
    }
    try {
        console.log(`ESCAPED: ${path} can be listed: ${fs.readdirSync(path)}`);
    } catch { }
}
for (const name of ["PYTHONPATH", "GENCODE_HOME", "OPENAI_API_KEY"])
    if (process.env[name] !== undefined) console.log(`ESCAPED: ${name}`);
console.log("blocked");
