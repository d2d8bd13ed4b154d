"""JavaScript."""

import re

from alpha_codium.languages.node import ENVIRONMENT, NODE, PACKAGE, Node
from alpha_codium.languages.tools import Build, Tool
from alpha_codium.limits import Limits
from alpha_codium.program import Program

# Statements that only modules have.
MODULE = re.compile(r"^[ \t]*(?:import\s*(?:[\w{*][^;()\n]*\bfrom\s*)?['\"]|export\s+[\w{*])", re.MULTILINE)


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
            node.readable,
            ENVIRONMENT,
            start=self.start(node, limits),
        )


LANGUAGE = JavaScript()
