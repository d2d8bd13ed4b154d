"""The interpreter's code in huge pages, in processes of their own: what it does to one can't be undone."""

import subprocess
import sys
from pathlib import Path

import pytest

from alpha_codium.sandbox.engine.inside import huge_pages

BEGIN = """
import json, re
from alpha_codium.sandbox.engine.inside import huge_pages
first, after = huge_pages.code_of_interpreter()

def mapped():
    with open("/proc/self/maps") as file:
        return sum(int(b, 16) - int(a, 16) for a, b in (re.match(r"(\\w+)-(\\w+)", line).groups() for line in file))

before = mapped()
"""


def run(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", BEGIN + program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def has_huge_pages() -> bool:
    path = Path(huge_pages.PATH, "enabled")
    return path.exists() and "[never]" not in path.read_text()


@pytest.mark.skipif(not has_huge_pages(), reason="the kernel has no huge pages")
def test_the_code_is_where_it_was_in_huge_pages_and_works_in_forks() -> None:
    said = run("""
size = int(open(huge_pages.PATH + "hpage_pmd_size").read())
if not huge_pages.hold_code():
    print("not moved", first, after, size)
else:
    start = -(-first // size) * size
    assert huge_pages.huge_bytes(start) >= size
    # It isn't a file any more, and nothing else is left.
    assert not huge_pages.hold_code()
    assert abs(mapped() - before) < 1 << 20, (mapped(), before)
    import os
    child = os.fork()
    assert sum(range(1000)) == 499500 and json.loads("[1.5]") == [1.5]
    if not child:
        os._exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    print("moved")
""")
    if said.startswith("not moved"):
        pytest.skip(f"the interpreter is smaller than a huge page, or the machine has none free: {said}")
    assert said == "moved\n"


WITHOUT_SMAPS = """
def readable(path):
    if path.endswith("smaps"):
        raise FileNotFoundError(path)
    return open(path)

huge_pages.open = readable
"""


@pytest.mark.parametrize(
    "hindrance", ["huge_pages.huge_bytes = lambda _: 0", "huge_pages.EXECUTE = 1 << 20", WITHOUT_SMAPS]
)
def test_without_enough_huge_pages_or_the_right_to_execute_the_code_stays_a_file(hindrance: str) -> None:
    assert run(f"""
{hindrance}
assert not huge_pages.hold_code()
assert huge_pages.code_of_interpreter() == (first, after)
assert abs(mapped() - before) < 1 << 20, (mapped(), before)
""") == ""  # fmt: skip


@pytest.mark.parametrize("enabled", [None, "always madvise [never]\n"])
def test_where_the_kernel_gives_none_nothing_is_done(tmp_path: Path, enabled: str | None) -> None:
    if enabled is not None:
        (tmp_path / "enabled").write_text(enabled)
        (tmp_path / "hpage_pmd_size").write_text("2097152\n")
    assert run(f"huge_pages.PATH = {str(tmp_path) + '/'!r}\nassert not huge_pages.hold_code()") == ""
