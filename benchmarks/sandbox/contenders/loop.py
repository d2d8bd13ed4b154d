"""The child's side of the benchmark: runs one contender's script, batch after batch.

Runs on CPython 3.9 and later, from a file, without the package. Asked on stdin: `batch FOLDER`, answered with `ready`;
`go`, answered with `done RIGHT`. The contender's own output goes to stderr.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO


def read_folder(folder: str) -> "list[str]":
    """The texts of the files of a folder, in the order of their names."""
    texts = []
    for name in sorted(os.listdir(folder)):  # noqa: PTH208 - pathlib would make the floor's process larger
        with open(f"{folder}/{name}", encoding="utf-8", newline="") as file:  # noqa: PTH123
            texts.append(file.read())
    return texts


def take_streams() -> "tuple[TextIO, TextIO]":
    """Stdin and stdout as the channel to the benchmark; what the contender reads and writes goes elsewhere."""
    requests = os.fdopen(os.dup(0), encoding="utf-8")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nothing = os.open("/dev/null", os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    return requests, answers


def main() -> None:
    """Serve until stdin ends."""
    name, options = sys.argv[1], dict(word.split("=", 1) for word in sys.argv[2:])
    if options.get("cores") and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {int(core) for core in options["cores"].split(",")})
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120
    script = __import__(name)
    sys.path.pop(0)
    requests, answers = take_streams()
    if hasattr(script, "start"):
        script.start(options)
    batch = ()
    for line in requests:
        verb, _, folder = line.strip().partition(" ")
        if verb == "batch":
            kinds = (getattr(script, "FORM", "programs"), "inputs", "outputs")
            batch = tuple(read_folder(f"{folder}/{kind}") for kind in kinds)
            if hasattr(script, "prepare"):
                script.prepare(*batch)
            print("ready", file=answers, flush=True)
        else:
            print("done", script.run(*batch), file=answers, flush=True)
    if hasattr(script, "stop"):
        script.stop()


if __name__ == "__main__":
    main()
