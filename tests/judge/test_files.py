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
    "and it talks": "print('hello')\nopen('out.txt', 'w').write(str(2 * int(open('in.txt').read())))\nprint('done')",
}


async def judged(sandbox: Sandbox, program: str, input_file: str = "in.txt", output_file: str = "out.txt") -> Judgement:
    given = Problem("p", input_file=input_file, output_file=output_file)
    return await Judge(sandbox, Rules(cpu_seconds=2)).for_problem(given).judge(program, TESTS)


@pytest.mark.parametrize("idiom", IDIOMS)
async def test_every_idiom_of_files_is_understood(both: Sandbox, idiom: str) -> None:
    judgement = await judged(both, IDIOMS[idiom])
    assert judgement.accepted, judgement.tests[0].execution


async def test_one_of_the_two_may_be_a_stream(both: Sandbox) -> None:
    assert (await judged(both, "print(2 * int(open('in.txt').read()))", output_file="stdout")).accepted
    assert (await judged(both, "open('out.txt', 'w').write(str(2 * int(input())))", input_file="")).accepted
    assert (await judged(both, "print(2 * int(input()))", "Standard input", "standard output")).accepted


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
        ("while True: pass", Verdict.TIME_LIMIT_EXCEEDED),
        ("open('out.txt', 'w'", Verdict.COMPILATION_ERROR),
    ],
)
async def test_each_way_to_fail_has_its_verdict(both: Sandbox, program: str, verdict: Verdict) -> None:
    assert (await judged(both, program)).verdict is verdict


async def test_a_checker_program_judges_what_is_in_the_file(both: Sandbox) -> None:
    given = replace(problem(DIVISOR), input_file="in.txt", output_file="out.txt")
    program = "open('out.txt', 'w').write(str(int(open('in.txt').read()) // 2))"
    assert (await Judge(both).for_problem(given).judge(program, [TestCase("10", "2")])).accepted


@pytest.mark.parametrize("name", ["/etc/passwd", "../in.txt", "a/b", "..", "\0"])
def test_a_file_elsewhere_can_not_be_judged(name: str) -> None:
    with pytest.raises(Unjudgeable, match="in the program's own folder"):
        Judge(None).for_problem(Problem("p", input_file=name))  # type: ignore[arg-type]
