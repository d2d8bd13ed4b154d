"""Programs that attack their compiler end at its limits, and the next program is compiled as ever."""

import asyncio
import time

import pytest

import alpha_codium as ac
from alpha_codium.limits import Limits
from alpha_codium.program import Job, Program
from alpha_codium.sandbox.engine import building
from alpha_codium.verdict import Status
from tests.languages.available import require

pytestmark = pytest.mark.thorough
# As `COMPILER_LIMITS`, but reached sooner.
LIMITS = Limits(
    cpu_seconds=3,
    wall_seconds=60,
    memory_bytes=512 << 20,
    output_bytes=16 << 20,
    file_bytes=16 << 20,
    open_files=256,
    processes=128,
)
TEMPLATES = """
template <int N, int M> struct Tree { static const long v = Tree<N - 1, 2 * M>::v + Tree<N - 1, 2 * M + 1>::v; };
template <int M> struct Tree<0, M> { static const long v = M; };
int main() { return Tree<30, 1>::v; }
"""
ENDLESS = "constexpr int f() { for (int i = 0;; i++) if (i < 0) return i; }\nstatic_assert(f() == 1);\nint main() {}"
ERRORS = "#define A(x) x x x x x x x x x x\n#define B(x) A(A(A(A(A(A(x))))))\nint main() { B(B(undeclared + )) }"
DOUBLED = "".join(f"static final String a{i + 1} = a{i} + a{i};" for i in range(40))
CONSTANT = (
    f'class P {{ static final String a0 = "xxxxxxxx"; {DOUBLED} '
    "public static void main(String[] a) { System.out.println(a40); } }"
)
BOMBS = {
    "the file of users": ("cpp", '#include "/etc/passwd"\nint main() {}', "No such file or directory"),
    "a file that includes itself": ("cpp", "#include __FILE__\n#include __FILE__\nint main() {}", ""),
    "an endless device": ("cpp", '#include "/dev/zero"\nint main() {}', ""),
    "templates": ("cpp", TEMPLATES, "compiling takes "),
    "an endless constant": ("cpp", ENDLESS, "constexpr"),
    "a large program": ("c", "char a[1 << 30] = {1}; int main(void) {}", ""),
    "endless errors": ("c", ERRORS, ""),
    "the file of users in Rust": (
        "rust",
        'fn main() { println!("{}", include_str!("/etc/passwd")); }',
        "couldn't read",
    ),
    "a large constant": ("java", CONSTANT, ""),
    "a large array": ("go", "package main\n\nvar a = [1 << 40]byte{1}\n\nfunc main() { println(len(a)) }", ""),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_program_that_attacks_its_compiler_ends_at_the_limits(name, monkeypatch):
    language, bomb, message = BOMBS[name]
    require(language)
    monkeypatch.setattr(building, "COMPILER_LIMITS", LIMITS)
    harmless = {
        "c": "int main(void) { return 0; }",
        "cpp": "int main() {}",
        "rust": "fn main() {}",
        "java": "class P { public static void main(String[] a) {} }",
        "go": "package main\n\nfunc main() {}",
    }[language]
    # Not a program of an earlier test, which would be known.
    fresh = f"{harmless}\n// {time.time_ns()}"

    async def run() -> list[list[ac.Execution]]:
        async with ac.open_sandbox("local", workers=1, preload=()) as sandbox:
            jobs = [Job(Program.from_source(language, source), ("",)) for source in (bomb, fresh)]
            return [[execution async for execution in sandbox.execute(job)] for job in jobs]

    bombed, after = asyncio.run(run())
    assert [execution.status for execution in bombed] == [Status.COMPILATION_ERROR], bombed
    assert message in bombed[0].stderr
    assert "root:" not in bombed[0].stderr
    assert len(bombed[0].stderr) <= building.ERRORS_KEPT + 100
    assert bombed[0].cpu_seconds < 2 * LIMITS.cpu_seconds
    assert [execution.status for execution in after] == [Status.FINISHED, Status.FINISHED], after
