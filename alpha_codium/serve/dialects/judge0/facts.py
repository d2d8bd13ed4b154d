"""What Judge0's dialect says of itself: its languages, statuses and limits."""

import re
from dataclasses import dataclass
from typing import Any

from alpha_codium.program import PYTHON
from alpha_codium.serve.dialects.asking import Server
from alpha_codium.serve.requests import MOST_MEMORY, MOST_SECONDS

# The version whose API this is; clients know the languages' numbers by it.
VERSION = "1.13.1"
MOST_IN_BATCH = 20
STATUSES = {
    1: "In Queue",
    2: "Processing",
    3: "Accepted",
    4: "Wrong Answer",
    5: "Time Limit Exceeded",
    6: "Compilation Error",
    7: "Runtime Error (SIGSEGV)",
    8: "Runtime Error (SIGXFSZ)",
    9: "Runtime Error (SIGFPE)",
    10: "Runtime Error (SIGABRT)",
    11: "Runtime Error (NZEC)",
    12: "Runtime Error (Other)",
    13: "Internal Error",
    14: "Exec Format Error",
}
KILOBYTE = 1024
NUMBER = re.compile(r"(?<!\d)\d+(?:\.\d+)+")


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit in requests: its default, the lowest and the highest value."""

    default: float
    lowest: float
    highest: float
    whole: bool = False


# The stack isn't limited: programs may use as much as they may use memory.
LIMITS = {
    "number_of_runs": Limit(1, 1, 20, whole=True),
    "cpu_time_limit": Limit(5, 0.001, MOST_SECONDS),
    "cpu_extra_time": Limit(1, 0, MOST_SECONDS),
    "wall_time_limit": Limit(10, 1, 2 * MOST_SECONDS),
    "memory_limit": Limit(128_000, 2048, MOST_MEMORY // KILOBYTE, whole=True),
    "stack_limit": Limit(64_000, 0, MOST_MEMORY // KILOBYTE, whole=True),
    "max_processes_and_or_threads": Limit(60, 1, 120, whole=True),
    "max_file_size": Limit(1024, 1, 16 * KILOBYTE, whole=True),
}
MOST_EXTRACTED = 10_240
# What requests may not ask for, with the original's words.
FORBIDDEN = {
    "compiler_options": "setting compiler options is not allowed",
    "callback_url": "setting callback is not allowed",
    "enable_network": "enabling network is not allowed",
    "redirect_stderr_to_stdout": "redirecting stderr to stdout is not allowed",
    "enable_per_process_and_thread_time_limit": "this option cannot be enabled",
    "enable_per_process_and_thread_memory_limit": "this option cannot be enabled",
}


@dataclass(frozen=True, slots=True)
class JudgeLanguage:
    """A language by the original's number; its name without the version is `title`, and the name of a `compiler`."""

    id: int
    title: str
    ours: str
    compiler: str = ""

    def name(self, server: Server) -> str:
        """Return the name with the version, if that is known."""
        found = NUMBER.search(server.languages[self.ours])
        version = " ".join(filter(None, (self.compiler, found[0] if found else "")))
        return f"{self.title} ({version})" if version else self.title


# The original's numbers are those of versions: each stands for the version that the server has.
NUMBERS = {
    (PYTHON, "Python", ""): (71, 92, 100, 109),
    ("python2", "Python", ""): (70,),
    ("c", "C", "GCC"): (48, 49, 50, 103),
    ("cpp", "C++", "GCC"): (52, 53, 54, 105),
    ("java", "Java", "OpenJDK"): (62, 91),
    ("kotlin", "Kotlin", ""): (78,),
    ("javascript", "JavaScript", "Node.js"): (63, 93, 97, 102),
    ("typescript", "TypeScript", ""): (74, 94, 101),
    ("go", "Go", ""): (60, 95, 106, 107),
    ("rust", "Rust", ""): (73, 108),
    ("csharp", "C#", "Mono"): (51,),
    ("ruby", "Ruby", ""): (72,),
}
LANGUAGES = tuple(
    JudgeLanguage(number, title, ours, compiler)
    for (ours, title, compiler), numbers in NUMBERS.items()
    for number in numbers
)


def languages_of(server: Server) -> dict[int, JudgeLanguage]:
    """Return the languages that the server runs, by their numbers."""
    return {language.id: language for language in LANGUAGES if language.ours in server.languages}


def config_info(most_queued: int) -> dict[str, Any]:
    """Return the answer of `/config_info`."""
    limits: dict[str, Any] = {}
    for name, limit in LIMITS.items():
        kind = int if limit.whole else float
        limits |= {name: kind(limit.default), f"max_{name}": kind(limit.highest)}
    return {
        "maintenance_mode": False,
        "enable_wait_result": True,
        "enable_compiler_options": False,
        "allowed_languages_for_compile_options": [],
        "enable_command_line_arguments": True,
        "enable_submission_delete": False,
        "enable_callbacks": False,
        "callbacks_max_tries": 0,
        "callbacks_timeout": 0.0,
        "enable_additional_files": True,
        "max_queue_size": most_queued,
        **limits,
        "enable_per_process_and_thread_time_limit": False,
        "allow_enable_per_process_and_thread_time_limit": False,
        "enable_per_process_and_thread_memory_limit": False,
        "allow_enable_per_process_and_thread_memory_limit": False,
        "redirect_stderr_to_stdout": False,
        "max_extract_size": MOST_EXTRACTED,
        "enable_batched_submissions": True,
        "max_submission_batch_size": MOST_IN_BATCH,
        "submission_cache_duration": 0.0,
        "use_docs_as_homepage": False,
        "allow_enable_network": False,
        "enable_network": False,
        "disable_implicit_base64_encoding": True,
    }
