// expect: blocked or TLE/RE/MLE; all of them die with the test
const { spawn } = require("child_process");
require("fs").writeSync(1, "ran\n");
for (let i = 0; i < 200; i++) {
    try {
        spawn(process.execPath, [__filename], { stdio: "ignore", detached: true }).on("error", () => {}).unref();
    } catch { }
}
console.log("blocked");
