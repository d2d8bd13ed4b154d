"""Tests of the conformance suite that can't be asked of programs in gVisor, and why: data for `backends`."""

UNSEEN = "no process in gVisor can be seen from the host; tests/sandbox/gvisor/test_ends.py asks the same another way"
DEAR = "under ptrace a system call takes 30 microseconds, a fork 15 milliseconds: the limits suit another kernel"
CLOCK = "its programs burn by their own clock, and gVisor's counts waiting, too; test_backend asks the same another way"

LEFT_OUT = {
    "test_a_cancelled_run_ends_its_program_at_once_and_the_next_one_works": UNSEEN,
    "test_leaving_the_sandbox_ends_what_still_runs": UNSEEN,
    "test_killing_gencode_ends_what_it_runs": UNSEEN,
    "test_time_and_memory_that_are_told_are_plausible": CLOCK,
    "test_cpu_time_above_the_limit_is_a_time_limit_even_where_the_program_ended": CLOCK,
    "test_cpu_time_of_children_counts": CLOCK,
    "test_a_flood_on_stderr_harms_nothing_and_its_end_is_kept": DEAR,
    "test_an_attack_on_the_judge_ends_as_it_should[53_zombie_army.py]": DEAR,
}
