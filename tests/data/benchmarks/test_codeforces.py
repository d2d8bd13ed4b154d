"""Records of open-r1's Codeforces in the CodeContests schema."""

import pytest

from alpha_codium.data.schema import problem_from_record
from alpha_codium.errors import DatasetError
from tests.data.benchmarks.judging import verdicts
from tests.data.benchmarks.rows import codeforces_row


def test_a_problem_has_its_limits_its_tests_and_a_statement_of_all_parts():
    made = problem_from_record(codeforces_row(note="Any two will do."))
    assert (made.name, made.time_limit_seconds, made.memory_limit_bytes) == ("codeforces/9/A", 1.5, 64 << 20)
    assert [(test.input, test.output) for test in made.public_tests + made.private_tests] == [
        ("5", "2 3"),
        ("7", "3 4"),
    ]
    for part in ("# Two parts", "## Input\n\nThe number n.", "## Note\n\nAny two will do.", "Output:\n\n2 3"):
        assert part in made.description
    assert "Interaction" not in made.description


def test_a_generated_checker_decides_and_without_one_the_words_do():
    first, second = "n = int(input())\nprint(0, n)", "n = int(input())\nprint(n // 2, n - n // 2)"
    plain, wrong = codeforces_row(generated_checker=None), "print(1, 1)"
    work = [(codeforces_row(), first), (codeforces_row(), second), (codeforces_row(), wrong)]
    work += [(plain, first), (plain, second)]
    assert verdicts(work) == ["accepted", "accepted", "wrong_answer", "wrong_answer", "accepted"]


def test_a_problem_may_read_and_write_files():
    program = "n = int(open('input.txt').read())\nprint(n, 0, file=open('output.txt', 'w'))"
    assert verdicts([(codeforces_row(input_mode="file"), program)]) == ["accepted"]


def test_a_problem_that_talks_has_no_tests():
    made = problem_from_record(codeforces_row(interaction_format="Ask."))
    assert not made.public_tests and not made.private_tests


def test_a_malformed_test_is_one_line():
    with pytest.raises(DatasetError, match=r"('9/A').*official_tests\[0\] must be an object"):
        problem_from_record(codeforces_row(official_tests=["7"]), "row 3")
