"""The built-in cases, judged by judges that are right and by judges with the faults that the cases reveal."""

import dataclasses
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence

import pytest

from alpha_codium.audit.judge.examination import AFTERWARDS, CaseFinding, Examination, examine
from alpha_codium.audit.kit.cases import Case, load_cases, planted_secrets
from alpha_codium.errors import SandboxError
from alpha_codium.judge import Judge, Rules
from alpha_codium.judge.executors import Task
from alpha_codium.limits import Limits
from alpha_codium.program import PYTHON, Job, Program
from alpha_codium.sandbox import Sandbox, open_sandbox
from alpha_codium.sandbox.portable.isolation import namespaces_command
from alpha_codium.verdict import Execution, Judgement, Report, Status, TestResult, Verdict
from tests.jobs import FakeSandbox, WrappedSandbox

RULES = Rules(time_limit_factor=1.0)
FAKE_STDIN = "import io, sys\nsys.stdin = io.StringIO(sys.stdin.read())\n"


@pytest.fixture
def all_cases() -> Iterator[list[Case]]:
    with planted_secrets() as secrets:
        yield load_cases(secrets)


@pytest.fixture
async def local(all_cases: list[Case]) -> AsyncIterator[Sandbox]:
    """The default sandbox, opened after the cases are loaded: its processes must not inherit the answer."""
    async with open_sandbox("local", workers=2, isolation=True) as opened:
        yield opened


def found(examination: Examination, *findings: CaseFinding) -> set[str]:
    return {result.case.name for result in examination.results if result.finding in findings}


def of_section(all_cases: list[Case], section: str) -> list[Case]:
    return [case for case in all_cases if case.section == section]


IN_PYTHON = (
    "stdin idioms", "ways to end", "comparison", "calls", "assertions", "assertion idioms", "load", "malformed tests",
    "cheats",
)  # fmt: skip
# Compilers take long.
COMPILED = [pytest.param(section, marks=pytest.mark.slow) for section in ("C++", "Java")]


@pytest.mark.thorough
@pytest.mark.parametrize("section", [*IN_PYTHON, *COMPILED])
async def test_the_default_judge_is_right_on_all_cases(all_cases: list[Case], local: Sandbox, section: str) -> None:
    cases = of_section(all_cases, section)
    examination = await examine(Judge(local, RULES), cases)
    assert found(examination, *set(CaseFinding) - {CaseFinding.RIGHT, CaseFinding.NOT_RUN}) == set()
    assert examination.faultless
    assert [result.case for result in examination.results[:-1]] == cases
    assert examination.results[-1].case.name == AFTERWARDS + cases[0].name


@pytest.mark.thorough
async def test_a_sandbox_without_walls_around_files_is_found_out(all_cases: list[Case]) -> None:
    if not namespaces_command():
        pytest.skip("this machine gives no namespaces: run as root or allow user namespaces")
    cases = [case for case in all_cases if case.problem.name == "secret"]
    async with open_sandbox("portable", workers=2, isolation=True) as sandbox:
        examination = await examine(Judge(sandbox, RULES), cases)
    assert "reads a file of the host" in found(examination, CaseFinding.NOT_HELD)
    assert "asks a port of the host" in found(examination, CaseFinding.RIGHT)
    assert not examination.faultless


class FakedStdin(WrappedSandbox):
    """A sandbox that gives programs a stand-in for stdin, as several harnesses do."""

    def execute(self, job: Job) -> AsyncGenerator[Execution, None]:
        program = Program.from_source(PYTHON, FAKE_STDIN + job.program.source)
        return super().execute(dataclasses.replace(job, program=program))


@pytest.mark.thorough
async def test_a_judge_that_fakes_stdin_is_found_out(all_cases: list[Case], local: Sandbox) -> None:
    examination = await examine(Judge(FakedStdin(local), RULES), of_section(all_cases, "stdin idioms"))
    assert {"open(0).read()", "sys.stdin.buffer.read()", "os.read in a loop"} <= found(examination, CaseFinding.WRONG)
    assert {"input()", "sys.stdin.read().split()"} <= found(examination, CaseFinding.RIGHT)
    assert not examination.faultless


@dataclasses.dataclass(frozen=True)
class Says:
    """An executor that says the same of every program."""

    verdict: Verdict
    in_flight: int = 2

    async def judge(self, tasks: Sequence[Task]) -> list[Judgement]:
        lost = TestResult(self.verdict, Execution(Status.FINISHED))
        return [Judgement(self.verdict, (lost,), len(task.tests), message="so it is") for task in tasks]


class NoNumpy(FakeSandbox):
    """An interpreter that has no modules but its own."""

    async def report(self, program: str, inputs: Sequence[str], limits: Limits) -> Report:
        why = "ModuleNotFoundError: No module named 'numpy'"
        return Report(Execution(Status.FINISHED), (Execution(Status.RUNTIME_ERROR, stderr=why),))


