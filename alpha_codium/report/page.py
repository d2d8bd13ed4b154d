"""The page: the overview rendered by Jinja, the index of all samples as JSON, and the chunks of long texts."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any

from alpha_codium.errors import UserError
from alpha_codium.report.bodies import LETTERS, Bodies, id_of
from alpha_codium.report.charts import by_problem, by_samples, by_tokens
from alpha_codium.report.figures import figures_of, spent_text
from alpha_codium.report.labels import Labels
from alpha_codium.report.markup import rendered
from alpha_codium.report.pairing import differences_of
from alpha_codium.report.reading import ReadRun
from alpha_codium.report.samples import StoredSample
from alpha_codium.runs.folder import write_atomically
from alpha_codium.values import JsonValue

GENERATOR = "gencode report"
# With more characters of bodies than this, they are written as scripts beside the page.
MOST_INLINE = 12_000_000
# Where the template has them.
BODIES = "<!-- bodies -->"
SCRIPTS = ("texts.js", "views.js", "overview.js", "page.js")
SCRIPT_FILE = re.compile(r"\d+\.js")
# How often an open page of a run that goes on loads itself again, in seconds.
RELOAD_SECONDS = 5


@dataclass(frozen=True, slots=True)
class Page(JsonValue):
    """A page as it was written: its file, the bytes of it and of the files beside it, and what it shows."""

    path: Path
    size_bytes: int
    beside_bytes: int
    problems: int
    samples: int


def check_output(path: Path) -> None:
    """Raise UserError if a page can't be written to a file, or would replace something else than a page."""
    if not path.parent.is_dir():
        raise UserError(f"there is no folder {path.parent}: create it, or choose another `output`")
    if path.is_dir():
        raise UserError(f"{path} is a folder: name a file as `output`")
    if path.exists() and GENERATOR not in path.read_bytes()[:2000].decode("utf-8", "replace"):
        raise UserError(f"{path} exists and isn't a page of gencode report: choose another `output`")


def write_page(
    runs: Sequence[ReadRun], path: Path, live: bool = False, on_problem: Callable[[str], None] = lambda _name: None
) -> Page:
    """Write the page on runs; raises UserError if it can't be written, or the runs can't be compared.

    `live` makes an open page load itself again. `on_problem` is called for each problem whose texts are collected.
    """
    figures = [figures_of(run) for run in runs]
    comparison = differences_of(figures) if len(runs) > 1 else None
    bodies = Bodies(runs)
    names = list(dict.fromkeys(name for run in runs for name in run.by_problem))
    index, chunks = _Index(bodies), []
    for name in names:
        index.add(name)
        chunks.append(bodies.chunk(name))
        on_problem(name)
    beside = sum(map(len, chunks)) > MOST_INLINE
    values = {
        "title": ", ".join(run.name for run in runs),
        "runs": figures,
        "comparison": comparison,
        "charts": [chart for chart in (by_samples(figures), by_tokens(figures)) if chart is not None],
        "histogram": by_problem(figures),
        "stages": bodies.stages,
        "spent_text": spent_text,
        "letters": {verdict.value: letter for verdict, letter in LETTERS.items()},
        "made": f"{datetime.now(UTC):%F %H:%M} UTC",
        "live": live,
        "index": index.to_json() | {"live": RELOAD_SECONDS if live else 0},
        "folder": f"{path.name}.bodies" if beside else "",
    }
    text = rendered("page.html.j2", values, SCRIPTS, beside=beside)
    before, after = bodies.hiding.hide(text).split(BODIES)
    try:
        size = _write_beside(path, chunks) if beside else 0
        write_atomically(path, chain([before], () if beside else map(_block, chunks), [after]))
    except OSError as error:
        raise UserError(f"{path} can't be written: {error.strerror}") from error
    return Page(path, path.stat().st_size, size, len(names), sum(len(run.samples) for run in runs))


class _Index:
    """All samples in short: what the grid, the filters and the search need."""

    def __init__(self, bodies: Bodies) -> None:
        self.bodies = bodies
        self.problems: list[dict[str, Any]] = []
        self.errors: dict[str, int] = {}

    def add(self, name: str) -> None:
        """Add a problem."""
        pairs = zip(self.bodies.runs, self.bodies.expected, strict=True)
        of_runs = [self._of_run(run.by_problem.get(name, []), expected) for run, expected in pairs]
        self.problems.append({"name": name, **self.bodies.labels(name), "runs": of_runs})

    def to_json(self) -> dict[str, Any]:
        """The index as JSON."""
        return {
            "runs": [run.name for run in self.bodies.runs],
            "errors": list(self.errors),
            "verdicts": {letter: verdict.value.replace("_", " ") for verdict, letter in LETTERS.items()},
            "problems": self.problems,
        }

    def _of_run(self, samples: Sequence[StoredSample], expected: Labels) -> dict[str, Any]:
        ids = [id_of(sample) for sample in samples]
        found: dict[str, Any] = {"verdicts": "".join(LETTERS[sample.result.verdict] for sample in samples)}
        found["errors"] = [self._error(sample) for sample in samples]
        found |= {"ids": ids} if ids != [str(place) for place in range(len(ids))] else {}
        near = [place for place, sample in enumerate(samples) if sample.result.near_limit]
        odd = [place for place, sample in enumerate(samples) if expected.differs(sample)]
        found |= {"odd": odd} if odd else {}
        tokens = sum(s.candidate.prompt_tokens + s.candidate.completion_tokens for s in samples if s.candidate)
        return found | ({"near": near} if near else {}) | ({"tokens": tokens} if tokens else {})

    def _error(self, sample: StoredSample) -> int:
        """Return the number of a sample's class of errors; -1 if it didn't fail."""
        if not sample.failed:
            return -1
        kind = sample.error.partition(":")[0].strip()[:60]
        if not kind and sample.result.error:
            kind = f"no program ({sample.result.error.partition(':')[0]})"
        return self.errors.setdefault(kind or sample.result.verdict.value.replace("_", " "), len(self.errors))


def _block(chunk: str) -> str:
    return f'<script type="application/octet-stream" class="body">{chunk}</script>\n'


def _write_beside(path: Path, chunks: Sequence[str]) -> int:
    """Write the chunks as scripts in a folder beside the page; return their bytes."""
    folder = path.with_name(f"{path.name}.bodies")
    folder.mkdir(exist_ok=True)
    for old in _scripts(folder):
        if int(old.stem) >= len(chunks):
            old.unlink()
    for place, chunk in enumerate(chunks):
        (folder / f"{place}.js").write_text(f'receive({place},"{chunk}")\n', "ascii")
    return sum(each.stat().st_size for each in _scripts(folder))


def _scripts(folder: Path) -> Iterator[Path]:
    return (each for each in folder.iterdir() if SCRIPT_FILE.fullmatch(each.name))
