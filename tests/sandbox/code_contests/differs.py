"""Tests of the conformance suite that the C++ sandbox is known to fail, and why: data for `backends`."""

SIGNALS = "a program that signals itself or another is ended for the call: sandbox_violation"
PROCESSES = "fork and vfork are not allowed: sandbox_violation"
SOCKETS = "socket() is not allowed, and that ends the program: nothing is left that could catch an error"
SLEEP = "Python 3.11 and later sleep by clock_nanosleep, which its list of calls doesn't have: sandbox_violation"
FOLDER = "the working folder is /, and nothing can be written to"
PAIRS = "it can't run two programs with a channel between them: PairUnsupported"

DIFFERS: dict[str, str] = {
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
    "test_an_attack_on_the_judge_ends_as_it_should[13_daemon_late_output.py]": PROCESSES,
    "test_an_attack_on_the_judge_ends_as_it_should[26_fd_leak.py]": (
        "descriptor 1023 stays open: sandbox2's own channel; what is written to it changes no result (test_backend)"
    ),
    "test_an_attack_on_the_judge_ends_as_it_should[53_zombie_army.py]": PROCESSES,
    "test_an_attack_on_the_judge_ends_as_it_should[61_atexit_hang.py]": "no thread can be started: sandbox_violation",
    "test_folders_nested_too_deep_for_shutil_are_removed_too": FOLDER,
    "test_a_cancelled_run_that_was_still_waiting_never_starts": SLEEP,
    "test_a_driver_never_stands_in_the_programs_folder": FOLDER,
    "test_a_traceback_through_a_driver_shows_the_programs_line": (
        "the program stands in the text of its driver, so there is no file that its lines could be read from"
    ),
    "test_two_programs_talk_over_the_channel": PAIRS,
    "test_the_end_of_one_side_is_the_end_of_the_channel": PAIRS,
    "test_a_side_that_does_not_compile_keeps_both_from_running": PAIRS,
    "test_a_limit_that_one_side_reaches_is_its_own": PAIRS,
    "test_sides_that_wait_for_each_other_reach_the_wall_limit": PAIRS,
    "test_many_pairs_and_programs_at_once_get_their_own_answers": PAIRS,
    "test_a_pair_that_is_called_off_leaves_the_sandbox_whole": PAIRS,
}
