// expect: MLE/RE/TLE; what is outside of the heap counts, too
require("fs").writeSync(1, "ran\n");
const all = [];
while (true) {
    all.push(Buffer.alloc(8 << 20, 1), new SharedArrayBuffer(8 << 20));
    new Uint8Array(all[all.length - 1]).fill(1);
    const memory = new WebAssembly.Memory({ initial: 128, maximum: 128 });
    new Uint8Array(memory.buffer).fill(1);
    all.push(memory);
}
