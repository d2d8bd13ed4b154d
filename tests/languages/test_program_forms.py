"""The forms of a program that judges accept, each in a program that prints the sum of two numbers.

`docs/languages.md` lists them, in the same words and order.
"""

import asyncio
import re
from pathlib import Path

import pytest

from alpha_codium.language_table import LANGUAGES
from alpha_codium.limits import Limits
from alpha_codium.program import Job, Program
from alpha_codium.sandbox import open_sandbox
from alpha_codium.sandbox.protocol import report_of
from alpha_codium.verdict import Report, Status
from tests.languages.available import require

DOCS = Path(__file__).parents[2] / "docs" / "languages.md"
JAVA = "java.util.Scanner in = new java.util.Scanner(System.in); System.out.println(in.nextInt() + in.nextInt());"
JAVA_MAIN = f"public static void main(String[] args) {{ {JAVA} }}"
OTHER_MAIN = "public static void main(String[] args) { System.out.println(0); }"
KOTLIN = "println(readLine()!!.split(' ').map { it.toInt() }.sum())"
CSHARP = "var n = System.Console.ReadLine().Split(); System.Console.WriteLine(int.Parse(n[0]) + int.Parse(n[1]));"
NODE = "const [a, b] = require('fs').readFileSync(0, 'utf8').split(' ').map(Number); console.log(a + b);"
RUST = "let mut s = String::new(); std::io::stdin().read_line(&mut s)"
RUST_SUM = 'println!("{}", s.split_whitespace().map(|x| x.parse::<i64>().unwrap()).sum::<i64>());'
SCANNED = 'int a, b; scanf("%d %d", &a, &b); printf("%d\\n", a + b);'
PYTHON = "def main():\n    print(sum(map(int, {}().split())))\n"
GUARD = 'if __name__ == "__main__":\n    main()\n'
# By language and form: the program.
FORMS = {
    "python3": {
        "statements": "print(sum(map(int, input().split())))",
        "`main` behind a guard": PYTHON.format("input") + GUARD,
        "`sys.stdin` and `sys.exit()`": "import sys\nprint(sum(map(int, sys.stdin.read().split())))\nsys.exit()",
        "`open(0)`": "print(sum(map(int, open(0).read().split())))",
    },
    "pypy3": {
        "`main` behind a guard": PYTHON.format("input") + GUARD,
    },
    "python2": {
        "`raw_input`, `main` behind a guard": PYTHON.format("raw_input") + GUARD,
        "`print` as a statement": "import sys\nprint sum(map(int, sys.stdin.readline().split()))",
    },
    "cpp": {
        "`int main()`, with or without `return`": f"#include <cstdio>\nint main() {{ {SCANNED} }}",
        "`auto main() -> int`": f"#include <cstdio>\nauto main() -> int {{ {SCANNED} return 0; }}",
        "`signed main()` behind `#define int long long`": (
            "#include <bits/stdc++.h>\n#define int long long\nsigned main() { int a, b; std::cin >> a >> b;"
            " std::cout << a + b; }"
        ),
        "C++20 and C++23": (
            "#include <bits/stdc++.h>\nint main() { std::vector<int> v(2); for (int &x : v) std::cin >> x;"
            " std::ranges::sort(v); static_assert(std::integral<int>);"
            ' if (!std::string("ab").contains("c")) std::cout << v[0] + v[1]; }'
        ),
        "C++14: names that C++17 also has": (
            "#include <bits/stdc++.h>\nusing namespace std;\ntypedef unsigned char byte;\nint size, data[2];\n"
            "int main() { cin >> data[0] >> data[1]; size = data[0] + data[1]; cout << size; }"
        ),
        "C++98: names that C++11 also has": (
            "#include <bits/stdc++.h>\nusing namespace std;\nint prev, next, hash;\n"
            "int main() { cin >> prev >> next; hash = prev + next; cout << hash; }"
        ),
    },
    "c": {
        "`int main(void)`, `int main(int argc, char **argv)`": (
            f"#include <stdio.h>\nint main(int argc, char **argv) {{ {SCANNED} return argc - 1; }}"
        ),
        "`main()` without a type": f"#include <stdio.h>\nmain() {{ {SCANNED} }}",
        "K&R definitions": (
            "#include <stdio.h>\nint sum(a, b) int a, b; { return a + b; }\nmain(argc, argv) int argc; char **argv;\n"
            '{ int a, b; scanf("%d %d", &a, &b); printf("%d", sum(a, b)); }'
        ),
        "`void main()` that ends by `exit(0)`": (
            f"#include <stdio.h>\n#include <stdlib.h>\nvoid main() {{ {SCANNED} exit(0); }}"
        ),
    },
    "java": {
        "`public class Main`": f"public class Main {{ {JAVA_MAIN} }}",
        "a public class of another name": f"public class Sum {{ {JAVA_MAIN} }}",
        "a class that isn't public, in any place": f"class A {{ int x; }} class Sum {{ {JAVA_MAIN} }}",
        "several `main`: that of `Main`": f"class A {{ {OTHER_MAIN} }} class Main {{ {JAVA_MAIN} }}",
        "several `main`, no `Main`: that of the public class": (
            f"class A {{ {OTHER_MAIN} }} public class B {{ {JAVA_MAIN} }}"
        ),
        "several `main`, no public class: the first": f"class A {{ {JAVA_MAIN} }} class B {{ {OTHER_MAIN} }}",
        "a `package` statement": f"package a.b;\npublic class Main {{ {JAVA_MAIN} }}",
        "`main` in an interface, enum or record": f"interface Run {{ static void main(String... args) {{ {JAVA} }} }}",
        "`main` in a nested class only": f"public class A {{ static class B {{ {JAVA_MAIN} }} }}",
        "`main` that is inherited": f"class Main extends A {{}} class A {{ {JAVA_MAIN} }}",
    },
    "kotlin": {
        "`fun main()`": f"fun main() {{ {KOTLIN} }}",
        "`fun main(args: Array<String>)`": f"fun main(args: Array<String>) {{ {KOTLIN} }}",
        "`suspend fun main()`": f"suspend fun main() {{ {KOTLIN} }}",
        "a `package` statement": f"package a.b\nfun main() {{ {KOTLIN} }}",
        "`@JvmStatic fun main` in an object": (
            f"package a.b\nobject Sum {{ @JvmStatic fun main(args: Array<String>) {{ {KOTLIN} }} }}"
        ),
        "`@JvmStatic fun main` in a companion object": (
            f"class Sum {{ companion object {{ @JvmStatic fun main(args: Array<String>) {{ {KOTLIN} }} }} }}"
        ),
    },
    "javascript": {
        "`require`, reading `/dev/stdin` or descriptor 0": NODE,
        "`process.stdin` with events": (
            "let s = ''; process.stdin.on('data', d => s += d); process.stdin.on('end', () => {"
            " const [a, b] = s.split(' ').map(Number); console.log(a + b); });"
        ),
        "`readline`": (
            "require('readline').createInterface({ input: process.stdin }).on('line', line => {"
            " const [a, b] = line.split(' ').map(Number); console.log(a + b); });"
        ),
        "`import` and `await` at the top level": (
            "import { readFileSync } from 'fs';\nconst s = await Promise.resolve(readFileSync(0, 'utf8'));\n"
            "const [a, b] = s.split(' ').map(Number);\nconsole.log(a + b);"
        ),
        "`require.main === module`": f"function main() {{ {NODE} }}\nif (require.main === module) main();",
    },
    "typescript": {
        "`require`": NODE,
        "`import * as fs`": f"import * as fs from 'fs';\n{NODE.replace('require(' + repr('fs') + ')', 'fs')}",
    },
    "go": {
        "`package main`, `func main()`": (
            'package main\n\nimport "fmt"\n\nfunc main() { var a, b int; fmt.Scan(&a, &b); fmt.Println(a + b) }'
        ),
        "`func init()` beside it": (
            'package main\n\nimport . "fmt"\n\nvar a, b int\n\nfunc init() { Scan(&a, &b) }\n\n'
            "func main() { Println(a + b) }"
        ),
    },
    "rust": {
        "`fn main()`": f"fn main() {{ {RUST}.unwrap(); {RUST_SUM} }}",
        "`fn main() -> Result`": (
            f"fn main() -> Result<(), Box<dyn std::error::Error>> {{ {RUST}?; {RUST_SUM} Ok(()) }}"
        ),
        "editions 2015 and 2018": f"fn main() {{ let async = 1; {RUST}.unwrap(); {RUST_SUM} let _ = async; }}",
    },
    "csharp": {
        "`static void Main()`, with or without `string[] args`": (
            f"class P {{ static void Main(string[] args) {{ {CSHARP} }} }}"
        ),
        "`static int Main()`": f"class P {{ static int Main() {{ {CSHARP} return 0; }} }}",
        "in a namespace": f"namespace A {{ public static class P {{ public static void Main() {{ {CSHARP} }} }} }}",
    },
    "ruby": {
        "statements": "puts gets.split.map(&:to_i).sum",
        "`if $PROGRAM_NAME == __FILE__`": (
            "def main\n  puts STDIN.read.split.sum(&:to_i)\nend\nmain if $PROGRAM_NAME == __FILE__ && $0 == __FILE__"
        ),
    },
}  # fmt: skip
# Programs without a beginning: those that compile otherwise.
WITHOUT = {
    "cpp": "int f() { return 1; }",
    "c": "int f(void) { return 1; }",
    "java": "public class Main { void main(String x) {} static void main(int x) {} }",
    "kotlin": "object A { fun main(args: Array<String>) {} }\nfun main(): Int = 1",
    "go": "package main\n\nfunc f() {}",
    "rust": "fn f() {}",
    "csharp": "class P { void Main() {} }",
}


