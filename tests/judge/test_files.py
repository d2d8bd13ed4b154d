"""Programs that read and write files in place of stdin and stdout."""

from dataclasses import replace

import pytest

from alpha_codium.errors import Unjudgeable
from alpha_codium.judge import Judge, Rules
from alpha_codium.problem import Problem, TestCase
from alpha_codium.sandbox import Sandbox
from alpha_codium.verdict import Judgement, Verdict
from tests.judge.checkers import DIVISOR, problem

TESTS = [TestCase(f"{n}\n", f"{2 * n}\n") for n in range(3)]
IDIOMS = {
    "with": "with open('in.txt') as i, open('out.txt', 'w') as o: print(2 * int(i.read()), file=o)",
    "left open": "i, o = open('in.txt'), open('out.txt', 'w')\no.write(str(2 * int(i.readline())))",
    "streams replaced": (
        "import sys\nsys.stdin, sys.stdout = open('in.txt'), open('out.txt', 'w')\nprint(2 * int(input()))"
    ),
    "in a function": (
        "def main():\n    o = open('out.txt', 'w')\n    o.write(str(2 * int(open('in.txt').read())))\n"
        "if __name__ == '__main__': main()"
    ),
    "ended by exit": "open('out.txt', 'w').write(str(2 * int(open('in.txt').read())))\nraise SystemExit",
    "in a cycle": (
        "class C: pass\nc = C()\nc.c, c.o = c, open('out.txt', 'w')\nc.o.write(str(2 * int(open('in.txt').read())))"
    ),
    "in a thread": (
        "import threading, time\ndef main():\n    time.sleep(0.05)\n    o = open('out.txt', 'w')\n"
        "    o.write(str(2 * int(open('in.txt').read())))\nthreading.Thread(target=main).start()"
    ),
    "at the exit": (
        "import atexit\nout = []\n@atexit.register\ndef flush():\n    open('out.txt', 'w').write(out[0])\n    1 / 0\n"
        "out.append(str(2 * int(open('in.txt').read())))"
    ),
    "in the folder of its own file": (
        "import os\nos.chdir('/tmp')\nos.chdir(os.path.dirname(os.path.abspath(__file__)))\n"
        "open('out.txt', 'w').write(str(2 * int(open('in.txt').read())))"
    ),
    "gone elsewhere": (
        "import os\nwith open('out.txt', 'w') as o: o.write(str(2 * int(open('in.txt').read())))\nos.chdir('/tmp')"
    ),
    "a descriptor replaced": (
        "import os\nos.dup2(os.open('out.txt', os.O_WRONLY | os.O_CREAT), 1)\nprint(2 * int(open('in.txt').read()))"
    ),
    "a class of its own": (
        "import io\nclass Out(io.TextIOWrapper):\n    def flush(self):\n        super().flush()\n        1 / 0\n"
        "o = Out(open('out.txt', 'wb'))\no.write(str(2 * int(open('in.txt').read())))"
    ),
    "left at once": (
        "import os\nwith open('out.txt', 'w') as o: o.write(str(2 * int(open('in.txt').read())))\nos._exit(0)"
    ),
    "a child that ends, too": (
        "import os\nwith open('out.txt', 'w') as o: o.write(str(2 * int(open('in.txt').read())))\n"
        "child = os.fork()\nif child: os.waitpid(child, 0)\nelse: raise SystemExit"
    ),
    "and it talks": "print('hello')\nopen('out.txt', 'w').write(str(2 * int(open('in.txt').read())))\nprint('done')",
}


async def judged(
    sandbox: Sandbox, program: str, input_file: str = "in.txt", output_file: str = "out.txt", seconds: float = 2
) -> Judgement:
    given = Problem("p", input_file=input_file, output_file=output_file)
    return await Judge(sandbox, Rules(cpu_seconds=seconds)).for_problem(given).judge(program, TESTS)


@pytest.mark.thorough
@pytest.mark.parametrize("idiom", IDIOMS)
async def test_every_idiom_of_files_is_understood(both: Sandbox, idiom: str) -> None:
    judgement = await judged(both, IDIOMS[idiom])
    assert judgement.accepted, judgement.tests[0].execution


