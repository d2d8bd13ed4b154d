"""Which program of an answer is judged, where its text hides it: as docs/reward_functions.md says."""

import pytest

from alpha_codium.rewards import CodeReward

RIGHT, WRONG = "print(2 * int(input()))", "print(int(input()) + 1)"
TESTS = [["1", "2"], ["21", "42"], ["5", "10"]]


def fenced(code, tag="python"):
    return f"```{tag}\n{code}\n```\n"


@pytest.mark.parametrize(
    ("answer", "reward"),
    [
        (fenced(RIGHT), 1.0),
        (RIGHT, 1.0),
        # Of two programs the last counts.
        (fenced(WRONG) + fenced(RIGHT), 1.0),
        (fenced(RIGHT) + fenced(WRONG), 0.0),
        # But no short afterthought, and nothing that isn't a program.
        (fenced(f"def solve(number):\n    return 2 * number\n\n\n{RIGHT}") + "Run it:\n" + fenced("echo 1", "sh"), 1.0),
        # What was only thought about doesn't count.
        (f"<think>\n{fenced(WRONG)}</think>\n{fenced(RIGHT)}", 1.0),
        (f"<think>\n{fenced(RIGHT)}</think>\n{fenced(WRONG)}", 0.0),
        (f"<think>\n{fenced(RIGHT)}</think>\nI give up.", 0.0),
        (f"<think>\n{fenced(RIGHT)}", 0.0),
        # An answer that ends within its program is judged as far as it goes.
        (f"```python\n{RIGHT}", 1.0),
        ("```python\nn = int(input())\nprint(2 *", 0.0),
        # Blocks of other languages, refusals and data contain no program.
        (fenced("int main() { return 0; }", "cpp"), 0.0),
        ("I can't do this.", 0.0),
        ("42", 0.0),
        ("", 0.0),
        (f'{{"code": {RIGHT!r}}}', 1.0),
    ],
)
def test_the_program_of_an_answer_is_found_where_the_page_says(sandbox, answer, reward):
    (scored,) = CodeReward(sandbox=sandbox).score([answer], [TESTS])
    assert scored.reward == reward, scored


def test_a_later_block_adds_nothing_to_the_program(sandbox):
    completed = "def double(number):\n    return 2 * number\n"
    answer = fenced("x = int(input())\nprint(double(x))\n# the helper comes below") + fenced(completed)
    (scored,) = CodeReward(sandbox=sandbox).score([answer], [TESTS])
    assert scored.reward == 0.0