def ran(language: str, source: str, variant: str = "") -> Report:
    require(language)

    async def report() -> Report:
        async with open_sandbox("local", workers=1) as sandbox:
            program = Program.from_source(language, source, variant)
            return await report_of(sandbox, Job(program, ("1 2\n",), Limits(cpu_seconds=8)))

    return asyncio.run(report())


def documented() -> list[tuple[str, str]]:
    """The forms of the table, each with its language."""
    section = DOCS.read_text("utf-8").partition("## Forms of a program")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \| (.*) \|$", section, re.MULTILINE)
    return [(language, form) for language, forms in rows for form in forms.split("; ")]


def test_the_documented_forms_are_those_that_are_tested() -> None:
    assert documented() == [(language, form) for language, forms in FORMS.items() for form in forms]
    assert set(FORMS) == set(LANGUAGES)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("language", "form"), [(language, form) for language, forms in FORMS.items() for form in forms]
)
def test_a_program_of_a_documented_form_runs(language: str, form: str) -> None:
    report = ran(language, FORMS[language][form])
    assert (report.last.status, report.last.stdout.split()) == (Status.FINISHED, ["3"]), report.last.stderr


@pytest.mark.thorough
@pytest.mark.parametrize("language", WITHOUT)
def test_a_program_without_a_beginning_does_not_compile(language: str) -> None:
    report = ran(language, WITHOUT[language])
    assert report.compilation.status is Status.COMPILATION_ERROR
    assert "main" in report.compilation.stderr.lower()


