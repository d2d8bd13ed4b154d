"""Java."""

import re
import shlex
import struct
from collections.abc import Iterator
from pathlib import Path

from alpha_codium.languages.compiled import QUIET as OUTSIDE_CODE
from alpha_codium.languages.compiled import Compiled
from alpha_codium.languages.jvm import BRIEF, RESERVED, JavaHome, class_in, finding_main, start_of
from alpha_codium.languages.tools import ARTIFACT, PREPARED, Build, Resident, Start
from alpha_codium.limits import Limits
from alpha_codium.program import Program

PACKAGE = re.compile(r"^[ \t]*package[ \t]+([\w.]+)[ \t]*;", re.MULTILINE)
TEXT_OR_COMMENT = re.compile(rf'"""(?:\\.|[^\\])*?(?:"""|\Z)|{OUTSIDE_CODE.pattern}', re.DOTALL)
# Brackets, ends of statements, modifiers, the heads of types, and methods that begin a program.
PART = re.compile(
    r"[{};]|\b(?:public|static)\b|(?<!\.)\b(?:class|interface|enum|record)\s+\w+"
    r"|\bvoid\s+main\s*\(\s*(?:final\s+)?(?:java\.lang\.)?String\s*"
    r"(?:\[\s*\]\s*\w+|\.\.\.\s*\w+|\w+\s*\[\s*\])\s*\)"
)
# The class that runs if several can, and where a program without a type begins, which javac 25 and later compiles.
MAIN = "Main"
# Variants: assertions fire; the first class that can run is run, whatever the others are called.
ASSERTIONS, FIRST_CLASS = "assertions", "first_class"
OPTIONS = ("-proc:none", "-nowarn")
# The source of the resident compiler, and options of its virtual machine.
RESIDENT = Path(__file__).with_name("Resident.java")
SMALL = ("-Xmx256m", "-XX:+ExitOnOutOfMemoryError")
# Archives the compiler's classes, which takes half of its time, for all later programs.
ARCHIVE = "javac.jsa"
TYPICAL = """
import java.io.*;
import java.util.*;
import java.util.stream.*;

public class Main {
    record Edge(int to, long weight) {}
    enum Kind { ONE, TWO }
    interface Visitor<T extends Comparable<T>> { T visit(T value); }
    static <T extends Comparable<T>> T largest(List<T> values) { return Collections.max(values); }
    public static void main(String[] args) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        StringTokenizer words = new StringTokenizer(in.readLine());
        Map<Integer, List<Edge>> graph = new HashMap<>();
        for (int i = 0; i < 3; i++) graph.computeIfAbsent(i, key -> new ArrayList<>()).add(new Edge(i + 1, 1L << i));
        PriorityQueue<long[]> queue = new PriorityQueue<>((a, b) -> Long.compare(a[0], b[0]));
        switch (Kind.ONE) { case ONE: queue.add(new long[] {1, 2}); break; default: queue.poll(); }
        Visitor<String> visitor = String::trim;
        StringBuilder text = new StringBuilder();
        for (List<Edge> edges : graph.values()) for (Edge edge : edges) text.append(edge.to()).append(' ');
        System.out.println(visitor.visit(text.toString()) + largest(Arrays.asList(1, 2)) + words.countTokens());
        System.out.println(IntStream.range(0, 9).boxed().map(String::valueOf).collect(Collectors.joining(",")));
    }
}
"""


