"""Java."""

import re
import shlex
import struct
from collections.abc import Iterator
from pathlib import Path

from alpha_codium.languages.compiled import QUIET as OUTSIDE_CODE
from alpha_codium.languages.compiled import Compiled
from alpha_codium.languages.jvm import BRIEF, QUIET, RESERVED, JavaHome
from alpha_codium.languages.tools import ARTIFACT, PREPARED, Build, Resident, Start
from alpha_codium.limits import Limits
from alpha_codium.program import Program

PACKAGE = re.compile(r"^[ \t]*package[ \t]+([\w.]+)[ \t]*;", re.MULTILINE)
# Brackets, ends of statements, the heads of types, and main methods.
PART = re.compile(r"[{};]|\bpublic\b|(?<!\.)\b(?:class|interface|enum|record)\s+\w+|\bvoid\s+main\s*\(")
# Where a program without a type begins, which javac 25 and later compiles: in a class named like its file.
MAIN = "Main"
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
    # Those of the virtual machine that runs the program; the memory limit is added.
    flags = ("-Xss128m", "-DONLINE_JUDGE=true")

    def build(self, program: Program, limits: Limits) -> Build:
        """See `Language`."""
        tool = self.tool()
        home = JavaHome(tool.path)
        file, main = names_in(program.source)
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
        java = (home.program("java"), *BRIEF, *SMALL, archived, "-cp", ARTIFACT, "Resident")
        memory = f"-Xmx{limits.memory_bytes >> 10}k"
        running = (home.program("java"), *QUIET, memory, *self.flags, "-cp", ARTIFACT, main)
        return Build(
            ("/bin/sh", "-c", f"{compiling} && {packing}"),
            "program.jar",
            {f"{file}.java": program.source},
            tool.version,
            home.compiling,
            prepared=warm,
            start=Start(running, home.readable, reserved_bytes=RESERVED),
            resident=Resident(resident, (*java, *OPTIONS, "-cp", "classes"), framed(f"{file}.java", program.source)),
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


def names_in(source: str) -> tuple[str, str]:
    """Return the name of the file that javac demands for `source`, and the full name of the class to run."""
    code = OUTSIDE_CODE.sub(" ", source)
    types = list(types_in(code))
    main = next((name for name, _, runs in types if runs), MAIN)
    file = next((name for name, public, _ in types if public), main)
    package = PACKAGE.search(code)
    return file, f"{package[1]}.{main}" if package else main


def types_in(code: str) -> Iterator[tuple[str, bool, bool]]:
    """Yield the name of each outermost type, whether it is public, and whether it has a main method."""
    name, public, runs, depth, after_public = "", False, False, 0, False
    for part in PART.finditer(code):
        text = part[0]
        if text in "{};":
            depth += (text == "{") - (text == "}")
            after_public = False
        elif text.endswith("("):
            runs = runs or depth == 1
        elif text == "public":
            after_public = True
        elif depth == 0:
            if name:
                yield name, public, runs
            name, public, runs = text.split()[-1], after_public, False
    if name:
        yield name, public, runs


LANGUAGE = Java()
