"""Shards of an evaluation: parts that are judged apart, such as by the tasks of an array job, and merged at the end.

The cut depends only on the names of the problems and the texts of the programs: a program of a problem is in one part
of N, wherever and in whatever order it is judged. Generation and validation are cut by problem. Parts have numbers from
1; the tasks of arrays are numbered from 0.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from alpha_codium.data.load import ProblemSet
from alpha_codium.errors import UserError
from alpha_codium.eval.prepare import EvaluationTask

AUTO = "auto"
FORM = re.compile(r"(\d{1,9}(?=/)|auto)(?:/(\d{1,9}))?")
SLURM, KUBERNETES = "SLURM_ARRAY_TASK_{}", "JOB_COMPLETION_INDEX"
USAGE = "a shard is I/N with I from 1 to N, such as 2/8; or auto, or auto/N, in a task of an array job"


@dataclass(frozen=True, slots=True)
class Shard:
    """The part `number`, from 1, of `count`."""

    number: int
    count: int

    @classmethod
    def of(cls, text: str, environment: Mapping[str, str]) -> "Shard":
        """Return the shard in a text such as `2/8`; `auto` and `auto/8` stand for the task of an array job.

        Raises UserError if there is no such part, or the environment is none of an array job.
        """
        form = FORM.fullmatch(text)
        if form is None:
            raise UserError(f"`shard` {text!r}: {USAGE}")
        number = _index(environment) + 1 if form[1] == AUTO else int(form[1])
        shard = cls(number, int(form[2]) if form[2] else _count(environment))
        if not 1 <= shard.number <= shard.count:
            raise UserError(f"`shard` {text!r} is part {shard}: {USAGE}")
        return shard

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"

    def run_name(self, run: str) -> str:
        """Return the name of this part's run folder, given that of the whole run."""
        return f"{run}-{self.number}-of-{self.count}"

    def whole_name(self, run: str) -> str:
        """Return the name of the whole run, given that of this part."""
        return run.removesuffix(self.run_name(""))

    def takes(self, *key: str) -> bool:
        """Return whether what the key names is in this part."""
        digest = hashlib.sha256("\0".join(key).encode("utf-8", "surrogatepass")).digest()
        return int.from_bytes(digest[:8], "big") % self.count == self.number - 1

    def problems(self, problems: ProblemSet) -> ProblemSet:
        """Return the problems in this part, for work that is done by problem."""
        return problems.select([place for place, name in enumerate(problems.names) if self.takes(name)])

    def tasks(self, tasks: Iterable[EvaluationTask]) -> Iterator[EvaluationTask]:
        """Yield all tasks with their programs in this part."""
        for task in tasks:
            entries = (entry for entry in task.entries if self.takes(task.name, entry.to_program().digest))
            yield replace(task, entries=tuple(entries))


def _index(environment: Mapping[str, str]) -> int:
    """Return the number, from 0, of an array job's task; raises UserError."""
    for name in (SLURM.format("ID"), KUBERNETES):
        if environment.get(name, "").isdecimal():
            return int(environment[name])
    raise UserError(f"`shard` auto needs an array job: neither {SLURM.format('ID')} nor {KUBERNETES} is set")


def _count(environment: Mapping[str, str]) -> int:
    """Return the number of tasks of a whole Slurm array, numbered from 0; raises UserError."""
    first, last, count = (environment.get(SLURM.format(name), "") for name in ("MIN", "MAX", "COUNT"))
    # An array of one task may be a part that is repeated.
    if first == "0" and count.isdecimal() and int(count) > 1 and last == str(int(count) - 1):
        return int(count)
    raise UserError("`shard` auto needs a Slurm array of all tasks from 0, such as 0-7: else give auto/N")
