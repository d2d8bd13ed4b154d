import pytest
from hypothesis import given
from hypothesis import strategies as st

from alpha_codium.data.samples.names import TaskNames

HUMANEVAL = TaskNames([f"HumanEval/{n}" for n in range(164)])
MBPP = TaskNames([f"Mbpp/{n}" for n in range(1, 975)])
MULTIPL_E = TaskNames(["mbpp_3_is_not_prime", "mbpp_809_check_smaller"])
CONTESTS = TaskNames(["1575_A. Another Sorting Problem", "1575_B. Building an Amusement Park", "1575", "p_1575"])


@pytest.mark.parametrize(
    ("names", "task", "name"),
    [
        (HUMANEVAL, "HumanEval/0", "HumanEval/0"),
        (HUMANEVAL, "humaneval_17", "HumanEval/17"),
        (HUMANEVAL, "HumanEval_17_parse_music", "HumanEval/17"),
        (HUMANEVAL, 17, "HumanEval/17"),
        (HUMANEVAL, " 17 ", "HumanEval/17"),
        (HUMANEVAL, "Mbpp/17", None),
        (HUMANEVAL, "HumanEval/164", None),
        (HUMANEVAL, "has_close_elements", None),
        (MBPP, "MBPP/11", "Mbpp/11"),
        (MBPP, 11, "Mbpp/11"),
        (MBPP, "mbpp_11_remove_Occ", "Mbpp/11"),
        (MULTIPL_E, "mbpp_809_check_smaller", "mbpp_809_check_smaller"),
        (MULTIPL_E, "MBPP/809", "mbpp_809_check_smaller"),
        (MULTIPL_E, 809, "mbpp_809_check_smaller"),
        (MULTIPL_E, "mbpp_809_check_larger", None),
        (CONTESTS, "1575_A. Another Sorting Problem", "1575_A. Another Sorting Problem"),
        (CONTESTS, "1575_A", None),
        (CONTESTS, "1575", "1575"),
        (CONTESTS, "x_1575", None),
        (TaskNames(["apps/test/4000", "apps/4001"]), "4000", "apps/test/4000"),
        (TaskNames(["apps/test/7", "apps/train/7"]), "7", None),
        (TaskNames(["apps/test/7", "apps/train/7"]), "apps_train_7", "apps/train/7"),
        (TaskNames(["apps/test/7"]), "apps/train/7", None),
        (TaskNames(["apps/test/7"]), "apps/7", "apps/test/7"),
        (TaskNames(["apps/7"]), "apps/test/7", "apps/7"),
        (TaskNames(["mbpp/validation/7"]), "mbpp/valid/7", "mbpp/validation/7"),
    ],
)
def test_an_id_means_one_problem_or_none(names, task, name):
    assert names.find(task) == name


@pytest.mark.thorough
@given(st.lists(st.text(), unique=True))
def test_every_name_means_its_own_problem(names):
    known = TaskNames(names)
    assert [known.find(name) for name in names if name == name.strip()] == [n for n in names if n == n.strip()]


@given(st.lists(st.text(), unique=True, max_size=5), st.text() | st.integers())
def test_what_is_found_is_a_problem_of_the_split(names, task):
    assert TaskNames(names).find(task) in [None, *names]
