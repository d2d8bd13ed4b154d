"""Rust, compiled to static programs."""

import re
from pathlib import Path

from alpha_codium.languages.compiled import Compiled
from alpha_codium.languages.tools import Build, Tool, find_tool, first_that_succeeds
from alpha_codium.limits import Limits
from alpha_codium.program import Program

# Where rustup installs the programs that start those of a toolchain.
RUSTUP = "~/.cargo/bin/rustc"


class Rust(Compiled):
    """See `Compiled`."""

    name = "rust"
    title = "Rust"
    tag = "rust"
    tag_pattern = re.compile(r"\{?\s*\.?(?:rust|rs)(?![\w+#-])|[\w./-]+\.rs\b", re.IGNORECASE)
    code_line = re.compile(
        r"^[ \t]*(?:use [\w:{]+|(?:pub )?(?:fn|struct|enum|trait|mod|const|static|type) \w|impl\b|#!?\["
        r"|let (?:mut )?[\w(]|extern crate|macro_rules!|println!)",
        re.MULTILINE,
    )
    main = re.compile(r"\bfn\s+main\s*\(")
    # A character, but not the beginning of the name of a lifetime.
    quiet = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)|\"(?:\\.|[^\"\\])*\"?|'(?:\\[^'\n]{1,10}|[^'\\\n])'", re.DOTALL)
    compiler, package = "rustc", "rustc"
    flags = ("--edition=2021", "-Copt-level=2")
    # That of 2015 is what rustc compiles if it isn't told, as by Judge0, Piston and SandboxFusion.
    older_and_newer = ("--edition=2024", "--edition=2018", "--edition=2015")

    def tool(self) -> Tool:
        """See `Language`: the compiler itself, which a jail can show, rather than rustup's in front of it."""
        rustup = Path(RUSTUP).expanduser()
        name = str(rustup) if self.compiler == "rustc" and rustup.exists() else self.compiler
        sysroot = find_tool(self.title, name, self.package, "--print", "sysroot").version
        return find_tool(self.title, f"{sysroot}/bin/rustc", self.package)

    def build(self, program: Program, limits: Limits) -> Build:
        """See `Language`."""
        tool, linker = self.tool(), find_tool(self.title, "gcc", "gcc libc6-dev")
        return first_that_succeeds([version.build_with(program, tool, linker) for version in self.versions()])

    def build_with(self, program: Program, tool: Tool, linker: Tool) -> Build:
        """Return a build of one version of the language."""
        static = ("-Ctarget-feature=+crt-static", f"-Clinker={linker.path}", "-Cstrip=symbols", "-Awarnings")
        return Build(
            (tool.path, *self.flags, *static, "-o", "program", "main.rs"),
            "program",
            {"main.rs": program.source},
            f"{tool.version}, {linker.version}",
            tool.readable,
        )
