"""The cost of rewards: 1,024 rollouts of 30 tests through TRL's reward function, with and without faults.

    python benchmarks/rewards.py
    python benchmarks/rewards.py --rollouts 128 --scheme share

1. Programs are workload b of `benchmarks/sandbox`, eight to a prompt: right ones, ones that fail every test, ones that
   fail the last test, and answers without a program.
2. CPU time is that of this process and all its children, which end with the sandbox; a test that an early stop leaves
   out isn't counted.
3. With faults, the sandbox loses one execution in twenty at random. The rewards are compared with those without.
"""

import argparse
import random
import resource
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from alpha_codium.rewards import trl_reward  # noqa: E402
from benchmarks.sandbox.workloads import ALGORITHMIC  # noqa: E402
from tests.rewards.faulty import FaultySandbox  # noqa: E402

TESTS, PER_PROMPT, FAULTS = 30, 8, 0.05
READ = "import sys\ntext = sys.stdin.read()\n"
ANSWERS = [
    f"{ALGORITHMIC}{READ}print(solve(text))\n",
    f"{ALGORITHMIC}{READ}print(len(text))\n",
    f"{ALGORITHMIC}{READ}print(solve(text) if text[:3] != '{TESTS - 1} ' else 0)\n",
]
# Of eight answers to a prompt, by their index above; None is an answer without a program.
GROUP = (0, 0, 0, 0, 1, 1, 2, None)


def main() -> None:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rollouts", type=int, default=1024)
    parser.add_argument("--scheme", default="all")
    parser.add_argument("--retries", type=int, default=2)
    given = parser.parse_args()
    completions, tests = batch(given.rollouts)
    sound = measured(0.0, completions, tests, scheme=given.scheme)
    faulty = measured(FAULTS, completions, tests, scheme=given.scheme, retries=given.retries)
    pairs = list(zip(sound, faulty, strict=True))
    changed = sum(after is not None and before != after for before, after in pairs)
    lost = sum(after is None for _, after in pairs)
    print(f"{changed} rewards of {len(pairs)} changed by faults, {lost} are None after {given.retries} retries")


def batch(rollouts: int) -> tuple[list[str], list[Any]]:
    """Return completions and their tests."""
    chance = random.Random(0)
    names: dict[str, Any] = {}
    exec(ALGORITHMIC, names)
    completions, tests = [], []
    for place in range(rollouts):
        kind = GROUP[place % PER_PROMPT]
        code = "" if kind is None else f"```python\n# {place}\n{ANSWERS[kind]}```"
        completions.append(f"Let me see.\n{code}")
        if place % PER_PROMPT == 0:
            numbers = [[count, *(chance.randrange(1000) for _ in range(20))] for count in range(TESTS)]
            inputs = [" ".join(map(str, each)) for each in numbers]
            tests.extend([[[text, names["solve"](text)] for text in inputs]] * PER_PROMPT)
    return completions, tests[:rollouts]


def measured(rate: float, completions: list[str], tests: list[Any], **options: Any) -> list[float | None]:
    """Reward all completions in one call, print the cost, and return the rewards."""
    start, wall = cpu(), time.perf_counter()
    sandbox = FaultySandbox(rate)
    with sandbox as opened:
        rewards = trl_reward(sandbox=opened, **options)(["Solve it."] * len(completions), completions, tests=tests)
        seconds = time.perf_counter() - wall
    used = cpu() - start
    rates = {value: rewards.count(value) for value in sorted(set(rewards) - {None})} | {None: rewards.count(None)}
    print(
        f"faults {rate:.0%}: {len(completions)} rollouts, {sandbox.asked} tests run, {sandbox.lost} lost: "
        f"{seconds:.1f} s, {used:.1f} s of CPU, {1000 * used / sandbox.asked:.2f} ms a test; rewards {rates}",
        flush=True,
    )
    return rewards


def cpu() -> float:
    """Return the CPU seconds of this process and of its children that have ended."""
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


if __name__ == "__main__":
    main()