@pytest.mark.thorough
def test_what_no_version_of_the_language_accepts_gets_the_message_of_the_first() -> None:
    report = ran("cpp", "#include <ranges>\nint main() { return std::ranges::no_such_thing; }")
    assert report.compilation.status is Status.COMPILATION_ERROR
    assert "has not been declared" in report.compilation.stderr


@pytest.mark.thorough
def test_variants_are_compiled_and_run_as_their_names_say() -> None:
    asserting = "public class Main { public static void main(String[] a) { assert a == null; System.out.println(3); } }"
    assert ran("java", asserting).last.finished
    assert "AssertionError" in ran("java", asserting, "assertions").last.stderr
    two = f"class A {{ {JAVA_MAIN} }} class Main {{ {OTHER_MAIN} }}"
    assert [ran("java", two, variant).last.stdout for variant in ("", "first_class")] == ["0\n", "3\n"]
    mistyped = "const x: number = 'a'; console.log(x);"
    assert ran("typescript", mistyped).last.status is Status.COMPILATION_ERROR
    assert ran("typescript", mistyped, "unchecked").last.stdout == "a\n"
    assert "TS1109" in ran("typescript", "const x = ;", "unchecked").last.stderr


def test_an_unknown_variant_is_refused() -> None:
    with pytest.raises(ValueError, match="no variant 'assertions' of cpp"):
        Program.from_source("cpp", "", "assertions")


