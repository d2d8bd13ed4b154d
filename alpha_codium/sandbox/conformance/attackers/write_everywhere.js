// expect: finishes; what it wrote is gone, and neither the program nor the runtime is changed
const fs = require("fs");
fs.writeSync(1, "ran\n");
if (fs.existsSync("left")) console.log("ESCAPED: a file of the test before");
for (const path of ["left", "/tmp/left", "/dev/shm/left", "/left", "/var/tmp/left", "/srv/left", "/tmp/planted_by_attacker.py"]) {
    try {
        fs.writeFileSync(path, Buffer.alloc(1000));
    } catch { }
}
for (const path of [__filename, `${__filename}.new`, process.execPath, "/etc/own"]) {
    try {
        fs.openSync(path, "a");
        console.log(`ESCAPED: ${path} can be written`);
    } catch { }
}
