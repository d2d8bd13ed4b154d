"""The transcripts of a run's finished samples."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from alpha_codium.runs.events import Transcript
from alpha_codium.solution import Candidate


def finished_transcripts(folder: Path, candidates: Mapping[tuple[str, int], Candidate]) -> Iterator[Transcript]:
    """Yield the transcripts of the finished samples of the run in `folder`, one at a time, since all may not fit into
    memory.

    `candidates` are the journal's, by problem and sample. Unreadable transcripts are left out, and those of an earlier
    attempt. Raises UserError if a transcript was written by another version of gencode, and OSError.
    """
    for path in sorted((folder / "transcripts").glob("*/*.json")):
        try:
            transcript = Transcript.read(path)
        except ValueError:
            continue
        candidate = candidates.get((transcript.candidate.task_name, transcript.candidate.sample_index))
        if candidate is not None and candidate.is_final and candidate.program == transcript.candidate.program:
            yield transcript
