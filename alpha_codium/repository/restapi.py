"""The provider `restapi`: a server runs the tests, such as `gencode repo serve` (`serve/repository`)."""

import asyncio
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Self

from loguru import logger

from alpha_codium.errors import DatasetError, UserError
from alpha_codium.languages.python.syntax import lines_of
from alpha_codium.repository.checkout import DIFFERS, digest, other_files
from alpha_codium.repository.harness import Edit, SuiteRun
from alpha_codium.repository.providers import TRIES, ProviderError, TestProvider, time_limit
from alpha_codium.repository.recipes import recipe_of
from alpha_codium.repository.reports import run_of_text
from alpha_codium.repository.tasks import RepositoryTask

if TYPE_CHECKING:
    import httpx

TIMEOUT_SECONDS = 360.0
CONNECTIONS = 200
PAUSE_SECONDS = 1.0
RESULT = ("results", "cpu_seconds", "swapped", "crash")


class RestProvider(TestProvider):
    """Sends edits to the server at `url`, or `SANDBOX_URL`; `token`, or `SANDBOX_TOKEN`, is sent if there is one.

    A request is repeated after a connection error, a time-out, or a status of 408, 429 or 500 and above.
    """

    def __init__(
        self,
        url: str = "",
        token: str = "",
        *,
        timeout_seconds: float = TIMEOUT_SECONDS,
        connections: int = CONNECTIONS,
        tries: int = TRIES,
        pause_seconds: float = PAUSE_SECONDS,
    ) -> None:
        self.url = (url or os.environ.get("SANDBOX_URL", "")).rstrip("/").removesuffix("/run_item") + "/run_item"
        if not self.url.startswith(("http://", "https://")):
            raise UserError(
                "sandbox_provider = restapi needs the address of a server: set SANDBOX_URL=http://HOST:PORT (see "
                "`gencode repo serve`)"
            )
        self._token = token or os.environ.get("SANDBOX_TOKEN", "")
        self.timeout_seconds, self.connections = timeout_seconds, connections
        self.tries, self.pause_seconds = tries, pause_seconds
        self._client: httpx.AsyncClient | None = None

    async def __aenter__(self) -> Self:
        """Connect nowhere yet."""
        import httpx

        self._client = httpx.AsyncClient(
            headers={"Authorization": f"Bearer {self._token}"} if self._token else {},
            limits=httpx.Limits(max_connections=self.connections),
            # A request that waits for a free connection is not late.
            timeout=httpx.Timeout(self.timeout_seconds, pool=None),
        )
        return self

    async def __aexit__(self, *_exc: object) -> None:
        """Close the connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def check(self, tasks: Iterable[RepositoryTask]) -> None:
        """See `TestProvider`; other servers than gencode's don't tell their files before they run tests."""
        import httpx

        assert self._client is not None
        try:
            response = await self._client.get(self.url)
            there = response.json() if response.status_code == httpx.codes.OK else {}
            files, version = dict(there.get("files", {})), there.get("version", "")
        except (httpx.HTTPError, AttributeError, TypeError, ValueError):
            return
        for task in tasks:
            if files and files.get(task.file_path) != digest(task.raw_file_content):
                raise self._other_files(task, version)

    def _other_files(self, task: RepositoryTask, version: str = "") -> DatasetError:
        place = f"{version} at {self.url}".strip()
        return other_files(task.file_path, recipe_of(task.repository), place, task.version)

    async def run(self, task: RepositoryTask, edit: Edit) -> SuiteRun:
        """See `TestProvider`."""
        item, reason = item_of(task, edit), ""
        for number in range(self.tries):
            if number:
                await asyncio.sleep(self.pause_seconds * 2 ** (number - 1))
            answer, reason = await self._ask(task, item)
            if answer is not None:
                self._require_edited(answer, task, edit)
                return run_of_answer(answer, task)
            logger.warning(f"try {number + 1} of {self.tries} to run the tests of {task.dp_id} failed: {reason}")
        raise ProviderError(f"the tests of {task.dp_id} can't be run: {reason}")

    def _require_edited(self, answer: Any, task: RepositoryTask, edit: Edit) -> None:
        """Raise DatasetError if the server says that it has edited another file."""
        edited = answer.get("edited_file") if isinstance(answer, dict) else None
        if isinstance(edited, str) and edited and edited.split() != edit.text.split():
            raise self._other_files(task)

    async def _ask(self, task: RepositoryTask, item: dict[str, Any]) -> tuple[dict[str, Any] | None, str]:
        """Return the answer, or None and what to try again for; raises ProviderError if that is of no use."""
        import httpx

        assert self._client is not None
        try:
            response = await self._client.post(self.url, params={"do_edit": "true"}, json=item)
            if response.status_code == httpx.codes.OK:
                return response.json(), ""
        except httpx.HTTPError as error:
            return None, f"{self.url}: {type(error).__name__} {error}".strip()
        except ValueError:
            return None, f"{self.url} returned no JSON"
        if response.status_code == httpx.codes.UNPROCESSABLE_ENTITY and DIFFERS in response.text:
            raise self._other_files(task)
        reason = f"{self.url} returned status {response.status_code}: {response.text[:500]}"
        if response.status_code in (408, 429) or response.is_server_error:
            return None, reason
        raise ProviderError(f"the tests of {item['dp_id']} can't be run: {reason}")


def item_of(task: RepositoryTask, edit: Edit) -> dict[str, Any]:
    """Return the request for an edit: the lines of the method, or of the whole file if other lines were changed."""
    method, old, new = task.method, lines_of(task.raw_file_content), lines_of(edit.text)
    first, after = method.lines[0], len(old) - method.lines[1]
    last = len(new) - after
    name = method.name
    if old[:first] != new[:first] or old[len(old) - after :] != new[last:] or last <= first:
        first, last, after, name = 0, len(new), 0, ""
    return {
        "idx": 0,
        "dp_id": task.dp_id,
        "file_path": edit.file,
        "replace_content": "".join(new[first:last]).rstrip("\n"),
        "method_name": name,
        "start_line": first + 1,
        "end_line": len(old) - after,
        "tests": list(task.tests),
        "method": edit.method,
        "file_sha256": digest(task.raw_file_content),
        "cpu_seconds": time_limit(task),
        "controls": [control.to_json() for control in task.controls],
    }


def run_of_answer(answer: dict[str, Any], task: RepositoryTask) -> SuiteRun:
    """Return the results in an answer; those of another server are read from its `test_output`.

    Raises ProviderError if they are missing.
    """
    try:
        if "results" in answer:
            return SuiteRun.from_json({name: answer[name] for name in RESULT})
        return run_of_text(answer["test_output"], task.tests)
    except (KeyError, TypeError, ValueError) as error:
        raise ProviderError(f"the answer for {task.dp_id} has no results: {error!r}") from error
