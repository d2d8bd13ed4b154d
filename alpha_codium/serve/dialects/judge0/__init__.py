"""The API of Judge0: a submission is a program with its input; clients ask for the result by a token.

Results are kept in memory, and the oldest are dropped. Errors are `{"error": "..."}`, and for invalid submissions
status 422 with lists of messages by fields.
"""

import asyncio
from contextlib import ExitStack
from typing import Any

from fastapi import APIRouter, Request, Response
from loguru import logger

from alpha_codium.errors import SandboxError
from alpha_codium.serve.answers import AsciiResponse, ErrorAnswer, client_of, json_of
from alpha_codium.serve.dialects.asking import Server
from alpha_codium.serve.dialects.judge0 import facts
from alpha_codium.serve.dialects.judge0.store import Store
from alpha_codium.serve.dialects.judge0.submissions import (
    ALL_FIELDS,
    AVAILABLE_FIELDS,
    DEFAULT_FIELDS,
    Submission,
    submission_of,
)
from alpha_codium.serve.executing import checked, cost_of
from alpha_codium.serve.hiding import without_paths
from alpha_codium.serve.load import Overloaded

TOO_MANY = f"number of submissions in a batch should be less than or equal to {facts.MOST_IN_BATCH}"
TOO_FEW = "there should be at least one submission in a batch"


FULL = {"error": "queue is full"}


def refusal(status: int, error: str) -> ErrorAnswer:
    """Return the answer to a request that is refused."""
    return ErrorAnswer(status, {"error": error})


class Submissions:
    """The submissions of a server, those that run and those that are done."""

    def __init__(self, server: Server) -> None:
        self.server, self.store = server, Store()
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def languages(self) -> dict[int, facts.JudgeLanguage]:
        """The languages of the server, by their numbers."""
        return facts.languages_of(self.server)

    @property
    def names(self) -> dict[int, str]:
        """The names of the languages, with their versions."""
        return {number: language.name(self.server) for number, language in self.languages.items()}

    def read(self, body: Any, *, encoded: bool) -> Submission:
        """Return the submission in a request; raises ErrorAnswer if it is invalid."""
        submission = submission_of(body, self.languages, self.names, encoded=encoded)
        checked(submission.job)
        return submission

    async def run(self, request: Request, submission: Submission) -> None:
        """Run a submission whose client waits; raises ErrorAnswer if the queue is full."""
        submission.begin()
        try:
            submission.finish(await self.server.jobs.execute(request, submission.job))
        except Overloaded as error:
            raise ErrorAnswer(503, FULL) from error
        except SandboxError as error:
            submission.fail(without_paths(error))
        self.store.finish(submission)

    def begin(self, request: Request, submission: Submission) -> None:
        """Begin to run a submission whose client asks for the result later; raises ErrorAnswer if the queue is full."""
        accepted = ExitStack()
        if self.store.is_full:
            raise ErrorAnswer(503, FULL)
        try:
            accepted.enter_context(self.server.jobs.load.accepted(cost_of(submission.job)))
        except Overloaded as error:
            raise ErrorAnswer(503, FULL) from error
        self.store.add(submission)
        task = asyncio.create_task(self._run(client_of(request), submission, accepted))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _run(self, client: str, submission: Submission, accepted: ExitStack) -> None:
        with accepted:
            try:
                submission.begin()
                submission.finish(await self.server.jobs.run(client, submission.job))
            except Exception as error:  # noqa: BLE001 - nobody waits for this task; the result says what happened
                if not isinstance(error, SandboxError):
                    logger.exception("a submission failed")
                submission.fail(without_paths(error) or type(error).__name__)
            finally:
                self.store.finish(submission)

    def find(self, token: str) -> Submission:
        """Return a submission by its token; raises ErrorAnswer."""
        submission = self.store.get(token)
        if submission is None:
            raise refusal(404, "there is no such submission, or it isn't kept any more")
        return submission


def router(server: Server) -> APIRouter:
    """Return the addresses of the dialect."""
    routes = APIRouter(tags=["Judge0"])
    submissions = Submissions(server)
    _add_batch(routes, submissions)
    _add_single(routes, submissions)
    _add_facts(routes, submissions)
    return routes


def _add_single(routes: APIRouter, submissions: Submissions) -> None:
    @routes.post("/submissions")
    @routes.post("/submissions/", include_in_schema=False)
    async def create(request: Request, base64_encoded: str = "", wait: str = "", fields: str = "") -> Response:
        """Run a program; the answer has the token or, if `wait` is true, the result."""
        encoded, shown = base64_encoded == "true", fields_of(fields)
        submission = submissions.read(await json_of(request, "error"), encoded=encoded)
        if wait != "true":
            submissions.begin(request, submission)
            return AsciiResponse({"token": submission.token}, 201)
        await submissions.run(request, submission)
        return AsciiResponse(submission.shown(shown, encoded=encoded), 201)

    @routes.get("/submissions/{token}")
    async def show(token: str, base64_encoded: str = "", fields: str = "") -> Response:
        """Return what is known of a submission."""
        return AsciiResponse(submissions.find(token).shown(fields_of(fields), encoded=base64_encoded == "true"))

    @routes.delete("/submissions/{token}")
    async def delete() -> Response:
        """Refuse to delete a submission."""
        return AsciiResponse({"error": "delete not allowed"}, 400)


