"""Rows with `question` and `tests` as the Parquet file that verl reads: `python prepare.py rows.jsonl train.parquet`.

Check the rows first, which runs nothing: `gencode data validate rows.jsonl --tests_column tests`.
"""

import json
import sys
from pathlib import Path

import pandas

ASK = "\n\nAnswer with a Python program in a block of code."


def main(rows: str, parquet: str) -> None:
    """Write the file."""
    records = []
    for number, line in enumerate(Path(rows).read_text("utf-8").splitlines()):
        row = json.loads(line)
        records.append(
            {
                "data_source": "code",
                "prompt": [{"role": "user", "content": row["question"] + ASK}],
                "ability": "code",
                # JSON, since rows of Parquet can't have tests of different shapes.
                "reward_model": {"style": "rule", "ground_truth": row["tests"]},
                "extra_info": {"index": number},
            }
        )
    pandas.DataFrame(records).to_parquet(parquet)


if __name__ == "__main__":
    main(*sys.argv[1:])
