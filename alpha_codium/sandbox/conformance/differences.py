"""Tests of the suite that one of our backends is known to fail or can't run, each with the reason.

A key is the name of a test, `test_name` for all its parameters or `test_name[parameters]`.
"""

from collections.abc import Mapping

# Name of the backend -> name of the test -> reason.
Differences = Mapping[str, Mapping[str, str]]

SIGNALS = "a program that signals itself or another is ended for the call: sandbox_violation"
PROCESSES = "fork and vfork are not allowed: sandbox_violation"
SOCKETS = "socket() is not allowed, and that ends the program: nothing is left that could catch an error"
SLEEP = "Python 3.11 and later sleep by clock_nanosleep, which its list of calls doesn't have: sandbox_violation"
FOLDER = "the working folder is /, and nothing can be written to"

CODE_CONTESTS = {
    "test_time_and_memory_that_are_told_are_plausible": "it doesn't say how much memory was used: 0",
    "test_a_signal_is_a_runtime_error": SIGNALS,
    "test_sleeping_reaches_the_wall_limit": SLEEP,
    "test_too_much_output_is_an_output_limit_and_the_first_of_it_is_kept": (
        "it keeps all that is printed: a flood ends the child, and the output is lost with it"
    ),
    "test_each_input_gets_a_process_and_a_folder_of_its_own": FOLDER,
    "test_an_orphan_does_not_keep_the_test_from_ending": PROCESSES,
    "test_there_is_no_network_not_even_to_ourselves": SOCKETS,
    "test_abstract_unix_sockets_of_the_host_are_out_of_reach": SOCKETS,
    "test_other_processes_can_neither_be_seen_nor_signalled": SIGNALS,
    "test_killing_all_it_can_reach_kills_the_program_only": SIGNALS,
    "test_a_daemon_is_dead_before_the_next_test_and_its_output_is_nobodys": PROCESSES,
    "test_cpu_time_of_children_counts": PROCESSES,
    "test_a_stopped_program_that_ignores_signals_ends_at_the_wall_limit": SIGNALS,
    "test_folders_nested_too_deep_for_shutil_are_removed_too": FOLDER,
    "test_a_cancelled_run_that_was_still_waiting_never_starts": SLEEP,
    "test_a_driver_never_stands_in_the_programs_folder": FOLDER,
    "test_a_traceback_through_a_driver_shows_the_programs_line": (
        "the program stands in the text of its driver, so there is no file that its lines could be read from"
    ),
}

DEAR = "under ptrace a system call takes 30 microseconds, a fork 15 milliseconds: the limits suit another kernel"
CLOCK = "its programs burn by their own clock, and gVisor's counts waiting, too"
DEVICES = "a test can set the times of the worker's own devices: gVisor of 2022 has no read-only binds"
CALLS = "many attacks end with sandbox_violation where they were to finish; honest programs can't write files"
ATTACK = "test_a_hostile_program_ends_as_its_first_line_says"

GVISOR = {
    "test_time_and_memory_that_are_told_are_plausible": CLOCK,
    "test_cpu_time_above_the_limit_is_a_time_limit_even_where_the_program_ended": CLOCK,
    "test_cpu_time_of_children_counts": CLOCK,
    f"{ATTACK}[hidden_cpu_double_fork.py]": CLOCK,
    f"{ATTACK}[hidden_cpu_ignored_children.py]": CLOCK,
    f"{ATTACK}[many_short_burners.py]": CLOCK,
    f"{ATTACK}[times_of_devices.py]": DEVICES,
    "test_a_flood_on_stderr_harms_nothing_and_its_end_is_kept": DEAR,
}

REMOTE = {
    "test_an_input_is_run_only_when_its_execution_is_asked_for": "inputs are sent in groups, which spares requests",
}

# Tests marked `xfail(strict=True)`: remove those that pass.
FAILS: Differences = {"code_contests": CODE_CONTESTS, "remote": REMOTE}
SKIPPED: Differences = {
    "gvisor": GVISOR,
    "oci": GVISOR,
    "code_contests": {
        ATTACK: CALLS,
        "test_an_honest_program_is_answered_right_among_hostile_ones": CALLS,
        "test_hostile_programs_leave_no_process_and_no_change": CALLS,
    },
}


def reason_in(table: Differences, test: str, identifier: str, backend: str) -> str:
    """Return the reason for a test with a backend, or an empty string; `identifier` is the id of its parameters."""
    reasons, others = table.get(backend, {}), identifier.replace(backend, "", 1).strip("-")
    return reasons.get(f"{test}[{others}]") or reasons.get(test, "")
