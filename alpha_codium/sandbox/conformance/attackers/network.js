// expect: blocked: no socket of any kind
const net = require("net"), dgram = require("dgram"), http = require("http"), dns = require("dns"), fs = require("fs");
fs.writeSync(1, "ran\n");
const escaped = (what) => () => fs.writeSync(1, `ESCAPED: ${what}\n`);
const attempts = {
    server: () => net.createServer().on("error", () => {}).listen(0, escaped("a server")),
    unix: () => net.createServer().on("error", () => {}).listen("own", escaped("a Unix socket")),
    client: () => net.connect(80, "127.0.0.1", escaped("a connection")).on("error", () => {}),
    datagrams: () => dgram.createSocket("udp4").on("error", () => {}).bind(0, escaped("datagrams")),
    http: () => http.get("http://127.0.0.1/", escaped("HTTP")).on("error", () => {}),
    names: () => dns.lookup("example.com", (error) => error || escaped("names")()),
    inspector: () => {
        require("inspector").open(0, "127.0.0.1");
        if (require("inspector").url()) escaped("the inspector")();
    },
};
for (const attempt of Object.values(attempts)) {
    try {
        attempt();
    } catch { }
}
setTimeout(() => {
    fs.writeSync(1, "blocked\n");
    process.exit();
}, 300);