async def test_one_of_the_two_may_be_a_stream(both: Sandbox) -> None:
    assert (await judged(both, "print(2 * int(open('in.txt').read()))", output_file="stdout")).accepted
    assert (await judged(both, "open('out.txt', 'w').write(str(2 * int(input())))", input_file="")).accepted
    assert (await judged(both, "print(2 * int(input()))", "Standard input", "standard output")).accepted


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("program", "verdict"),
    [
        ("print(2 * int(input()))", Verdict.RUNTIME_ERROR),
        ("print(2 * int(open('in.txt').read()))", Verdict.WRONG_ANSWER),
        ("open('out.txt', 'w').write('7')", Verdict.WRONG_ANSWER),
        ("open('out.txt', 'w').write(str(2 * int(open('in.txt').read())))\n1 / 0", Verdict.RUNTIME_ERROR),
        ("open('out.txt', 'w').write(str(2 * int(open('in.txt').read())))\nraise SystemExit(3)", Verdict.RUNTIME_ERROR),
        ("import os\nos.symlink('/dev/zero', 'out.txt')", Verdict.OUTPUT_LIMIT_EXCEEDED),
        ("import os\nos.mkdir('out.txt')", Verdict.RUNTIME_ERROR),
        ("import os\nos.mkdir('out.txt')\nos._exit(0)", Verdict.RUNTIME_ERROR),
        ("import os\nopen('out.txt', 'w').write(str(2 * int(open('in.txt').read())))\nos._exit(0)", Verdict.ACCEPTED),
        (
            "import os\nopen('out.txt', 'w').write(str(2 * int(open('in.txt').read())))\nos._exit(3)",
            Verdict.RUNTIME_ERROR,
        ),
        (
            "import os\no = open('out.txt', 'w')\no.write(str(2 * int(open('in.txt').read())))\nos._exit(0)",
            Verdict.WRONG_ANSWER,
        ),
        ("while True: pass", Verdict.TIME_LIMIT_EXCEEDED),
        ("open('out.txt', 'w'", Verdict.COMPILATION_ERROR),
    ],
)
async def test_each_way_to_fail_has_its_verdict(both: Sandbox, program: str, verdict: Verdict) -> None:
    seconds = 0.3 if verdict is Verdict.TIME_LIMIT_EXCEEDED else 2  # an endless loop takes all that it gets
    assert (await judged(both, program, seconds=seconds)).verdict is verdict


async def test_a_checker_program_judges_what_is_in_the_file(both: Sandbox) -> None:
    given = replace(problem(DIVISOR), input_file="in.txt", output_file="out.txt")
    program = "open('out.txt', 'w').write(str(int(open('in.txt').read()) // 2))"
    assert (await Judge(both).for_problem(given).judge(program, [TestCase("10", "2")])).accepted


async def test_an_input_may_be_larger_than_what_a_program_may_write(both: Sandbox) -> None:
    tests = [TestCase("x" * (17 << 20), str(17 << 20)), TestCase("x", "1")]
    judge = Judge(both).for_problem(Problem("p", input_file="in.txt", output_file="out.txt"))
    assert (await judge.judge("open('out.txt', 'w').write(str(len(open('in.txt').read())))", tests)).accepted


@pytest.mark.thorough
async def test_a_test_too_large_for_the_folder_is_an_internal_error(both: Sandbox) -> None:
    tests = [TestCase("\u20ac" * (15 << 20), "")]
    for given in (Problem("p", input_file="in.txt"), problem(DIVISOR)):
        judgement = await Judge(both).for_problem(given).judge("pass", tests)
        assert judgement.verdict is Verdict.INTERNAL_ERROR
        assert judgement.message == f"it needs files of {45 << 20} bytes: a sandbox has room for {44 << 20}"
    assert not Judge(both).for_problem(Problem("p")).kind.fault_of(tests[0])


@pytest.mark.parametrize("name", ["program.py", "driver.py", "a" * 256, "\u00e9" * 128])
def test_an_invalid_file_name_is_one_clear_line(name: str) -> None:
    with pytest.raises(Unjudgeable, match=r"which the sandbox needs|may have 255 bytes at most"):
        Judge(None).for_problem(Problem("p", output_file=name))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["/etc/passwd", "../in.txt", "a/b", "..", "\0"])
def test_a_program_that_uses_a_file_elsewhere_can_not_be_judged(name: str) -> None:
    with pytest.raises(Unjudgeable, match="in the program's own folder"):
        Judge(None).for_problem(Problem("p", input_file=name))  # type: ignore[arg-type]
