"""Judge0's submissions: what a request asks for, and what came of it."""

import base64
import binascii
import io
import lzma
import math
import shlex
import uuid
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from alpha_codium.checkers import lines
from alpha_codium.limits import Limits
from alpha_codium.program import Job, Program
from alpha_codium.serve.answers import ErrorAnswer
from alpha_codium.serve.dialects.jobs import INTERPRETED, CannotRun, job_of
from alpha_codium.serve.dialects.judge0.facts import (
    FORBIDDEN,
    KILOBYTE,
    LIMITS,
    MOST_EXTRACTED,
    STATUSES,
    JudgeLanguage,
)
from alpha_codium.verdict import Execution, Report, Status

TEXTS = ("source_code", "stdin", "expected_output")
OUTPUTS = ("stdout", "stderr", "compile_output")
# Shell signs that the original removes from arguments.
SHELL_SIGNS = str.maketrans("", "", "$&;<>|`")
MOST_ARGUMENTS = 512
DEFAULT_FIELDS = ("token", "time", "memory", *OUTPUTS, "message", "status")
QUEUED, PROCESSING, ACCEPTED, WRONG_ANSWER, TIMED_OUT, NOT_COMPILED = range(1, 7)
NONZERO, OTHER, INTERNAL = 11, 12, 13
BY_SIGNAL = {11: 7, 25: 8, 8: 9, 6: 10}
XFSZ = 8
# What a submission takes in memory in addition to its texts.
BYTES_EACH = 4000


@dataclass(slots=True)
class Submission:
    """A submission: `given` is what was asked for, with the defaults, and `found` what is known of it so far."""

    given: dict[str, Any]
    language: JudgeLanguage
    language_name: str
    job: Job
    token: str = field(default_factory=lambda: str(uuid.uuid4()))
    found: dict[str, Any] = field(default_factory=lambda: {"status_id": QUEUED, "created_at": now()})

    @property
    def done(self) -> bool:
        """Whether the result is known."""
        return self.found["status_id"] > PROCESSING

    def begin(self) -> None:
        """Note that the program is about to run."""
        self.found |= {"status_id": PROCESSING, "started_at": now()}

    def finish(self, report: Report) -> None:
        """Keep the result."""
        self.found |= _result_of(report, self.language.ours, self.given["expected_output"]) | {"finished_at": now()}

    def fail(self, message: str) -> None:
        """Note that the server couldn't run the program."""
        self.found |= {"status_id": INTERNAL, "message": message, "finished_at": now()}

    @property
    def size(self) -> int:
        """About how many bytes of memory it takes."""
        return self.size_given + sum(len(text) for text in self.found.values() if isinstance(text, str))

    @property
    def size_given(self) -> int:
        """About how many bytes of memory what was asked for takes."""
        texts = [*self.given.values(), *self.job.inputs]
        return BYTES_EACH + sum(len(text) for text in texts if isinstance(text, str))

    def shown(self, fields: tuple[str, ...], *, encoded: bool) -> dict[str, Any]:
        """Return these fields for an answer; texts are in base64 if `encoded`."""
        shown = {name: self._field(name) for name in fields}
        if encoded:
            for name in shown.keys() & {*TEXTS, *OUTPUTS, "message"}:
                if shown[name] is not None:
                    shown[name] = base64.b64encode(_bytes_of(shown[name])).decode()
        else:
            for name in shown.keys() & {"stdout", "stderr", "expected_output"}:
                if shown[name] is not None:
                    shown[name] = _bytes_of(shown[name]).decode("utf-8", "replace")
        return shown

    def _field(self, name: str) -> Any:
        status = self.found["status_id"]
        special = {
            "token": self.token,
            "status": {"id": status, "description": STATUSES[status]},
            "language": {"id": self.language.id, "name": self.language_name},
        }
        return {**dict.fromkeys(AVAILABLE_FIELDS), **self.given, **self.found, **special}[name]


# What `*` means: the original's clients fail on fields that they don't know.
ALL_FIELDS = (
    *TEXTS, "language_id", "stdout", "status_id", "created_at", "finished_at", "time", "memory", "stderr", "token",
    *LIMITS, "enable_per_process_and_thread_time_limit", "enable_per_process_and_thread_memory_limit",
    "compile_output", "exit_code", "exit_signal", "message", "wall_time", "compiler_options",
    "command_line_arguments", "redirect_stderr_to_stdout", "callback_url", "additional_files", "enable_network",
    "status", "language",
)  # fmt: skip
AVAILABLE_FIELDS = (*ALL_FIELDS, "started_at", "queued_at", "updated_at", "queue_host", "execution_host")


