const fs = require('fs');
const net = require('net');

const deep = (n) => (n === 0 ? 0 : 1 + deep(n - 1));
const can = (run) => { try { run(); return true; } catch (error) { return false; } };
const canRead = (path) => can(() => fs.readFileSync(path));
const canWrite = (path) => can(() => fs.writeFileSync(path, ''));
const [mode, ...words] = fs.readFileSync(0, 'utf8').split(/\s+/).filter(Boolean);

if (mode === 'add') console.log(words.map(Number).reduce((a, b) => a + b, 0));
if (mode === 'exit') { console.log('leaving'); process.exit(3); }
if (mode === 'fail') throw new Error('failed');
if (mode === 'loop') for (;;);
if (mode === 'hoard') for (const all = []; ;) all.push(new Array(1 << 17).fill(all.length));
if (mode === 'flood') for (;;) fs.writeSync(1, 'all work and no play makes a program dull\n'.repeat(1000));
if (mode === 'deep') console.log(deep(100000));
if (mode === 'connect') {
    const socket = net.connect(80, '127.0.0.1');
    socket.on('connect', () => console.log('connected'));
    socket.on('error', () => console.log('refused'));
}
if (mode === 'read') console.log(canRead(words[0]) ? 'read' : 'refused');
if (mode === 'write') console.log(canWrite('/program/x') || canWrite('/etc/x') ? 'written' : 'refused');
if (mode === 'leave') console.log(canWrite('left') && canWrite('/tmp/left') ? 'left' : 'refused');
if (mode === 'look') console.log(canRead('left') || canRead('/tmp/left') ? 'found' : 'nothing');
