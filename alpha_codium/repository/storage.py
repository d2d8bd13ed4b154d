"""Data, checkpoints and outputs in S3, or wherever else fsspec reaches: `s3://BUCKET/FOLDER` in place of a folder.

Each has a copy in `$GENCODE_HOME/storage`, in which gencode works. The settings of S3 are those of other AWS programs:
`aws configure`, or variables such as AWS_ACCESS_KEY_ID and AWS_ENDPOINT_URL.
"""

import hashlib
import os
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from loguru import logger

from alpha_codium.coroutines import in_thread
from alpha_codium.errors import UserError
from alpha_codium.paths import home

URL = re.compile(r"([a-z][a-z0-9+]+)://(.+)")
MD5 = re.compile(r"[0-9a-f]{32}")
PART = ".part"


def is_remote(path: str) -> bool:
    """Whether a path is a URL such as `s3://BUCKET/FOLDER`."""
    return URL.fullmatch(path) is not None


def copy_of(url: str) -> Path:
    """Return where the copy of a URL is; raises UserError if it leads out of the folder of copies."""
    found = URL.fullmatch(url.rstrip("/"))
    if found is None or {"..", "."} & set(found[2].split("/")):
        raise UserError(f"{url!r} is not a URL such as s3://BUCKET/FOLDER")
    return home() / "storage" / found[1] / found[2]


def fetched(path: str, *, optional: bool = False) -> str:
    """Return a path that is local; files at a URL are copied first, unless they are there already.

    Raises UserError if there is nothing at the URL, unless that is `optional`, or it can't be read.
    """
    if not is_remote(path):
        return path
    local = copy_of(path)
    with _reached(path) as (files, root):
        found = files.find(root, detail=True)
        if not found and not optional:
            raise UserError(f"there is nothing at {path}")
        for name, facts in found.items():
            place = local / name.removeprefix(root).lstrip("/") if name != root else local
            if not place.resolve().is_relative_to(local.resolve()):
                raise UserError(f"{path} has a file with the name {name!r}, which leads elsewhere")
            if not _is_current(place, facts):
                _fetch(files, name, place)
    return str(local)


def uploaded(folder: Path, url: str) -> int:
    """Copy the files of a folder to a URL, and return how many there are; raises UserError if that fails."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("."))
    with _reached(url) as (files, root):
        for path in paths:
            files.put_file(str(path), f"{root}/{path.relative_to(folder).as_posix()}")
    return len(paths)


@asynccontextmanager
async def uploading(folder: Path, url: str) -> AsyncIterator[None]:
    """Copy a folder to a URL after what happens in the context, also after an error, which is then raised.

    If `url` is a local path, nothing is copied.
    """
    if not is_remote(url):
        yield
        return
    try:
        yield
    except BaseException:
        try:
            await in_thread(uploaded, folder, url)
        except UserError as error:
            logger.error(f"the results in {folder} were not uploaded: {error}")
        raise
    await in_thread(uploaded, folder, url)


@contextmanager
def _reached(url: str) -> Iterator[tuple[Any, str]]:
    """Yield the file system of a URL, and the path there; errors become UserError."""
    scheme = url.partition(":")[0]
    try:
        from fsspec.core import url_to_fs

        yield url_to_fs(url.rstrip("/"), use_listings_cache=False, skip_instance_cache=True)
    except ImportError as error:
        raise UserError(f"{url} needs a package: pip install {'s3fs' if scheme == 's3' else error.name}") from error
    except UserError:
        raise
    except Exception as error:
        # Drivers raise errors of many libraries: of credentials, connections, and the service.
        if not isinstance(error, OSError | ValueError) and not type(error).__module__.startswith(("boto", "aio")):
            raise
        reason = " ".join(str(error).split()) or type(error).__name__
        raise UserError(f"{url} can't be used: {reason}") from error


def _is_current(place: Path, facts: dict[str, Any]) -> bool:
    """Whether a file is that at the URL: by its MD5, or, for an object of several parts, by size and age."""
    if not place.is_file() or place.stat().st_size != facts.get("size"):
        return False
    etag = str(facts.get("ETag", "")).strip('"')
    if MD5.fullmatch(etag):
        with place.open("rb") as file:
            return hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest() == etag
    changed = facts.get("LastModified")
    return changed is not None and changed.timestamp() < place.stat().st_mtime


def _fetch(files: Any, name: str, place: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    part = place.with_name(f".{place.name}.{os.getpid()}{PART}")
    try:
        files.get_file(name, str(part))
        part.replace(place)
    finally:
        part.unlink(missing_ok=True)
