"""A compiler that stays makes what the ordinary one makes, and is replaced after a fault."""

import asyncio
import io
import socket
import time
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

import alpha_codium as ac
from alpha_codium.program import Job, Program
from alpha_codium.sandbox.conformance.processes import descendants
from alpha_codium.sandbox.conformance.test_languages import MODES
from alpha_codium.sandbox.engine import resident
from alpha_codium.sandbox.engine.resident import ResidentCompiler, Residents
from alpha_codium.verdict import Status
from tests.languages.available import require

# Programs are compiled.
pytestmark = pytest.mark.thorough
OWN = Path(__file__).parents[2] / "eval" / "doctor" / "java"
JAVA = MODES / "modes.java"
GOOD = "class Main { public static void main(String[] arguments) { System.out.println(NUMBER); } }"
# The constant is too long for the resident compiler's memory, and too much for the ordinary one's limits or patience.
BOMB = "class Main {{ {} public static void main(String[] arguments) {{ System.out.println(s29.length()); }} }}".format(
    'static final String s0 = "0123456789";'
    + "".join(f"static final String s{i} = s{i - 1} + s{i - 1};" for i in range(1, 30))
)


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache without programs."""
    require("java")
    monkeypatch.setenv("GENCODE_HOME", str(tmp_path))


def compiled(sources: Sequence[str], between: Callable[[ac.Sandbox], None] = lambda _: None) -> list[ac.Execution]:
    """Compile programs and run them without input; return how each ended, calling `between` after each."""

    async def run() -> list[ac.Execution]:
        ends = []
        async with ac.open_sandbox("local", workers=1, preload=()) as sandbox:
            for source in sources:
                job = Job(Program.from_source("java", source), ("",))
                ends.append([execution async for execution in sandbox.execute(job)][-1])
                between(sandbox)
        return ends

    return asyncio.run(run())


def classes(folder: Path) -> list[dict[str, bytes]]:
    """The classes of all programs that were made in a cache."""
    found = []
    for path in folder.rglob("program.jar"):
        with zipfile.ZipFile(io.BytesIO(path.read_bytes())) as archive:
            found.append({name: archive.read(name) for name in archive.namelist() if not name.endswith("/")})
    return sorted(found, key=str)


def process_of(sandbox: ac.Sandbox) -> ResidentCompiler:
    """The one resident compiler of a sandbox with one slot."""
    (slot,) = sandbox._slots  # type: ignore[attr-defined]
    (compiler,) = slot.residents._running.values()
    return compiler


def test_classes_are_those_of_the_ordinary_compiler_byte_for_byte(tmp_path, monkeypatch):
    sources = [path.read_text() for path in [JAVA, *sorted(OWN.glob("accepted/*.java"))[::3]]]
    asked, ask = [], ResidentCompiler.ask
    monkeypatch.setattr(ResidentCompiler, "ask", lambda self, request: asked.append(ask(self, request)) or asked[-1])
    for name, made in (("warm", Residents.made), ("cold", lambda *_: None)):
        monkeypatch.setenv("GENCODE_HOME", str(tmp_path / name))
        monkeypatch.setattr(Residents, "made", made)
        compiled(sources)
    assert len(asked) == len(sources) and all(asked)
    warm, cold = classes(tmp_path / "warm"), classes(tmp_path / "cold")
    # The resident compiler itself is an archive, too.
    assert len(warm) == len(sources) + 1
    assert warm == cold


def test_one_process_compiles_many_programs_and_none_is_left():
    used, before = [], len(descendants())
    ends = compiled([GOOD.replace("NUMBER", str(i)) for i in range(4)], lambda opened: used.append(process_of(opened)))
    assert [end.stdout for end in ends] == [f"{i}\n" for i in range(4)]
    assert len(set(map(id, used))) == 1
    assert used[-1].left == resident.MOST_PROGRAMS - 4
    assert len(descendants()) == before


def test_it_ends_when_it_was_not_used_for_some_time_and_the_next_program_starts_another(monkeypatch):
    monkeypatch.setattr(resident, "IDLE_SECONDS", 1.5)
    asked, ask = [], ResidentCompiler.ask
    monkeypatch.setattr(ResidentCompiler, "ask", lambda self, request: asked.append(ask(self, request)) or asked[-1])
    used, left = [], []

    def wait(sandbox: ac.Sandbox) -> None:
        used.append(process_of(sandbox))
        before = len(descendants())
        deadline = time.monotonic() + 60
        while used[-1].running and time.monotonic() < deadline:
            time.sleep(0.05)
        left.append((used[-1].running, before - len(descendants())))

    first, second = compiled([GOOD.replace("NUMBER", str(i)) for i in range(2)], wait)
    assert (first.stdout, second.stdout) == ("0\n", "1\n")
    assert all(asked) and len(asked) == 2
    assert used[0] is not used[1]
    # The virtual machine and its runner are gone.
    assert left == [(False, 2), (False, 2)]


def test_a_program_that_is_too_much_for_it_affects_no_other(monkeypatch):
    monkeypatch.setattr(resident, "PATIENCE", 5.0)
    first, bomb, after = compiled([GOOD.replace("NUMBER", "1"), BOMB, GOOD.replace("NUMBER", "2")])
    assert (first.stdout, after.stdout) == ("1\n", "2\n")
    assert bomb.status is Status.COMPILATION_ERROR


def test_it_is_replaced_when_it_has_ended_or_is_too_slow_or_has_compiled_enough(monkeypatch):
    used = []

    def spoil(sandbox: ac.Sandbox) -> None:
        used.append(process_of(sandbox))
        if len(used) == 1:
            used[0]._worker.interrupt()
        elif len(used) == 3:
            used[-1].left = 1

    # After the kill, the ordinary compiler makes the second program.
    monkeypatch.setattr(Residents, "made", _kept(Residents.made))
    ends = compiled([GOOD.replace("NUMBER", str(i)) for i in range(6)], spoil)
    assert [end.stdout for end in ends] == [f"{i}\n" for i in range(6)]
    assert len(set(map(id, used))) >= 3


def _kept(made):
    """Have a new process at once in place of one that was replaced, so that there is always one to look at."""

    def again(self, request, command, tools, cancellation):
        found = made(self, request, command, tools, cancellation)
        if not self._running:
            made(self, request, command, tools, cancellation)
        return found

    return again


def test_an_answer_that_is_no_program_is_not_taken():
    compiler = ResidentCompiler.__new__(ResidentCompiler)
    ours, theirs = socket.socketpair()
    compiler._socket, compiler.left = ours, 9
    for answer in (b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\0\0"):
        theirs.send(answer)
        if len(answer) < 4:
            theirs.close()
        assert compiler.ask(b"") is None
    ours.close()