def now() -> str:
    """Return the time as the original writes it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def submission_of(
    body: Any, languages: Mapping[int, JudgeLanguage], names: Mapping[int, str], *, encoded: bool
) -> Submission:
    """Return the submission in a request; raises ErrorAnswer."""
    if not isinstance(body, dict):
        raise ErrorAnswer(422, {"base": ["must be an object"]})
    errors: dict[str, list[str]] = {}
    given: dict[str, Any] = {name: _text_of(body, name, errors, encoded=encoded) for name in TEXTS}
    given["command_line_arguments"] = _text_of(body, "command_line_arguments", errors, encoded=False)
    given |= {name: _number_of(body, name, errors) for name in LIMITS}
    if body.get("wall_time_limit") is None:
        given["wall_time_limit"] = max(given["wall_time_limit"], 2 * given["cpu_time_limit"])
    for name, message in FORBIDDEN.items():
        if body.get(name):
            errors.setdefault(name, []).append(message)
    if not (given["source_code"] or "").strip():
        errors.setdefault("source_code", []).append("can't be blank")
    if len(given["command_line_arguments"] or "") > MOST_ARGUMENTS:
        message = f"is too long (maximum is {MOST_ARGUMENTS} characters)"
        errors.setdefault("command_line_arguments", []).append(message)
    language = _language_of(body.get("language_id"), languages, errors)
    files = _files_of(body.get("additional_files"), errors)
    if errors or language is None:
        raise ErrorAnswer(422, errors)
    given["language_id"] = language.id
    try:
        job = _job_of(given, language, files)
    except CannotRun as error:
        raise ErrorAnswer(422, {"additional_files": [str(error)]}) from error
    return Submission(given, language, names[language.id], job)


def _text_of(body: dict[str, Any], name: str, errors: dict[str, list[str]], *, encoded: bool) -> str | None:
    value = body.get(name)
    if value is None:
        return None
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = str(value)
    try:
        if isinstance(value, str):
            # Bytes count in outputs; in other texts they would be invalid.
            errors_of_bytes = "surrogateescape" if name == "expected_output" else "replace"
            return _decoded(value).decode("utf-8", errors_of_bytes) if encoded else value
    except (binascii.Error, ValueError):
        errors.setdefault(name, []).append("isn't in base64")
        return None
    errors.setdefault(name, []).append("must be a string")
    return None


def _bytes_of(text: str) -> bytes:
    """Return the bytes of an output of a job that `keeps_bytes`."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:  # another surrogate, in a text that was sent as JSON
        return text.encode("utf-8", "replace")


def _decoded(text: str) -> bytes:
    """Decode base64, without or with padding; raises ValueError."""
    return base64.b64decode(text.encode("ascii").rstrip(b"\r\n =") + b"==")


def _number_of(body: dict[str, Any], name: str, errors: dict[str, list[str]]) -> float:
    limit, value = LIMITS[name], body.get(name)
    if value is None:
        return int(limit.default) if limit.whole else limit.default
    try:
        number = float(value) if isinstance(value, int | float | str) and not isinstance(value, bool) else None
    except (ValueError, OverflowError):
        number = None
    if number is None or math.isnan(number):
        message = "is not a number"
    elif number < limit.lowest:
        message = f"must be greater than or equal to {limit.lowest:g}"
    elif number > limit.highest:
        message = f"must be less than or equal to {limit.highest:.0f}"
    else:
        return int(number) if limit.whole else number
    errors.setdefault(name, []).append(message)
    return limit.default


def _language_of(
    value: Any, languages: Mapping[int, JudgeLanguage], errors: dict[str, list[str]]
) -> JudgeLanguage | None:
    if value in (None, ""):
        errors.setdefault("language_id", []).append("can't be blank")
        return None
    number = int(value) if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 9 else value
    if not isinstance(number, int) or number not in languages:
        errors.setdefault("language_id", []).append(f"language with id {str(value)[:20]} doesn't exist")
        return None
    return languages[number]


# What `zipfile` raises for archives that it can't read, beside ValueError and the like.
CORRUPT = (zipfile.BadZipFile, zlib.error, lzma.LZMAError)


