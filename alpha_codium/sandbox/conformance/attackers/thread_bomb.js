// expect: TLE/RE/MLE; all of them die with the test
const { Worker } = require("worker_threads");
require("fs").writeSync(1, "ran\n");
const more = () => {
    try {
        new Worker("while (true);", { eval: true }).on("error", () => {});
    } catch { }
    setImmediate(more);
};
more();
