"""Benchmarks with their own schemas, which are recognized by the columns of a record from any source."""

from collections.abc import Mapping, Sequence
from typing import Any

from alpha_codium.data.benchmarks.apps import APPS
from alpha_codium.data.benchmarks.benchmark import Benchmark
from alpha_codium.data.benchmarks.codeforces import CODEFORCES
from alpha_codium.data.benchmarks.evalplus import EVALPLUS
from alpha_codium.data.benchmarks.humaneval import HUMANEVAL, HUMANEVAL_X, MULTIPL_E
from alpha_codium.data.benchmarks.livecodebench import LIVECODEBENCH
from alpha_codium.data.benchmarks.mbpp import MBPP
from alpha_codium.errors import DatasetError, nearest

# In the order in which they are matched.
BENCHMARKS = (EVALPLUS, MULTIPL_E, HUMANEVAL_X, HUMANEVAL, MBPP, APPS, LIVECODEBENCH, CODEFORCES)
# Short names of datasets on the hub.
ALIASES: dict[str, str] = {
    **{benchmark.name: benchmark.hub_id for benchmark in BENCHMARKS if benchmark.hub_id},
    "openai_humaneval": HUMANEVAL.hub_id,
    "humanevalplus": "evalplus/humanevalplus",
    "mbppplus": "evalplus/mbppplus",
}

# Benchmarks whose problems' names begin with the benchmark's name, such as `HumanEval/0`. Problems of EvalPlus and
# MultiPL-E are named like those of HumanEval and MBPP.
NAME_WORDS = tuple(each.name for each in BENCHMARKS if each not in (EVALPLUS, MULTIPL_E, HUMANEVAL_X))


def files_of(repository: str, configuration: str) -> tuple[str, ...]:
    """Return the files on the hub that hold a configuration of a benchmark; raises DatasetError if it has none such.

    They are empty for all files, and for a configuration that the hub knows itself.
    """
    files = next((each.files for each in BENCHMARKS if each.hub_id == repository), {})
    if configuration and files and configuration not in files:
        raise DatasetError(f"{repository} has no configuration {configuration!r}{nearest(configuration, files)}")
    return files.get(configuration, ())


def benchmark_of(record: Mapping[str, Any]) -> Benchmark | None:
    """Return the benchmark with these columns, or None if the record is in our own schema or an unknown one."""
    return next((benchmark for benchmark in BENCHMARKS if benchmark.matches(record)), None)


def in_our_schema(record: Mapping[str, Any], where: str) -> Mapping[str, Any]:
    """Return the record, converted if it is a benchmark's; raises DatasetError for a malformed field."""
    benchmark = benchmark_of(record)
    return record if benchmark is None else benchmark.convert(benchmark.fields(record, where))


def refuse_another_benchmark(benchmark: str | None, names: Sequence[str], problems: str) -> None:
    """Raise DatasetError if the `names` of `problems` are those of another benchmark than `benchmark`."""
    first = names[0].lower() if names else ""
    asked = next((word for word in (*NAME_WORDS, "code_contests") if word in (benchmark or "").lower()), None)
    found = next((word for word in NAME_WORDS if first.startswith((f"{word}/", f"{word}_"))), None)
    if asked and found and asked != found:
        remedy = f"use `benchmark` {found}" if found in ALIASES else "leave out `benchmark`"
        raise DatasetError(f"the problems of {problems} are those of {found}, not of `benchmark` {benchmark}: {remedy}")