def _files_of(value: Any, errors: dict[str, list[str]]) -> dict[str, bytes]:
    """Return the files of a zip archive in base64."""
    if not value:
        return {}
    try:
        if not isinstance(value, str):
            raise ValueError("not a string")
        with zipfile.ZipFile(io.BytesIO(_decoded(value))) as archive:
            members = [each for each in archive.infolist() if not each.is_dir()]
            if sum(each.file_size for each in members) > MOST_EXTRACTED * KILOBYTE:
                raise ValueError(f"its files have more than {MOST_EXTRACTED} KB")
            return {each.filename: _extracted(archive, each) for each in members}
    except (ValueError, RuntimeError, NotImplementedError, OSError, EOFError, *CORRUPT) as error:
        errors.setdefault("additional_files", []).append(f"isn't a zip archive in base64: {error}"[:200])
        return {}


def _extracted(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """Return a file of an archive; its size may be other than the archive says."""
    with archive.open(member) as file:
        data = file.read(member.file_size + 1)
    if len(data) > member.file_size:
        raise ValueError("a file is larger than it says")
    return data


def _job_of(given: dict[str, Any], language: JudgeLanguage, files: dict[str, bytes]) -> Job:
    size = int(given["max_file_size"]) * KILOBYTE
    limits = Limits(
        cpu_seconds=given["cpu_time_limit"],
        wall_seconds=given["wall_time_limit"],
        memory_bytes=int(given["memory_limit"]) * KILOBYTE,
        output_bytes=size,
        file_bytes=size,
        processes=int(given["max_processes_and_or_threads"]),
    )
    arguments = (given["command_line_arguments"] or "").translate(SHELL_SIGNS)
    try:
        words = shlex.split(arguments)
    except ValueError:
        words = arguments.split()
    program = Program.from_source(language.ours, given["source_code"])
    job = job_of(program, given["stdin"] or "", limits, files, words)
    inputs = tuple(job.inputs) * int(given["number_of_runs"])
    return Job(job.program, inputs, job.limits, job.driver, stop_after_failure=True, keeps_bytes=True)


def _result_of(report: Report, language: str, expected: str | None) -> dict[str, Any]:
    """Return the fields of a result; time and memory are averages of the runs."""
    runs, last = report.executions or (report.compilation,), report.last
    if not report.compiled and language in INTERPRETED:
        # The original doesn't compile it: a program that can't be compiled fails when it runs.
        status, compiler_says = (INTERNAL if last.status is Status.INTERNAL_ERROR else NONZERO), ""
    else:
        status, compiler_says = _status_of(last, expected, compiled=report.compiled), report.compilation.stderr
    if status == NOT_COMPILED:
        return {"status_id": status, "compile_output": compiler_says or None}
    return {
        "status_id": status,
        "stdout": last.stdout or None,
        "stderr": last.stderr or None,
        "compile_output": compiler_says or None,
        "message": _message_of(last, status),
        "exit_code": last.exit_code,
        "exit_signal": last.signal,
        "time": f"{sum(each.cpu_seconds for each in runs) / len(runs):.3f}",
        "wall_time": f"{sum(each.wall_seconds for each in runs) / len(runs):.3f}",
        "memory": sum(each.max_rss_bytes for each in runs) // len(runs) // KILOBYTE,
    }


def _status_of(execution: Execution, expected: str | None, *, compiled: bool) -> int:
    if execution.status is Status.INTERNAL_ERROR:
        return INTERNAL
    if not compiled:
        return NOT_COMPILED
    if execution.status is Status.TIME_LIMIT_EXCEEDED:
        return TIMED_OUT
    if execution.status is Status.OUTPUT_LIMIT_EXCEEDED:
        return XFSZ
    if execution.finished:
        right = expected is None or lines()("", expected, execution.stdout)
        return ACCEPTED if right else WRONG_ANSWER
    return NONZERO if execution.signal is None else BY_SIGNAL.get(execution.signal, OTHER)


def _message_of(execution: Execution, status: int) -> str | None:
    if status == INTERNAL:
        return execution.stderr or "the server couldn't run the program"
    if status == TIMED_OUT:
        return "Time limit exceeded"
    if execution.signal is not None:
        return f"Caught fatal signal {execution.signal}"
    return f"Exited with error status {execution.exit_code}" if execution.exit_code else None
