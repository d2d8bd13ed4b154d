"""Kotlin, compiled for the Java virtual machine."""

import re
import shlex
from pathlib import Path

from alpha_codium.languages.compiled import Compiled
from alpha_codium.languages.jvm import BRIEF, RESERVED, JavaHome, class_in, finding_main, start_of
from alpha_codium.languages.tools import Build, Start, find_tool
from alpha_codium.limits import Limits
from alpha_codium.program import Program

COMPILER = "org.jetbrains.kotlin.cli.jvm.K2JVMCompiler"
LIBRARY = "kotlin-stdlib.jar"
# What the compiler loads. Its own list is relative to the file behind a link, where Debian doesn't have them.
JARS = ("kotlin-compiler.jar", "annotations-13.0.jar", "trove4j.jar", LIBRARY, "kotlin-reflect.jar")
OPTIONS = ("-no-reflect", "-nowarn")
# Where Debian has the files behind the links of its `lib` folder.
DEBIAN = "/usr/share/java"
# Without a file of counters in /tmp.
JAVA_VERSION = ("-XX:-UsePerfData", "-version")
NAMED = ("-jar", "program.jar")


class Kotlin(Compiled):
    """See `Compiled`."""

    name = "kotlin"
    title = "Kotlin"
    tag = "kotlin"
    tag_pattern = re.compile(r"\{?\s*\.?(?:kotlin|kts?)(?![\w+#-])|[\w./-]+\.kts?\b", re.IGNORECASE)
    code_line = re.compile(
        r"^[ \t]*(?:import [\w.]+(?:\.\*)?$|package [\w.]+$|@\w+"
        r"|(?:(?:private|public|internal|override|inline|data|sealed|open|abstract|enum|tailrec) )*"
        r"(?:class|interface|object|fun|val|var) [\w<(])",
        re.MULTILINE,
    )
    main = re.compile(r"\bfun\s+main\s*\(")
    compiler, package = "kotlinc", "kotlin default-jdk-headless"
    # `kotlinc` starts java with an option that Java 17 warns about, and takes seconds, of which these save a third.
    version_options = (
        "-J-XX:-PrintWarnings", "-J-XX:-UsePerfData", "-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC", "-version",
    )  # fmt: skip
    # Those of the virtual machine that runs the program, behind `start_of`.
    flags = ("-DONLINE_JUDGE=true",)

    def build(self, program: Program, limits: Limits) -> Build:
        """See `Language`.

        The archive that the compiler makes names the class with the main function, unless that is in an object.
        """
        tool, java = self.tool(), find_tool(self.title, "java", "default-jdk-headless", *JAVA_VERSION)
        home, jdk = Path(tool.file).parents[1], JavaHome(java.path)
        classes = ":".join(f"{home}/lib/{name}" for name in JARS)
        compiler = (jdk.program("java"), *BRIEF, "-cp", classes, COMPILER, "-kotlin-home", str(home), *OPTIONS)
        compiling = shlex.join((*compiler, "-d", "program.jar", "main.kt"))
        library = str((home / "lib" / LIBRARY).resolve())
        named = shlex.join((jdk.program("java"), *BRIEF, f"-Xbootclasspath/a:{library}", "--dry-run", *NAMED))
        return Build(
            ("/bin/sh", "-c", f"{compiling} && {{ {named} 2> /dev/null || {finding_main(jdk, library)}; }}"),
            "program.jar",
            {"main.kt": program.source},
            f"{tool.version}, {java.version}",
            (*jdk.compiling, str(home), DEBIAN),
            start=Start(
                (*start_of(jdk, limits, self.flags), f"-Xbootclasspath/a:{library}", *class_in("")),
                (*jdk.readable, library),
                reserved_bytes=RESERVED,
            ),
        )
