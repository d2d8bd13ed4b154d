"""Compiling a C++ checker: what comes out, what is kept, and what the compiler may not do."""

import contextlib
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from loguru import logger

from alpha_codium.errors import Unjudgeable
from alpha_codium.judge import building
from alpha_codium.limits import Limits
from tests.judge.checkers import needs_compiler


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GENCODE_HOME", str(tmp_path))
    return tmp_path


@pytest.mark.thorough
@needs_compiler
def test_a_checker_is_compiled_once_and_kept_by_the_hash_of_its_inputs(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled = []
    compile_ = building._compile
    monkeypatch.setattr(building, "_compile", lambda *given: (compiled.append(given), compile_(*given)))
    small = {"a/check.cpp": '#include "b.h"\nint main() { return ANSWER; }\n', "a/b.h": "#define ANSWER 42\n"}
    first = building.build(small)
    assert first[:4] == b"\x7fELF"
    assert building.build(dict(reversed(small.items()))) == first
    assert len(compiled) == 1
    assert [path.read_bytes() for path in (home / "checkers").iterdir()] == [first]
    (home / "include" / "testlib.h").write_text("#define ANSWER 0\n")
    building.build(small)
    assert building.build(small | {"a/b.h": "#define ANSWER 43\n"}) != first
    assert len(compiled) == 3


@pytest.mark.thorough
@needs_compiler
def test_a_compiled_program_needs_nothing_but_the_kernel(home: Path, tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_bytes(building.build({"main.cc": "#include <iostream>\nint main() { std::cout << 1; return 42; }\n"}))
    program.chmod(0o755)
    done = subprocess.run([program], capture_output=True, text=True, check=False, env={})
    assert (done.returncode, done.stdout) == (42, "1")
    assert b"/ld-linux" not in program.read_bytes()[:1024]


@needs_compiler
@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("int main() { return 42 }", "check.cpp:1:23: error: expected"),
        ("int other() { return 42; }", "undefined reference to `main'"),
        ('#include "testlib.h"\nint main() {}', "put testlib.h (github.com/MikeMirzayanov/testlib) into"),
        ("#error so", "error: #error so"),
    ],
)
def test_what_does_not_compile_says_its_first_error_in_one_line(home: Path, code: str, said: str) -> None:
    with pytest.raises(Unjudgeable, match="its checker doesn't compile") as caught:
        building.build({"check.cpp": code})
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not list((home / "checkers").iterdir())


@needs_compiler
def test_a_missing_header_is_found_in_the_users_folder(home: Path) -> None:
    (home / "include").mkdir()
    (home / "include" / "testlib.h").write_text("#define OK 42\n")
    assert building.build({"check.cpp": '#include "testlib.h"\nint main() { return OK; }'})


def test_without_a_compiler_one_line_says_how_to_get_one(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building, "PATH", str(home))
    with pytest.raises(Unjudgeable, match=r"no g\+\+: apt-get install g\+\+"):
        building.build({"check.cpp": "int main() {}"})


@needs_compiler
@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"a": "x", "a/b.cpp": ""}, "file 'a/b.cpp' can't be written"),
        ({".": "", "b.cpp": ""}, "can't be written"),
        ({"a" * 300 + ".cpp": ""}, "can't be written: File name too long"),
        ({"\ud800.cpp": ""}, "can't be written: .*surrogates not allowed"),
    ],
)
def test_files_that_can_not_be_written_are_one_clear_line(home: Path, files: dict[str, str], said: str) -> None:
    with pytest.raises(Unjudgeable, match=said) as caught:
        building.build(files)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 200
    assert not list((home / "checkers").iterdir())


# Says its limits as errors do. The shell is asked: a process of another namespace may not read /proc.
SHOWING_LIMITS = """#!/bin/sh
case "$1" in -v | --version) exit ;; esac
echo "error: $(ulimit -S -t) $(ulimit -H -t) $(ulimit -H -v) $(ulimit -H -f) $(ulimit -H -c)" >&2
exit 1
"""
# Starts a process that holds stderr open, as g++ starts cc1plus, and waits for it.
WAITING = """#!/bin/sh
case "$1" in
-v | --version) exit ;;
endless) while :; do /bin/sleep 0.1; done ;;
esac
"$0" endless &
wait
"""
# Keeps cc1plus busy for minutes with little memory.
SLOW = """
constexpr long g(long n) { long s = 0; for (long i = 0; i < 200000; i++) s += i * n; return s; }
template<int N> struct A { static constexpr long v = g(N) + A<N-1>::v; };
template<> struct A<0> { static constexpr long v = 1; };
int main() { return A<850>::v; }
"""