RECURSIVE = {
    "c": "int f(int n) { volatile char b[64]; b[0] = n; return f(n + 1) + b[0]; }\nint main(void) { return f(0); }",
    "cpp": (
        "#include <string>\nint f(int n) { std::string s(9, 48 + n % 9); return f(n + 1) + s[1]; }\n"
        "int main() { return f(0); }"
    ),
    "rust": 'fn f(n: u64) -> u64 { f(n + 1) + std::hint::black_box([n; 16])[3] }\nfn main() { println!("{}", f(0)); }',
    "java": "class A { static int f(int n) { return f(n + 1) + n; } public static void main(String[] a) { f(0); } }",
    "kotlin": "fun f(n: Int): Int = f(n + 1) + n\nfun main() { println(f(0)) }",
    "javascript": "function f(n) { return f(n + 1) + n }\nf(0);",
    "ruby": "def f(n) = f(n + 1) + n\nf(0)",
    "python3": "def f(n): return f(n + 1) + n\nf(0)",
}
CATCHING = {
    "java": (
        "class A { static int d; static void f() { d++; f(); } public static void main(String[] a) {"
        " try { f(); } catch (StackOverflowError e) { System.out.println(3); } } }"
    ),
    "kotlin": (
        "fun f(n: Int): Int = f(n + 1) + n\nfun main() { try { f(0) } catch (e: StackOverflowError) { println(3) } }"
    ),
    "javascript": "function f(n) { return f(n + 1) + n }\ntry { f(0) } catch (e) { console.log(3) }",
}


def at_memory(language: str, source: str, mebibytes: int) -> Report:
    require(language)

    async def report() -> Report:
        async with open_sandbox("local", workers=1) as sandbox:
            limits = Limits(cpu_seconds=8, memory_bytes=mebibytes << 20)
            return await report_of(sandbox, Job(Program.from_source(language, source), ("",), limits))

    return asyncio.run(report())


@pytest.mark.thorough
@pytest.mark.parametrize("mebibytes", [256, 512, 1024])
@pytest.mark.parametrize("language", RECURSIVE)
def test_endless_recursion_is_a_runtime_error(language: str, mebibytes: int) -> None:
    report = at_memory(language, RECURSIVE[language], mebibytes)
    assert report.last.status is Status.RUNTIME_ERROR, report.last


@pytest.mark.thorough
@pytest.mark.parametrize("mebibytes", [256, 512, 1024])
@pytest.mark.parametrize("language", CATCHING)
def test_a_program_that_catches_the_overflow_of_its_stack_goes_on(language: str, mebibytes: int) -> None:
    report = at_memory(language, CATCHING[language], mebibytes)
    assert (report.last.status, report.last.stdout) == (Status.FINISHED, "3\n"), report.last
