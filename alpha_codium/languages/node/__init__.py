"""JavaScript and TypeScript, run by Node.js."""

import re
from dataclasses import replace

from alpha_codium.languages.compiled import Compiled
from alpha_codium.languages.tools import ARTIFACT, Start, Tool, find_tool
from alpha_codium.limits import Limits

NODE, PACKAGE = "node", "nodejs"
# Where Debian has modules that other builds of Node.js contain.
DEBIAN = "/usr/share/nodejs"
# Comments, strings, templates (in which brackets have partners, too), and regular expressions where a value may begin.
OUTSIDE_CODE = re.compile(
    r"//[^\n]*|/\*.*?(?:\*/|\Z)|\"(?:\\.|[^\"\\\n])*\"?|'(?:\\.|[^'\\\n])*'?|`(?:\\.|[^`\\])*`?"
    r"|(?<=[=(,:\[!&|?{};\n])[ \t]*/(?![*/])(?:\\.|[^/\\\n]){1,200}/",
    re.DOTALL,
)
# The largest stack: deep recursion must not end a program that other languages' programs get through.
STACK = 256 << 20
# The threads of the pool, which does no more than read files.
ENVIRONMENT = {
    "UV_THREADPOOL_SIZE": "1",
    # Programs may not use io_uring, which isn't restricted by filters of system calls.
    "UV_USE_IO_URING": "0",
    # Without namespaces, the file exists, but can't be read, which is an error.
    "OPENSSL_CONF": "/dev/null",
}
# Of the stacks of its threads, and of code.
RESERVED = 128 << 20
# Programs read their input like this.
READS = (
    r"\brequire\s*\(\s*['\"](?:node:)?(?:fs|readline)\b|\bfrom\s+['\"](?:node:)?(?:fs|readline)\b|\bprocess\.stdin\b"
    r"|\breadline\s*\(|\bconsole\.log\s*\("
)


class Node(Compiled):
    """A language whose programs Node.js runs; see `Compiled`. `flags` are options of Node.js."""

    main = re.compile(READS)
    quiet = OUTSIDE_CODE

    def node(self, name: str = NODE) -> Tool:
        """Return Node.js, with its name in its version; raises SandboxError."""
        node = find_tool(self.title, name, PACKAGE)
        return replace(node, version=f"Node.js {node.version}")

    def start(self, node: Tool, limits: Limits) -> Start:
        """Return how the artifact is run."""
        memory = (
            f"--max-old-space-size={limits.memory_bytes >> 20}",
            f"--stack-size={min(STACK, limits.memory_bytes) >> 10}",
        )
        command = (node.file, *memory, *self.flags, ARTIFACT)
        return Start(command, (*node.runtime, DEBIAN), ENVIRONMENT, reserved_bytes=RESERVED)
