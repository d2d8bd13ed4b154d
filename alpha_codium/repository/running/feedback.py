"""What a model is told about its answer's tests."""

import re

from alpha_codium.repository.harness import PASSED, SKIPPED, SuiteRun
from alpha_codium.repository.tasks import RepositoryTask

FRAME = re.compile(
    r'^(?P<head>  File "(?P<file>[^"]+)", line (?P<line>\d+), in (?P<name>.*)\n)(?:    .*\n)*', re.MULTILINE
)
CUT, OMITTED = "...\n", "  ...\n"


def feedback_of(run: SuiteRun, task: RepositoryTask, most: int) -> str:
    """Return the names and messages of the tests that didn't pass; of a longer text the last `most` characters.

    Tests with the same message are named together. Of tracebacks, the frames of the test, of the edited file and of the
    place of the error are kept.
    """
    by_message: dict[tuple[str, str], list[str]] = {}
    for result in run.results:
        if result.status not in (PASSED, SKIPPED):
            message = with_right_lines(result.message, task) if run.swapped else result.message
            by_message.setdefault((result.status, relevant(message, task.file_path)), []).append(result.name)
    parts = [f"{', '.join(names)}: {status}\n{message}".rstrip() for (status, message), names in by_message.items()]
    if run.crash:
        parts.append(f"The process of the tests ended early: {run.crash}")
    text = "\n\n".join(parts)
    return text if len(text) <= most else CUT + text[-most:]


def relevant(message: str, file: str) -> str:
    """Return a message without the frames of its traceback that are neither the first, the last, nor in `file`."""
    frames = list(FRAME.finditer(message))
    kept = {0, len(frames) - 1} | {number for number, frame in enumerate(frames) if frame["file"].endswith(file)}
    parts, position = [], 0
    for number, frame in enumerate(frames):
        parts.append(message[position : frame.start()])
        if number in kept:
            parts.append(frame[0])
        elif number - 1 in kept:
            parts.append(OMITTED)
        position = frame.end()
    return "".join([*parts, message[position:]])


def with_right_lines(message: str, task: RepositoryTask) -> str:
    """Return a message with the code of the edited file's other functions as the repository has it.

    If only the method's code was exchanged, these have the line numbers of the repository's file, but the traceback
    shows the lines that the edited file has there.
    """
    lines = task.raw_file_content.splitlines()

    def corrected(frame: re.Match[str]) -> str:
        number = int(frame["line"])
        if not frame["file"].endswith(task.file_path) or frame["name"] == task.method.name or number > len(lines):
            return frame[0]
        return f"{frame['head']}    {lines[number - 1].strip()}\n"

    return FRAME.sub(corrected, message)
