"""The folder of programs that compilers made, which processes share."""

import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alpha_codium.errors import SandboxError
from alpha_codium.languages.tools import Build
from alpha_codium.program import Job, Program
from alpha_codium.sandbox import open_sandbox
from alpha_codium.sandbox.engine import building
from alpha_codium.sandbox.engine.cancellation import Cancellation
from alpha_codium.sandbox.engine.program_cache import ProgramCache, digest_of
from alpha_codium.sandbox.engine.worker import Worker
from alpha_codium.sandbox.portable.isolation import namespaces_command
from alpha_codium.sandbox.protocol import report_of
from alpha_codium.verdict import Execution, Status


def build_of(text: str) -> Build:
    return Build(("/bin/true",), "folder/program", {"program.c": text}, "1")


def test_what_was_built_is_found_by_files_command_and_version(tmp_path: Path) -> None:
    cache, build = ProgramCache(tmp_path), build_of("a")
    assert cache.find(build) is None
    cache.keep(build, b"made")
    found = cache.find(build)
    assert found is not None and found.read_bytes() == b"made"
    others = [build_of("b"), Build(("/bin/false",), "folder/program", {"program.c": "a"}, "1")]
    others.append(Build(("/bin/true",), "folder/program", {"program.c": "a"}, "2"))
    assert [cache.find(other) for other in others] == [None, None, None]
    assert len({digest_of(each) for each in (build, *others)}) == 4


def test_entries_that_were_not_used_for_longest_are_removed_first(tmp_path: Path) -> None:
    cache = ProgramCache(tmp_path, most_bytes=2500)
    for age, name in ((30, "a"), (20, "b"), (10, "c")):
        cache.keep(build_of(name), b"x" * 1000)
        entry = tmp_path / digest_of(build_of(name))
        if entry.exists():
            os.utime(entry, (time.time() - age, time.time() - age))
        if name == "b":
            assert cache.find(build_of("a")) is not None, "it is used again"
    assert [cache.find(build_of(name)) is not None for name in "abc"] == [True, False, True]


def test_only_one_thread_at_a_time_builds_the_same(tmp_path: Path) -> None:
    cache, build, built = ProgramCache(tmp_path), build_of("a"), list[str]()

    def work() -> None:
        with cache.building(build):
            if cache.find(build) is None:
                time.sleep(0.05)
                cache.keep(build, b"made")
                built.append("once")

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert built == ["once"]


def no_compiler(_tools: tuple[str, ...]) -> Worker:
    return None  # type: ignore[return-value]


def test_a_program_that_is_removed_before_it_is_read_is_built_again(tmp_path: Path) -> None:
    class Emptied(ProgramCache):
        removed = 0

        def find(self, build: Build) -> Path | None:
            found = super().find(build)
            if found is not None and not self.removed:
                self.removed += 1
                found.unlink()
                found.parents[1].rename(tmp_path / "elsewhere")
            return found

    cache, compiled = Emptied(tmp_path), Execution(Status.COMPILATION_ERROR, stderr="compiled again")
    cache.keep(build_of("a"), b"made")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(building, "compiled", lambda *_: compiled)
        assert building.Builder(cache, no_compiler, Cancellation()).built(build_of("a")) is compiled
    assert cache.removed == 1


def test_a_cache_that_can_not_be_written_is_reported_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = ProgramCache(tmp_path / "file")
    with pytest.raises(SandboxError, match=r"cannot store a compiled program in .*: File exists"):
        building.Builder(cache, no_compiler, Cancellation()).built(build_of("a"))


def entry_of(cache: ProgramCache, text: str) -> Path:
    return cache.folder / digest_of(build_of(text))


def exchange(entry: Path) -> None:
    """Put another program's whole entry in place of this one."""
    shutil.rmtree(entry)
    shutil.copytree(entry.parent / digest_of(build_of("other")), entry)


DAMAGE = {
    "missing": lambda entry: (entry / "folder/program").unlink(),
    "empty": lambda entry: (entry / "folder/program").write_bytes(b""),
    "cut": lambda entry: os.truncate(entry / "folder/program", 3),
    "exchanged": exchange,
    "without its digest": lambda entry: (entry / "sha256").unlink(),
    "of an empty digest": lambda entry: (entry / "sha256").write_text(""),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
@pytest.mark.parametrize("is_known", [False, True], ids=["never seen", "seen whole"])
def test_a_damaged_entry_is_not_found_and_can_be_stored_again(
    tmp_path: Path, damage: Callable[[Path], None], is_known: bool
) -> None:
    cache = ProgramCache(tmp_path)
    for text in ("a", "other"):
        cache.keep(build_of(text), b"made of " + text.encode())
    if is_known:
        assert cache.find(build_of("a")) is not None
    damage(entry_of(cache, "a"))
    assert cache.find(build_of("a")) is None
    assert not entry_of(cache, "a").exists()
    cache.keep(build_of("a"), b"made again")
    found = cache.find(build_of("a"))
    assert found is not None and found.read_bytes() == b"made again"
    assert not list(tmp_path.glob("new-*"))


@settings(max_examples=50, deadline=None)
@given(st.binary(min_size=1, max_size=40), st.data())
def test_any_change_of_an_entry_is_noticed(made: bytes, data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        cache, build = ProgramCache(Path(folder)), build_of("a")
        file = cache.keep(build, made)
        changed = data.draw(st.binary(max_size=60).filter(lambda each: each != made))
        file.write_bytes(changed)
        assert cache.find(build) is None


RIGHT_C = '#include <stdio.h>\nint main(void) { int a; scanf("%d", &a); printf("%d\\n", a + 1); }\n'


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc: apt-get install gcc libc6-dev")
@pytest.mark.parametrize("backend", ["local", "portable"])
async def test_a_damaged_program_is_built_again_before_it_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, backend: str
) -> None:
    monkeypatch.setenv("GENCODE_HOME", str(tmp_path))
    job = Job(Program.from_source("c", RIGHT_C), ("6",))
    for damage in (b"", b"\x7fELF", None):
        async with open_sandbox(backend, workers=1, isolation=bool(namespaces_command())) as sandbox:
            assert (await report_of(sandbox, job)).last.stdout == "7\n"
        (program,) = tmp_path.glob("cache/programs/*/program")
        program.unlink() if damage is None else program.write_bytes(damage)
    async with open_sandbox(backend, workers=1, isolation=bool(namespaces_command())) as sandbox:
        assert (await report_of(sandbox, job)).last.stdout == "7\n"
