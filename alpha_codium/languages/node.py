"""JavaScript and TypeScript, run by Node.js."""

import re
from dataclasses import replace

from alpha_codium.languages.compiled import Compiled
from alpha_codium.languages.tools import ARTIFACT, Build, Start, Tool, find_tool
from alpha_codium.limits import Limits
from alpha_codium.program import Program

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
# Statements that only modules have.
MODULE = re.compile(r"^[ \t]*(?:import\s*(?:[\w{*][^;()\n]*\bfrom\s*)?['\"]|export\s+[\w{*])", re.MULTILINE)
# What Node.js provides, of any type: programs can't count on the types of Node.js being installed.
PROVIDED = """
declare var require: any, module: any, exports: any, process: any, Buffer: any, global: any, console: any;
declare var __dirname: string, __filename: string, performance: any;
declare function setTimeout(run: (...values: any[]) => void, milliseconds?: number, ...values: any[]): any;
declare function setInterval(run: (...values: any[]) => void, milliseconds?: number, ...values: any[]): any;
declare function setImmediate(run: (...values: any[]) => void, ...values: any[]): any;
declare function clearTimeout(timer: any): void;
declare function clearInterval(timer: any): void;
declare function queueMicrotask(run: () => void): void;
declare module "*";
"""
# A variant: errors of types are none.
UNCHECKED = "unchecked"
UNLESS_SYNTAX = (
    """said=$("$@") && exit; printf '%s\\n' "$said"; ! printf '%s' "$said" | grep -q 'error TS1[0-9][0-9][0-9]:'"""
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


class JavaScript(Node):
    """See `Node`."""

    name = "javascript"
    title = "JavaScript"
    tag = "javascript"
    tag_pattern = re.compile(
        r"\{?\s*\.?(?:javascript|js|node(?:js)?|mjs|cjs)(?![\w+#-])|[\w./-]+\.[mc]?js\b", re.IGNORECASE
    )
    code_line = re.compile(
        r"^[ \t]*(?:(?:const|let|var) [\w{\[]|(?:async )?function\b|import\b.*['\"]|class \w|console\.\w"
        r"|module\.exports|process\.|['\"]use strict|for ?\(|while ?\(|if ?\(|[\w.]+\(.*\);?$)",
        re.MULTILINE,
    )
    compiler, package = NODE, PACKAGE

    def tool(self) -> Tool:
        """See `Language`."""
        return self.node(self.compiler)

    def build(self, program: Program, limits: Limits) -> Build:
        """See `Language`: Node.js checks the syntax."""
        node = self.tool()
        file = "main.mjs" if MODULE.search(program.source) else "main.js"
        return Build(
            (node.path, "--check", file),
            file,
            {file: program.source},
            node.version,
            (*node.readable, DEBIAN),
            ENVIRONMENT,
            start=self.start(node, limits),
        )


class TypeScript(Node):
    """See `Node`."""

    name = "typescript"
    title = "TypeScript"
    tag = "typescript"
    tag_pattern = re.compile(r"\{?\s*\.?(?:typescript|ts)(?![\w+#-])|[\w./-]+\.ts\b", re.IGNORECASE)
    code_line = re.compile(
        r"^[ \t]*(?:(?:const|let|var) [\w{\[]|(?:async )?function\b|import\b.*['\"]|declare \w|console\.\w"
        r"|(?:export )?(?:class|interface|type|enum) \w|process\.|for ?\(|while ?\(|if ?\(|[\w.]+\(.*\);?$)",
        re.MULTILINE,
    )
    compiler, package = "tsc", "node-typescript"

    def build(self, program: Program, limits: Limits) -> Build:
        """See `Language`: errors of syntax have the numbers TS1000 to TS1999."""
        node, tsc = self.node(), self.tool()
        # A module of its own, so that a program's names don't clash with those of the library.
        emitting = ("--target", "es2020", "--lib", "es2020", "--module", "commonjs", "--moduleDetection", "force")
        checking = ("--skipLibCheck", "--esModuleInterop", "--pretty", "false")
        command = (node.path, tsc.file, *emitting, *checking, "provided.d.ts", "main.ts")
        if program.variant == UNCHECKED:
            command = ("/bin/sh", "-c", UNLESS_SYNTAX, "sh", *command)
        return Build(
            command,
            "main.js",
            {"main.ts": program.source, "provided.d.ts": PROVIDED},
            f"tsc {tsc.version}, {node.version}",
            (*node.readable, *tsc.readable, DEBIAN),
            ENVIRONMENT,
            start=self.start(node, limits),
        )
