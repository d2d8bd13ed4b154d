import shutil
from pathlib import Path

import pytest

from tests.data.big_split import etl_in_process, write_big_split


def _peaks(tmp_path: Path, problems: int) -> tuple[int, list[int]]:
    """The size of a split, and the peak memory of storing it from a file, the stored dataset, and Parquet."""
    packed, stored, parquet = tmp_path / "big.jsonl.gz", tmp_path / "stored", tmp_path / "big.parquet"
    size = write_big_split(packed, problems)
    peaks = [_peak(tmp_path, packed, problems, stored)]
    _write_parquet(stored, parquet)
    peaks += [_peak(tmp_path, source, problems, tmp_path / "again") for source in (stored, parquet)]
    print(f"{problems} problems, {size / 1e6:.0f} MB; peak memory in MB: {[round(peak / 1e6) for peak in peaks]}")
    return size, peaks


def _peak(tmp_path: Path, source: Path, problems: int, target: Path) -> int:
    count, peak = etl_in_process(source, target, tmp_path / "home")
    assert count == problems
    if target.name == "again":
        shutil.rmtree(target)
    return peak


def _write_parquet(stored: Path, path: Path) -> None:
    import datasets
    from pyarrow import parquet

    dataset = datasets.load_from_disk(str(stored))["train"]
    with parquet.ParquetWriter(path, dataset.features.arrow_schema) as writer:
        for table in dataset.with_format("arrow").iter(1000):
            writer.write_table(table)


@pytest.mark.slow
def test_an_etl_holds_a_few_records_at_a_time(tmp_path):
    size, peaks = _peaks(tmp_path, 1500)
    assert size > 350e6
    assert max(peaks) < 0.8 * size


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_split_of_three_gigabytes_needs_less_than_two(tmp_path):
    size, peaks = _peaks(tmp_path, 13_000)
    assert size > 3e9
    assert max(peaks) < 2 * 2**30