@pytest.fixture(params=["namespaces", "no namespaces"])
def anywhere(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """On this machine, and on one that gives no namespaces."""
    building._confinement.cache_clear()
    if request.param == "no namespaces":
        monkeypatch.setattr(building, "namespaces_command", lambda: ())
    yield
    building._confinement.cache_clear()


@pytest.fixture(params=["view", "landlock"])
def confined(request: pytest.FixtureRequest, home: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each way to confine the compiler."""
    (home / "source").mkdir()
    if building._run(["/bin/true"], home, request.param).exit_code != 0:
        pytest.skip(f"this machine doesn't confine by {request.param}")
    monkeypatch.setattr(building, "_confinement", lambda _: request.param)
    return request.param


def use_compiler(text: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a script of ours run in the compiler's place."""
    compiler = home / "g++"
    compiler.write_text(text)
    compiler.chmod(0o755)
    monkeypatch.setattr(building, "PATH", str(home))
    monkeypatch.setattr(building, "READABLE", (*building.READABLE, str(home)))


def processes_of(home: Path, name: str = "") -> list[Path]:
    """The processes in whose command lines `home` stands, and `name`."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            line = (process / "cmdline").read_bytes()
            if str(home).encode() in line and name.encode() in line:
                found.append(process)
    return found


def until_none_is_left(home: Path) -> bool:
    deadline = time.monotonic() + 5
    while processes_of(home) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not processes_of(home)


@contextlib.contextmanager
def building_in_a_thread(files: dict[str, str]) -> Iterator[list[str]]:
    """Meanwhile `files` are compiled; gives a list that holds the reason why that failed afterwards."""
    reasons = []

    def build() -> None:
        try:
            building.build(files)
        except Unjudgeable as error:
            reasons.append(str(error))

    thread = threading.Thread(target=build)
    thread.start()
    try:
        yield reasons
    finally:
        thread.join()


def test_every_limit_is_set_and_can_not_be_raised(home: Path, anywhere: None, monkeypatch: pytest.MonkeyPatch) -> None:
    use_compiler(SHOWING_LIMITS, home, monkeypatch)
    with pytest.raises(Unjudgeable) as caught:
        building.build({"check.cpp": ""})
    # Seconds, seconds, KiB, blocks of 512 bytes, blocks.
    assert str(caught.value).endswith(f"error: 121 122 {4 << 20} {128 << 11} 0")


@pytest.mark.thorough
@needs_compiler
def test_cc1plus_is_limited_and_does_not_outlive_the_time_out(
    home: Path, anywhere: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        building, "CHECKER_COMPILE_LIMITS", Limits(cpu_seconds=9, wall_seconds=2.5, memory_bytes=1 << 30)
    )
    limits = ""
    with building_in_a_thread({"check.cpp": SLOW}) as reasons:
        while not reasons and not limits:
            for process in processes_of(home, "cc1plus"):
                with contextlib.suppress(OSError):
                    limits = (process / "limits").read_text()
            time.sleep(0.02)
    assert "it takes longer than 2.5 s" in reasons[0]
    shown = {line[:26].strip(): line[26:].split()[:2] for line in limits.splitlines()}
    assert shown["Max cpu time"] == ["10", "11"]
    assert shown["Max address space"] == [str(1 << 30)] * 2
    assert shown["Max file size"] == [str(16 << 20)] * 2
    assert shown["Max core file size"] == ["0", "0"]
    assert until_none_is_left(home)


@pytest.mark.thorough
def test_nothing_that_a_waiting_compiler_started_is_left(
    home: Path, anywhere: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_compiler(WAITING, home, monkeypatch)
    monkeypatch.setattr(building, "CHECKER_COMPILE_LIMITS", Limits(wall_seconds=1.5))
    seen = False
    with building_in_a_thread({"check.cpp": ""}) as reasons:
        while not reasons:
            seen = seen or bool(processes_of(home, "endless"))
            time.sleep(0.02)
    assert "it takes longer than 1.5 s" in reasons[0]
    assert seen
    assert until_none_is_left(home)
    assert not list((home / "checkers").iterdir())


@pytest.mark.thorough
@needs_compiler
def test_a_compiler_that_never_ends_is_stopped(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building, "CHECKER_COMPILE_LIMITS", Limits(cpu_seconds=0.5, wall_seconds=60))
    macros = "".join(f"#define {name} {name.lower() * 9}\n" for name in "ABCDEFGHIJ")
    many = macros.replace("aaaaaaaaa", "1 " * 9)
    for name in "BCDEFGHIJ":
        many = many.replace(name.lower() * 9, f"{chr(ord(name) - 1)} " * 9)
    with pytest.raises(Unjudgeable, match="CPU time limit exceeded"):
        building.build({"check.cpp": f"{many}int x[] = {{ J }};"})
    assert not list((home / "checkers").iterdir())


@needs_compiler
@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('#include "{}"', r"error: .*secret\.h: (No such file|Permission denied)"),
        ('asm(".incbin \\"{}\\"");', r"Error: (file not found|can't open): .*secret\.h"),
    ],
)
def test_no_file_of_the_host_can_be_compiled_in(home: Path, confined: str, line: str, said: str) -> None:
    (home / "secret.h").write_text("int main() { return 42; }")
    with pytest.raises(Unjudgeable, match=said):
        building.build({"check.cpp": line.format(home / "secret.h")})


@needs_compiler
def test_a_new_root_does_not_show_which_files_the_host_has(home: Path, confined: str) -> None:
    (home / "secret.h").write_text("")
    asking = f'#if __has_include("{home}/secret.h")\n#error seen\n#endif\nint main() {{}}'
    with contextlib.nullcontext() if confined == "view" else pytest.raises(Unjudgeable, match="Permission denied"):
        building.build({"check.cpp": asking})


@needs_compiler
def test_links_lead_to_headers_and_to_the_home(
    home: Path, confined: str, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "testlib.h").write_text("#define OK 42\n")
    (elsewhere / "home").symlink_to(home)
    (home / "include").mkdir()
    (home / "include" / "testlib.h").symlink_to(elsewhere / "testlib.h")
    monkeypatch.setenv("GENCODE_HOME", str(elsewhere / "home"))
    assert building.build({"check.cpp": '#include "testlib.h"\nint main() { return OK; }'})


@needs_compiler
def test_an_unconfined_compiler_is_warned_about(home: Path, anywhere: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building, "CONFINE", home / "missing.py")
    said: list[str] = []
    number = logger.add(said.append, format="{message}")
    try:
        assert building.build({"check.cpp": "int main() {}"})
        assert building.build({"check.cpp": "int main() { return 1; }"})
    finally:
        logger.remove(number)
    assert len(said) == 1
    assert "C++ checkers can read all your files while they are compiled" in said[0]
