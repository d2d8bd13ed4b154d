"""What the judge says of published programs, frozen row by row, so that a change can prove that no verdict moved.

    python -m benchmarks.verdicts freeze --data ../shared/data --backend local --output before.jsonl
    python -m benchmarks.verdicts freeze --data ../shared/data --backend local --output again.jsonl
    (the change)
    python -m benchmarks.verdicts freeze --data ../shared/data --backend local --output after.jsonl
    python -m benchmarks.verdicts compare --baseline before.jsonl --baseline again.jsonl after.jsonl

1. Programs are judged as `gencode eval` judges them, with the default settings, on all tests of their problem (the
   first 20 of those that have 200), and run in the sandbox only. A program that is known to run out of time is judged
   with `stop_early`: it would take minutes. The set `humaneval_batches` goes the way of `code_eval` instead
   (`judge_batch`).
2. A file holds a line with the options, then rows: one for each test, and after those one for their program. All rows
   of a program are written at once, and a freeze that was cut off goes on where it stopped when it is started again.
3. `executions_run` is counted where the sandbox gives executions, runs of a checker included. Of a batch it isn't told:
   how many programs run twice there depends on the machine's load.
4. Baselines of the same code show what differs by itself. A field in which they disagree isn't compared.
5. Backends that are slow judge a part with `--share` or `--limit`; `compare --common` holds that against all. The
   image of `oci`, its engine and so on are set in the environment: GENCODE_SANDBOX__OCI__IMAGE (docs/containers.md).
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
