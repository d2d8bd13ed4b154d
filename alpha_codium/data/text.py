"""Splits and problems as lines of text."""

from collections.abc import Iterator

from alpha_codium.data.catalogue import SplitDescription
from alpha_codium.data.schema import difficulty_name, source_name
from alpha_codium.problem import Problem


def split_lines(name: str, split: SplitDescription) -> Iterator[str]:
    """What a split of the dataset `name` holds."""
    counts = split.counts
    yield f"{name}[{split.split}]"
    rows = {"problems": str(counts["problems"]), "repeated names": str(counts["repeated_names"] or "")}
    for column in ("tests", "solutions", "incorrect_solutions", "sources", "difficulties"):
        rows[column.replace("_", " ")] = ", ".join(f"{key}: {count}" for key, count in counts[column].items() if count)
    rows["columns"] = ", ".join(split.columns)
    origin = split.info.get("origin") or {}
    rows["origin"] = "@".join(filter(None, (origin.get("location"), origin.get("revision"))))
    for key in ("fingerprint", "filters", "sampling"):
        value = split.info.get(key) or ""
        rows[key] = value if isinstance(value, str) else ", ".join(f"{k}: {v}" for k, v in value.items())
    for label, value in rows.items():
        if value:
            yield f"  {label + ':':<21}{value}"


def problem_lines(problem: Problem) -> Iterator[str]:
    """A problem with its public tests; of the others, how many there are."""
    limits = [
        f"{problem.time_limit_seconds:g} s" if problem.time_limit_seconds else "",
        f"{problem.memory_limit_bytes / 2**20:g} MiB" if problem.memory_limit_bytes else "",
    ]
    facts = [source_name(problem.source), difficulty_name(problem.difficulty), *problem.tags, *filter(None, limits)]
    yield f"{problem.name}\n{', '.join(facts)}\n\n{problem.description.rstrip()}"
    for number, test in enumerate(problem.public_tests, start=1):
        yield (f"\nPublic test {number}, input:\n{test.input.rstrip()}\n\nexpected output:\n{test.output.rstrip()}")
    yield (
        f"\n{len(problem.private_tests)} private tests, {len(problem.generated_tests)} generated tests, "
        f"{len(problem.solutions)} solutions, {len(problem.incorrect_solutions)} incorrect solutions"
    )