async def test_a_judge_that_accepts_everything_is_right_only_where_that_is_right(all_cases: list[Case]) -> None:
    examination = await examine(Judge(NoNumpy(), RULES), all_cases, Says(Verdict.ACCEPTED))
    wrong = {case.name for case in all_cases if Verdict.ACCEPTED not in case.expected and not case.needs}
    assert found(examination, CaseFinding.WRONG, CaseFinding.NOT_HELD) == wrong
    assert {r.case.section for r in examination.results if r.finding is CaseFinding.NOT_HELD} == {"cheats"}


async def test_a_judge_that_rejects_everything_is_right_only_where_that_is_right(all_cases: list[Case]) -> None:
    examination = await examine(Judge(NoNumpy(), RULES), all_cases, Says(Verdict.WRONG_ANSWER))
    wrong = {case.name for case in all_cases if Verdict.WRONG_ANSWER not in case.expected and not case.needs}
    assert found(examination, CaseFinding.WRONG) == wrong | {AFTERWARDS + all_cases[0].name}
    assert found(examination, CaseFinding.NOT_HELD) == set()


async def test_no_verdict_is_not_right_and_says_why(all_cases: list[Case]) -> None:
    examination = await examine(Judge(NoNumpy(), RULES), all_cases[:3], Says(Verdict.INTERNAL_ERROR))
    assert {(r.finding, r.reason) for r in examination.results} == {(CaseFinding.NOT_JUDGED, "so it is")}
    assert not examination.faultless


class Refuses(Says):
    """A judge whose backend can't run such tests."""

    async def judge(self, tasks: Sequence[Task]) -> list[Judgement]:
        raise SandboxError("no drivers here")


async def test_what_a_backend_can_not_run_is_said_and_is_not_right(all_cases: list[Case]) -> None:
    examination = await examine(Judge(NoNumpy(), RULES), all_cases[:2], Refuses(Verdict.ACCEPTED))
    assert [(r.finding, r.verdict, r.reason) for r in examination.results] == [
        (CaseFinding.NOT_JUDGED, None, "no drivers here")
    ] * 3


async def test_without_isolation_dangerous_programs_are_not_run_and_count_as_not_held(
    all_cases: list[Case],
) -> None:
    run: list[str] = []

    class Records(Says):
        async def judge(self, tasks: Sequence[Task]) -> list[Judgement]:
            run.extend(task.program.source for task in tasks)
            return [Judgement(Verdict.RUNTIME_ERROR, tests_total=1) for _ in tasks]

    examination = await examine(Judge(NoNumpy(), RULES), all_cases, Records(Verdict.ACCEPTED), isolated=False)
    dangerous = [case for case in all_cases if case.dangerous]
    assert len(dangerous) > 5
    assert found(examination, CaseFinding.NOT_HELD) == {case.name for case in dangerous}
    assert not {case.program for case in dangerous} & set(run)
    assert not examination.faultless


async def test_a_module_that_the_interpreter_lacks_is_no_fault(all_cases: list[Case]) -> None:
    needing = [case for case in all_cases if case.needs == "numpy"]
    examination = await examine(Judge(NoNumpy(), RULES), needing, Says(Verdict.ACCEPTED))
    assert found(examination, CaseFinding.NOT_RUN) == {case.name for case in needing} | {AFTERWARDS + needing[0].name}
    assert examination.faultless


@pytest.mark.parametrize(
    "execution",
    [Execution(Status.INTERNAL_ERROR), Execution(Status.TIME_LIMIT_EXCEEDED), Execution(Status.MEMORY_LIMIT_EXCEEDED),
     Execution(Status.RUNTIME_ERROR, stderr="ImportError: libblas.so: cannot open shared object file"), None],
)  # fmt: skip
async def test_a_fault_of_the_sandbox_is_no_missing_module(all_cases: list[Case], execution: Execution | None) -> None:
    class Faulty(FakeSandbox):
        async def report(self, program: str, inputs: Sequence[str], limits: Limits) -> Report:
            return Report(Execution(Status.FINISHED), (execution,) if execution else ())

    needing = [case for case in all_cases if case.needs == "numpy"]
    examination = await examine(Judge(Faulty(), RULES), needing, Says(Verdict.INTERNAL_ERROR))
    assert found(examination, CaseFinding.NOT_RUN) == set()
    assert not examination.faultless


async def test_each_result_is_told_and_counted_once(all_cases: list[Case]) -> None:
    told: list[str] = []
    judge, executor = Judge(NoNumpy(), RULES), Says(Verdict.ACCEPTED)
    examination = await examine(judge, all_cases, executor, on_result=lambda r: told.append(r.case.name))
    assert Counter(told) == Counter(result.case.name for result in examination.results)
    values = examination.to_json()
    assert values["total"] == len(all_cases) + 1 == sum(values["findings"].values()) == len(values["cases"])
    assert sum(sum(counts.values()) for counts in examination.sections.values()) == values["total"]
