"""A tool that saves the judge's results on published programs, to check that a change of the code changes none.

    python -m benchmarks.verdicts freeze --data ../shared/data --backend local --output before.jsonl
    python -m benchmarks.verdicts freeze --data ../shared/data --backend local --output again.jsonl
    (the change)
    python -m benchmarks.verdicts freeze --data ../shared/data --backend local --output after.jsonl
    python -m benchmarks.verdicts compare --baseline before.jsonl --baseline again.jsonl after.jsonl

1. Programs are judged as `gencode eval` judges them, with the default settings, on all tests of their problem (the
   first 20 of those that have 200), and run in the sandbox only. A program that is known to run out of time is judged
   with `stop_early`: it would take minutes. The set `humaneval_batches` goes the way of `code_eval` instead
   (`judge_batch`).
2. A file has a line with the options, then rows: one for each test, followed by one for their program. All rows of a
   program are written at once; run an interrupted `freeze` again to resume it.
3. `executions_run` counts the sandbox's executions, including those of checkers. It isn't recorded for batches, where
   the number of programs that run twice depends on the machine's load.
4. Several baselines of the same code show which fields vary between runs; these aren't compared.
5. With slow backends, judge a part with `--share` or `--limit`, and use `compare --common`. The image of `oci`, its
   engine and so on are set in the environment: GENCODE_SANDBOX__OCI__IMAGE (docs/containers.md).
6. Only `package` knows the insides of alpha_codium. Everything else works on plain values.
"""

import argparse
import sys
from pathlib import Path

from benchmarks.verdicts.comparing import compare
from benchmarks.verdicts.freezing import ROOT, freeze
from benchmarks.verdicts.programs import SETS


def main() -> int:
    """Freeze or compare."""
    parser = argparse.ArgumentParser(
        "python -m benchmarks.verdicts", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True)
    freezing = commands.add_parser("freeze", help="judge programs, and write what the judge says")
    freezing.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    freezing.add_argument("--backend", default="local", help="local, portable, gvisor, oci, ...")
    freezing.add_argument("--output", type=Path, required=True, metavar="FILE.jsonl")
    freezing.add_argument("--sets", help=f"with commas; default: all of {', '.join(SETS)}")
    freezing.add_argument("--share", type=float, default=1.0, help="a part of each set, every n-th program")
    freezing.add_argument("--limit", type=int, default=0, help="at most so many programs of each set, every n-th")
    freezing.add_argument("--workers", type=int, default=2)
    freezing.set_defaults(run=freeze)
    comparing = commands.add_parser("compare", help="compare the last file with the others, row by row")
    comparing.add_argument("files", type=Path, nargs="+", metavar="FILE")
    comparing.add_argument("--baseline", type=Path, action="append", default=[], help="repeatable")
    comparing.add_argument("--words", action="store_true", help="compare stderr and messages, too")
    comparing.add_argument("--common", action="store_true", help="only programs that all files have")
    comparing.add_argument("--show", type=int, default=50, help="at most so many differences of each kind")
    comparing.set_defaults(run=compare)
    arguments = parser.parse_args()
    return arguments.run(arguments)


if __name__ == "__main__":
    sys.exit(main())
