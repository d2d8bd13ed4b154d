"""The flows `resample`, `reflexion` and `select` with the same number of calls per problem and a real model.

    python benchmarks/equal_budget.py --dataset HumanEval.jsonl --model local/qwen2.5-coder-0.5b [--calls 12]

1. The problems are drawn from HumanEval with a fixed seed. A flow gets one sample of each and at most `--calls` calls.
2. Each flow is a run of `gencode gen solve_set`; `gencode compare` judges them by HumanEval's own tests, which no flow
   sees, and prints the table. Even a small model takes hours; to resume, run the same command again.
3. `resample` is the control: a flow is worth its calls only if it is better.
"""

import argparse
import json
import random
import subprocess
import sys
from pathlib import Path

FLOWS = ("resample", "reflexion", "select")
SEED = 20260


def draw(dataset: str, number: int, folder: Path) -> Path:
    """Return a file with `number` problems of the file `dataset`, always the same ones."""
    lines = Path(dataset).read_text().splitlines()
    chosen = sorted(random.Random(SEED).sample(range(len(lines)), number))
    file = folder / f"humaneval_{number}.jsonl"
    file.write_text("".join(f"{lines[place]}\n" for place in chosen))
    return file


def gencode(*arguments: str) -> int:
    """Run a gencode command, without capturing its output."""
    print("$ gencode", *arguments, flush=True)
    return subprocess.run([sys.executable, "-m", "alpha_codium", *arguments], check=False).returncode


def note(options: argparse.Namespace, file: Path) -> None:
    """Record the options; exit if the folder's runs were made with other ones."""
    asked = {name: value for name, value in vars(options).items() if name not in ("folder", "flows")}
    before = json.loads(file.read_text()) if file.exists() else {}
    for name, value in asked.items():
        if before.get(name, value) != value:
            sys.exit(f"{file.parent} was begun with --{name} {before[name]}, not {value}: take another --folder")
    file.write_text(json.dumps(asked, indent=1))


def generate(flow: str, run: Path, problems: Path, options: argparse.Namespace) -> None:
    """Start or resume a flow's run."""
    if (run / "run.toml").exists():
        code = gencode("gen", "solve_set", "--resume", str(run))
    else:
        limits = ("solve.max_calls", "resample.max_attempts", "reflexion.max_retries")
        bounds = [word for name in limits for word in ("-o", f"{name}={options.calls}")]
        sampling = ["--model", options.model, "--max_tokens", str(options.max_tokens), "--concurrency", "4"]
        job = ["--dataset_name", str(problems), "--flow", flow, "--samples", "1", "--run", str(run)]
        code = gencode("gen", "solve_set", *job, *sampling, *bounds)
    if code:
        sys.exit(f"{flow} isn't done: give the same command again to go on")


def main() -> None:
    """Generate missing samples, and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dataset", required=True, help="the file HumanEval.jsonl of OpenAI's human-eval")
    parser.add_argument("--model", required=True)
    parser.add_argument("--problems", type=int, default=16)
    parser.add_argument("--calls", type=int, default=12)
    parser.add_argument("--max_tokens", type=int, default=512)
    parser.add_argument("--folder", type=Path, default=Path("equal_budget"))
    parser.add_argument("--flows", nargs="+", default=FLOWS)
    options = parser.parse_args()
    folder = options.folder.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    note(options, folder / "asked.json")
    problems = draw(options.dataset, options.problems, folder)
    runs = {flow: folder / flow for flow in options.flows}
    for flow, run in runs.items():
        generate(flow, run, problems, options)
    sys.exit(gencode("compare", *map(str, runs.values())))


if __name__ == "__main__":
    main()