def _add_batch(routes: APIRouter, submissions: Submissions) -> None:
    @routes.post("/submissions/batch")
    async def create_batch(request: Request, base64_encoded: str = "") -> Response:
        """Run up to 20 programs; the answer has the token of each, or what is wrong with it."""
        bodies = _batch_of(await json_of(request, "error"))
        answers: list[dict[str, Any]] = []
        for body in bodies:
            try:
                submission = submissions.read(body, encoded=base64_encoded == "true")
                submissions.begin(request, submission)
                answers.append({"token": submission.token})
            except ErrorAnswer as answer:
                answers.append(answer.content)
        if any("token" in answer for answer in answers):
            return AsciiResponse(answers, 201)
        return AsciiResponse(FULL, 503) if FULL in answers else AsciiResponse(answers, 422)

    @routes.get("/submissions/batch")
    async def show_batch(request: Request, tokens: str = "", base64_encoded: str = "", fields: str = "") -> Response:
        """Return what is known of submissions; null for those that aren't kept."""
        wanted = [token for token in (request.headers.get("tokens") or tokens).strip().split(",") if token]
        if not 0 < len(wanted) <= facts.MOST_IN_BATCH:
            raise refusal(400, TOO_MANY if wanted else TOO_FEW)
        shown = fields_of(fields)
        found = [submissions.store.get(token) for token in wanted]
        listed = [each.shown(shown, encoded=base64_encoded == "true") if each else None for each in found]
        return AsciiResponse({"submissions": listed})


def _batch_of(body: Any) -> list[Any]:
    bodies = body.get("submissions") if isinstance(body, dict) else None
    if not isinstance(bodies, list) or not bodies:
        raise refusal(400, TOO_FEW)
    if len(bodies) > facts.MOST_IN_BATCH:
        raise refusal(400, TOO_MANY)
    return bodies


def _add_facts(routes: APIRouter, submissions: Submissions) -> None:
    load = submissions.server.jobs.load
    most = max(1, submissions.server.workers)

    @routes.get("/languages")
    @routes.get("/languages/", include_in_schema=False)
    async def languages() -> Response:
        """Return the languages of the server."""
        return AsciiResponse([{"id": number, "name": name} for number, name in submissions.names.items()])

    @routes.get("/languages/all")
    async def all_languages() -> Response:
        """Return the languages of the server; none is archived."""
        known = submissions.names.items()
        return AsciiResponse([{"id": number, "name": name, "is_archived": False} for number, name in known])

    @routes.get("/languages/{number}")
    async def language(number: str) -> Response:
        """Return one language."""
        known = {str(each): name for each, name in submissions.names.items()}
        if number not in known:
            return AsciiResponse({"error": "there is no such language"}, 404)
        unknown = dict.fromkeys(("source_file", "compile_cmd", "run_cmd"))
        return AsciiResponse({"id": int(number), "name": known[number], "is_archived": False, **unknown})

    @routes.get("/statuses")
    @routes.get("/statuses/", include_in_schema=False)
    async def statuses() -> Response:
        """Return the statuses that a submission can have."""
        return AsciiResponse([{"id": number, "description": name} for number, name in facts.STATUSES.items()])

    @routes.get("/about")
    async def about() -> Response:
        """Return the version of the API."""
        return AsciiResponse({"version": facts.VERSION, "homepage": "", "source_code": "", "maintainer": ""})

    @routes.get("/config_info")
    async def config_info() -> Response:
        """Return defaults and limits."""
        return AsciiResponse(facts.config_info(load.most_cost))

    @routes.get("/workers")
    async def workers() -> Response:
        """Return how busy the server is."""
        waiting, working = load.waiting, max(0, submissions.store.unfinished - load.waiting)
        queue = {
            "queue": "default",
            "size": waiting,
            "available": most,
            "idle": max(0, most - working),
            "working": working,
        }
        return AsciiResponse([queue | {"paused": 0, "failed": 0}])


def fields_of(text: str) -> tuple[str, ...]:
    """Return the fields that a request asks for, separated by commas, `*` for all; raises ErrorAnswer."""
    asked = tuple(name for name in text.split(",") if name)
    if unknown := [name[:40] for name in asked if name not in AVAILABLE_FIELDS and name != "*"]:
        raise refusal(400, f"invalid fields: [{', '.join(unknown[:20])}]")
    return ALL_FIELDS if "*" in asked else asked or DEFAULT_FIELDS
