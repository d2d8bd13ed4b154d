"""Which split of a benchmark a file of samples is of: said by the user, and never half of what was asked."""

from collections.abc import Sequence

from alpha_codium.data.files import WHOLE, FileSource
from alpha_codium.data.load import ProblemSet, load_problems
from alpha_codium.data.samples.programs import problem_names
from alpha_codium.data.samples.reading import Row
from alpha_codium.data.sources import find_source
from alpha_codium.errors import DatasetError


def problems_for(rows: Sequence[Row], dataset: str, split: str | None) -> ProblemSet:
    """The problems that samples are scored over.

    Raises DatasetError where no split is named and all samples are of one split of several: the problems of the others
    would all count as failed.
    """
    problems = load_problems(dataset, split)
    source = find_source(dataset)
    if split is not None or not isinstance(source, FileSource) or len(source.parts()) == 1:
        return problems
    named = set(problem_names(rows, problems))
    for part in source.parts():
        if named.issubset(load_problems(dataset, part).names):
            raise DatasetError(
                f"all samples are of the split {part!r} of {dataset}: score them over that with --split_name {part}, "
                f"or over all {len(problems)} problems with --split_name {WHOLE}"
            )
    return problems
