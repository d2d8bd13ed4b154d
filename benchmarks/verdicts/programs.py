"""Published programs of people and models, from the shared data."""

import gzip
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from benchmarks.verdicts.edges import edges
from benchmarks.verdicts.rows import BATCH, FULL, STOP_EARLY, Job, Row, sha256

PYTHON3 = 3
CODET_STEP = 20
MOST_TESTS = 20
# Programs of codecontests_test that are slow on every test, although their labels don't show it.
SLOW = {"912df8c0e700bc79", "b2c04a8f3e699544", "2fc69da00dd220f5", "be0329bb5a2e2eae", "2e8043377ed90f73"}
CODET = "samples_humaneval_codet_codegen16b_n100.jsonl.gz"


def records(path: Path) -> list[Row]:
    """The rows of a file of JSON lines, which may be packed."""
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as file:
        return [json.loads(line) for line in file]


def jobs_of(name: str, rows: Iterable[tuple[str, Row, str, bool]], setup: str = "all") -> Iterator[Job]:
    """A job for each different program; rows are a problem's name, its record, a program, and whether that is slow."""
    seen = set()
    for index, (problem, record, program, slow) in enumerate(rows):
        if (problem, program) not in seen:
            seen.add((problem, program))
            yield Job(name, problem, record, ((index, program),), STOP_EARLY if slow else FULL, setup)


def codecontests_train(data: Path) -> Iterator[Job]:
    """One human solution a problem."""
    rows = (
        (record["name"], record, code, False)
        for record in records(data / "codecontests_train.jsonl")
        for language, code in zip(*(record["solutions"][key] for key in ("language", "solution")), strict=True)
        if language == PYTHON3
    )
    return jobs_of("codecontests_train", rows)


def codecontests_test(data: Path) -> Iterator[Job]:
    """Programs of models on problems with about 200 tests, which are labelled by the first of those."""
    rows = (
        (record["name"], beginning_of(record), sample["code"], _is_slow(sample))
        for record in records(data / "codecontests_test.jsonl")
        for sample in record["x_meta"].get("model_samples", [])
    )
    return jobs_of("codecontests_test", rows)


def _is_slow(sample: Row) -> bool:
    return sample["observed"] == "TLE" or sha256(sample["code"]) in SLOW


def beginning_of(record: Row) -> Row:
    """The record with the first of its private tests only."""
    return record | {"private_tests": {key: texts[:MOST_TESTS] for key, texts in record["private_tests"].items()}}


def icpc(data: Path) -> Iterator[Job]:
    """Submissions of known verdict to packages with checkers of their own."""
    rows = (
        (record["name"], record, each["code"], "TLE" in (each["expected_verdict"], each["observed_verdict_py311"]))
        for record in records(data / "icpc_known_verdict.jsonl")
        for each in record["submissions"]
        if each["language"] == PYTHON3
    )
    return jobs_of("icpc", rows)


def humaneval(data: Path) -> Iterator[Job]:
    """The canonical solutions."""
    rows = (
        (record["task_id"], record, record["prompt"] + record["canonical_solution"], False)
        for record in records(data / "humaneval.jsonl")
    )
    return jobs_of("humaneval", rows)


def mbpp(data: Path) -> Iterator[Job]:
    """The canonical solutions."""
    rows = ((f"Mbpp/{record['task_id']}", record, record["code"], False) for record in records(data / "mbpp.jsonl"))
    return jobs_of("mbpp", rows)


def apps(data: Path) -> Iterator[Job]:
    """Human solutions, and programs of models: by streams and by calls."""

    def programs() -> Iterator[tuple[str, Row, str, bool]]:
        for record in records(data / "apps.jsonl"):
            meta = record["x_meta"]
            problem = f"{meta['split']}/{record['problem_id']}"
            yield from ((problem, record, code, False) for code in json.loads(record["solutions"]))
            for sample in (*meta.get("labelled_samples", ()), *meta.get("model_samples", ())):
                slow = sample.get("observed") == "tle" or sample.get("error_type") == "timeoutexception"
                yield problem, record, sample["code"], slow

    return jobs_of("apps", programs())


def samples(name: str, file: str, problems: str) -> Callable[[Path], Iterator[Job]]:
    """Whole programs of models, published for HumanEval or MBPP."""

    def published(data: Path) -> Iterator[Job]:
        by_name = {_number_of(record): record for record in records(data / problems)}
        rows = (
            (row["task_id"], by_name[_number_of(row)], row["solution"], row["observed"] == "timeout")
            for row in records(data / file)
        )
        return jobs_of(name, rows, "imports")

    return published


def _number_of(row: Row) -> str:
    """The number of a problem, which files spell in several ways: HumanEval/3, MBPP/3, mbpp_3_is_not_prime, 3."""
    return re.findall(r"\d+", str(row.get("task_id", row.get("name"))))[0]


def humaneval_codet(data: Path) -> Iterator[Job]:
    """Some completions of every problem, most of them wrong."""
    problems = {record["task_id"]: record for record in records(data / "humaneval.jsonl")}
    rows = (
        (
            row["task_id"],
            problems[row["task_id"]],
            problems[row["task_id"]]["prompt"] + row["completion"],
            row["observed"] == "timeout",
        )
        for row in records(data / CODET)[::CODET_STEP]
    )
    return jobs_of("humaneval_codet", rows, "imports")


def humaneval_batches(data: Path) -> Iterator[Job]:
    """All samples of a HumanEval problem at once."""
    by_problem: dict[str, list[Job]] = defaultdict(list)
    for name in ("humaneval_codet", "humaneval_mapcoder", "humaneval_ldb"):
        for job in SETS[name](data):
            by_problem[job.problem].append(job)
    for problem, jobs in by_problem.items():
        programs = dict.fromkeys(program for job in jobs for _, program in job.programs)
        yield Job("humaneval_batches", problem, jobs[0].record, tuple(enumerate(programs)), BATCH, "imports")


SETS: dict[str, Callable[[Path], Iterator[Job]]] = {
    "edges": edges,
    "codecontests_train": codecontests_train,
    "codecontests_test": codecontests_test,
    "icpc": icpc,
    "humaneval": humaneval,
    "mbpp": mbpp,
    "apps": apps,
    "humaneval_mapcoder": samples("humaneval_mapcoder", "samples_humaneval_mapcoder.jsonl", "humaneval.jsonl"),
    "humaneval_ldb": samples("humaneval_ldb", "samples_humaneval_ldb.jsonl", "humaneval.jsonl"),
    "mbpp_mapcoder": samples("mbpp_mapcoder", "samples_mbpp_mapcoder.jsonl", "mbpp_multiple_py397.jsonl"),
    "mbpp_ldb": samples("mbpp_ldb", "samples_mbpp_ldb.jsonl", "mbpp.jsonl"),
    "humaneval_codet": humaneval_codet,
    "humaneval_batches": humaneval_batches,
}


def spread(jobs: Sequence[Job], share: float, limit: int) -> list[Job]:
    """A share of the jobs, at most `limit` of them (0: all), evenly from first to last: always the same ones."""
    count = min(len(jobs), max(1, round(len(jobs) * share)), limit or len(jobs))
    return [jobs[place * len(jobs) // count] for place in range(count)]
