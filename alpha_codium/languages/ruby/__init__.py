"""Ruby."""

import re

from alpha_codium.languages.compiled import Compiled
from alpha_codium.languages.tools import ARTIFACT, SYSTEM, Build, Start
from alpha_codium.limits import Limits
from alpha_codium.program import Program

FILE = "main.rb"
# Where Debian and others have the modules.
LIBRARIES = tuple(f"{folder}/ruby" for folder in SYSTEM if "/lib" in folder)
# Bytes: recursion may be as deep as in other languages.
ENVIRONMENT = {"RUBY_THREAD_VM_STACK_SIZE": str(64 << 20)}


class Ruby(Compiled):
    """See `Compiled`."""

    name = "ruby"
    title = "Ruby"
    tag = "ruby"
    tag_pattern = re.compile(r"\{?\s*\.?(?:ruby|rb)(?![\w+#-])|[\w./-]+\.rb\b", re.IGNORECASE)
    code_line = re.compile(
        r"^[ \t]*(?:require(?:_relative)? ['\"]|def \w|class \w|module \w|puts\b|print\b|p \w|\w[\w, ]* = |\$\w+"
        r"|\w[\w.]*\.(?:each|times|map|upto)\b)",
        re.MULTILINE,
    )
    main = re.compile(r"\b(?:gets|STDIN|ARGF|readlines?|\$stdin|\$<|puts|print|p)\b")
    quiet = re.compile(r"(?:^|(?<=\s))#[^\n]*|\"(?:\\.|[^\"\\])*\"?|'(?:\\.|[^'\\])*'?|\?\\?\S(?!\w)", re.DOTALL)
    suffixes = (".rb",)
    compiler, package = "ruby", "ruby"
    flags = ("--disable=gems",)

    def build(self, program: Program, limits: Limits) -> Build:
        """See `Language`: Ruby checks the syntax."""
        tool = self.tool()
        return Build(
            (tool.path, *self.flags, "-W0", "-c", FILE),
            FILE,
            {FILE: program.source},
            tool.version,
            tool.readable,
            start=Start((tool.file, *self.flags, "-W0", ARTIFACT), (*tool.runtime, *LIBRARIES), ENVIRONMENT),
        )


LANGUAGE = Ruby()