class Java(Compiled):
    """See `Compiled`."""

    name = "java"
    title = "Java"
    tag = "java"
    tag_pattern = re.compile(r"\{?\s*\.?java\d*(?![\w+#-])|[\w./-]+\.java\b", re.IGNORECASE)
    code_line = re.compile(
        r"^[ \t]*(?:import (?:static )?[\w.]+(?:\.\*)?;|package [\w.]+;|@\w+"
        r"|(?:(?:public|private|protected|static|final|abstract) )*(?:class|interface|enum|record) \w"
        r"|(?:public|private|protected|static) [\w<>\[\], ]+\()",
        re.MULTILINE,
    )
    main = re.compile(r"\bvoid\s+main\s*\(")
    compiler, package = "javac", "default-jdk-headless"
    # Without a file of counters in /tmp.
    version_options = ("-J-XX:-UsePerfData", "-version")
    # Those of the virtual machine that runs the program, behind `start_of`.
    flags = ("-DONLINE_JUDGE=true",)

    def build(self, program: Program, limits: Limits) -> Build:
        """See `Language`."""
        tool = self.tool()
        home = JavaHome(tool.path)
        file, main = names_in(program.source, first=program.variant == FIRST_CLASS)
        warm = Build(
            (*javac(home, "-XX:ArchiveClassesAtExit=" + ARCHIVE), f"{MAIN}.java"),
            ARCHIVE,
            {f"{MAIN}.java": TYPICAL},
            tool.version,
            home.compiling,
        )
        archived = f"-XX:SharedArchiveFile={PREPARED}/{ARCHIVE}"
        packing = shlex.join((home.program("jar"), *virtual_machine(), "-cf0M", "program.jar", "-C", "classes", "."))
        compiling = shlex.join((*javac(home, archived), f"{file}.java"))
        resident = Build(
            ("/bin/sh", "-c", f"{shlex.join((*javac(home), 'Resident.java'))} && {packing}"),
            "program.jar",
            {"Resident.java": RESIDENT.read_text("utf-8")},
            tool.version,
            home.compiling,
        )
        java = (home.program("java"), *BRIEF, *SMALL, archived, "-cp", ARTIFACT, "Resident", *OPTIONS, "-cp", "classes")
        staying = Resident(resident, java, framed(f"{file}.java", program.source))
        running = (*start_of(home, limits, self.flags), *(("-ea",) if program.variant == ASSERTIONS else ()))
        finding = "" if main else f" && {finding_main(home)}"
        return Build(
            ("/bin/sh", "-c", f"{compiling} && {packing}{finding}"),
            "program.jar",
            {f"{file}.java": program.source},
            tool.version,
            home.compiling,
            prepared=warm,
            start=Start((*running, *class_in(main)), home.readable, reserved_bytes=RESERVED),
            resident=staying if main else None,
        )


def javac(home: JavaHome, *options: str) -> tuple[str, ...]:
    """Return a command that compiles a file, which is to follow; `options` are those of its virtual machine."""
    quiet = ("-encoding", "UTF-8", "-Xmaxerrs", "5", "-d", "classes")
    return (home.program("javac"), *virtual_machine(*options), *OPTIONS, *quiet)


def virtual_machine(*options: str) -> list[str]:
    """Return these options of a virtual machine as options of a compiler, and those of all compilers."""
    return [f"-J{option}" for option in (*BRIEF, *options)]


def framed(*texts: str) -> bytes:
    """Return texts, each behind its length, as `Resident.java` reads them."""
    encoded = [text.encode("utf-8", "replace") for text in texts]
    return b"".join(struct.pack(">i", len(each)) + each for each in encoded)


def names_in(source: str, *, first: bool = False) -> tuple[str, str]:
    """Return the name of the file that javac demands for `source`, and the full name of the class to run.

    That is the outermost class with a main method that is called `Main`, else the public one, else the first; with
    `first` always the first. The name is empty if none is found here: the compiled classes have to be asked.
    """
    code = TEXT_OR_COMMENT.sub(" ", source)
    types = list(types_in(code))
    running = [(name, public) for name, public, runs in types if runs]
    if not first:
        running.sort(key=lambda each: (each[0] != MAIN, not each[1]))
    main = running[0][0] if running else ""
    file = next((name for name, public, _ in types if public), main or next((name for name, *_ in types), MAIN))
    package = PACKAGE.search(code)
    return file, f"{package[1]}.{main}" if package and main else main


def types_in(code: str) -> Iterator[tuple[str, bool, bool]]:
    """Yield the name of each outermost type, whether it is public, and whether it has a main method that can be run."""
    name, kind, public, runs, depth, modifiers = "", "", False, False, 0, set[str]()
    for part in PART.finditer(code):
        text = part[0]
        if text in "{};":
            depth += (text == "{") - (text == "}")
            modifiers = set()
        elif text in ("public", "static"):
            modifiers.add(text)
        elif text.endswith(")"):
            needed = {"static"} if kind == "interface" else {"public", "static"}
            runs = runs or (depth == 1 and modifiers >= needed)
        elif depth == 0:
            if name:
                yield name, public, runs
            kind, name = text.split()
            public, runs = "public" in modifiers, False
    if name:
        yield name, public, runs
