"""open-r1's code_reward, of a clone in PYTHONPATH (its folder `src`); with `pip install math-verify jinja2`.

Its providers run scripts on other machines; a function that runs them here takes their place.
"""

import ast
import textwrap

from open_r1 import rewards


class Here:
    """A provider that runs scripts here; the value of a script is that of its last line, as in a notebook."""

    def execute_scripts(self, scripts, languages):
        """The values of some scripts; 0 for one that raises, as its providers have it."""
        return [self.value_of(script) for script in scripts]

    def value_of(self, script):
        """The value of one script."""
        tree = ast.parse(textwrap.dedent(script))
        last, names = ast.Expression(tree.body.pop().value), {}
        try:
            exec(compile(tree, "script", "exec"), names)
            return eval(compile(last, "script", "eval"), names)
        except Exception:
            return 0.0


rewards.get_provider = lambda **_: Here()


def grade(program, inputs, outputs):
    """Whether its reward is 1."""
    cases = [{"input": i, "output": o, "type": "stdin_stdout"} for i, o in zip(inputs, outputs)]
    answer = [{"role": "assistant", "content": "```python\n" + program + "\n```"}]
    given = {"verification_info": [{"language": "python", "test_cases": cases}]}
    return rewards.code_reward([answer], provider_type="here", **given)[0] == 1
