// expect: OLE/TLE; it prints without end
const fs = require("fs");
fs.writeSync(1, "ran\n");
process.on("uncaughtException", () => {});
const block = Buffer.alloc(1 << 16, "x");
while (true) {
    try {
        fs.writeSync(1, block);
    } catch { }
}
