"""TypeScript, compiled by tsc to JavaScript."""

import re

from alpha_codium.languages.node import ENVIRONMENT, Node
from alpha_codium.languages.tools import Build
from alpha_codium.limits import Limits
from alpha_codium.program import Program

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
            (*node.readable, *tsc.readable),
            ENVIRONMENT,
            start=self.start(node, limits),
        )


LANGUAGE = TypeScript()
