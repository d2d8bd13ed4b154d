"""Answers with a program in them, each with the program that must come out, and answers without one."""

# ruff: noqa: E501 - an answer is best seen on one line

ADD = "a, b = map(int, input().split())\nprint(a + b)\n"
SOLVE = 'import sys\n\n\ndef solve(n):\n    """The answer."""\n    return n * 2\n\n\nprint(solve(int(sys.stdin.readline())))\n'
FENCED = f"```python\n{ADD}```"
DOCSTRING = 'def solve(n):\n    """Twice `n`.\n\n    ```\n    solve(2) == 4\n    ```\n    """\n    return 2 * n\n\n\nprint(solve(int(input())))\n'
FLAT_DOCSTRING = 'HELP = """\n```\nsolve(2)\n```\n"""\nprint(input(), HELP)\n'
TAGGED_DOCSTRING = 'def f(n):\n    """Example:\n\n```python\nf(2)\n```\n    """\n    return n\n\nprint(f(input()))\n'
TABS = "def f(x):\n\tif x:\n\t\treturn 1\n\treturn 0\n\nprint(f(int(input())))\n"
BROKEN = "n = int(input()\nfor i in range(n)\n    print(i)\n"
PYTHON2 = "n = input()\nprint 'Hello', n\n"
BRUTE = "n = int(input())\nbest = 0\nfor i in range(n):\n    for j in range(n):\n        best = max(best, i ^ j)\nprint(best)\n"
FAST = "n = int(input())\nprint((1 << max(0, n - 1).bit_length()) - 1)\n" * 1
TRUNCATED = "import sys\n\n\ndef main():\n    data = sys.stdin.read().split()\n    for i in range(len(da"
SNIPPET = "n = int(input())\n"
INDENTED = "".join(f"   {line}" if line.strip() else line for line in SOLVE.splitlines(keepends=True))
STRING_AT_MARGIN = 'def f():\n    return """\nx\n"""\n\nprint(f(), input())\n'

CODE = {
    "prose before and after": (f"Sure! Here is my solution:\n\n{FENCED}\n\nIt reads two numbers and adds them.", ADD),
    "nothing but the fence": (FENCED, ADD),
    "the tag py": (f"```py\n{ADD}```", ADD),
    "the tag Python3": (f"```Python3\n{ADD}```", ADD),
    "the tag PYTHON": (f"```PYTHON\n{ADD}```", ADD),
    "the tag python 3.11": (f"```python3.11\n{ADD}```", ADD),
    "a tag of Pandoc": (f"```{{.python .numberLines}}\n{ADD}```", ADD),
    "a tag of R Markdown": (f"```{{python}}\n{ADD}```", ADD),
    "a tag with a title": (f'```python title="solution.py"\n{ADD}```', ADD),
    "a file name as tag": (f"```solution.py\n{ADD}```", ADD),
    "a space before the tag": (f"``` python\n{ADD}```", ADD),
    "no tag": (f"Here:\n```\n{ADD}```\nDone.", ADD),
    "tildes": (f"~~~python\n{ADD}~~~\n", ADD),
    "tildes without a tag": (f"Code:\n~~~\n{ADD}~~~\n", ADD),
    "four backticks": (f"````python\n{FLAT_DOCSTRING}````\n", FLAT_DOCSTRING),
    "no fence but one inside a docstring": (
        DOCSTRING.replace("    ```\n", "    ```python\n", 1),
        DOCSTRING.replace("    ```\n", "    ```python\n", 1),
    ),
    "a fence inside a docstring": (f"```python\n{DOCSTRING}```\nBye.", DOCSTRING),
    "a fence at the margin inside a string": (f"```python\n{FLAT_DOCSTRING}```\nBye.", FLAT_DOCSTRING),
    "a tagged fence inside a docstring": (f"```python\n{TAGGED_DOCSTRING}```\nBye.", TAGGED_DOCSTRING),
    "a fence inside a fence of Markdown": (f"```markdown\n# Solution\n```python\n{ADD}```\n```\n", ADD),
    "a fence inside a longer fence of Markdown": (f"````md\nText\n```python\n{ADD}```\n````\n", ADD),
    "tabs": (f"```python\n{TABS}```", TABS),
    "line ends of Windows": (FENCED.replace("\n", "\r\n") + "\r\nbye\r\n", ADD.replace("\n", "\r\n")),
    "a fence in a list item": (f"1. Read the numbers.\n2. Print:\n   ```python\n{INDENTED}   ```\n3. Done.", SOLVE),
    "a fence right after a list marker": (f"1. ```python\n{INDENTED}   ```\n", SOLVE),
    "an indented fence around code at the margin": (f"   ```python\n{SOLVE}   ```\n", SOLVE),
    "an indented fence around a string at the margin": (
        f"  ```python\n{''.join('  ' + x if x.strip() not in ('x', chr(34) * 3) else x for x in STRING_AT_MARGIN.splitlines(True))}  ```",
        STRING_AT_MARGIN,
    ),
    "a trailing word after the closing fence": (f"```python\n{ADD}``` Done!\n", ADD),
    "the closing fence at the end of the last line": (f"```python\n{ADD.rstrip()}```\nDone.", ADD.rstrip()),
    "a byte order mark at the start": ("\ufeff" + FENCED, ADD),
    "a zero-width space before the fence": ("\u200b" + FENCED, ADD),
    "a byte order mark inside the fence": (f"```python\n\ufeff{ADD}```", ADD),
    "data before the program": (f"For this input\n```\n3 4\n1 2 3\n```\nrun\n{FENCED}", ADD),
    "one number in a fence before the program": (f"Input:\n```\n5\n```\n```\n{ADD}```", ADD),
    "data after the program": (f"{FENCED}\nExample:\n```input\n1 2\n```\n```output\n3\n```", ADD),
    "a usage example after the program": (f"```python\n{SOLVE}```\nUse it:\n```python\nprint(solve(2))\n```", SOLVE),
    "a shell command after the program": (f"{FENCED}\nRun it:\n```bash\npython3 solution.py < input.txt\n```", ADD),
    "steps before the program": (f"First read:\n```python\n{SNIPPET}```\nAll of it:\n```python\n{BRUTE}```", BRUTE),
    "the steps repeated after the program": (f"```python\n{BRUTE}```\nLine by line:\n```python\n{SNIPPET}```", BRUTE),
    "a corrected program after a wrong one": (
        f"```python\n{BRUTE}```\nWait, that's too slow. Corrected:\n```python\n{FAST}```",
        FAST,
    ),
    "imports in a fence of their own": (
        "```python\nimport math\n```\nThen:\n```python\ndef f(x):\n    return math.floor(x)\n```",
        "import math\n\ndef f(x):\n    return math.floor(x)\n",
    ),
    "a helper in a fence of its own, and what the helper needs": (
        "```\nK = 2\n```\n```python\ndef half(x):\n    return x // K\n```\n```python\ndef f(x):\n    return half(x + 1)\n```",
        "K = 2\n\ndef half(x):\n    return x // K\n\ndef f(x):\n    return half(x + 1)\n",
    ),
    "a helper before a program that has a docstring and imports from the future": (
        '```python\nN = 2\n```\n```python\n"""Twice."""\nfrom __future__ import annotations\ndef f(x):\n    return x * N\n```',
        '"""Twice."""\nfrom __future__ import annotations\nN = 2\n\n\ndef f(x):\n    return x * N\n',
    ),
    "a version before that defines the same names": (
        "```python\nimport math\ndef f(x):\n    return math.floor(x)\n```\n```python\nimport math\ndef f(x):\n    return math.ceil(x)\n```",
        "import math\ndef f(x):\n    return math.ceil(x)\n",
    ),
    "names that only a block in another language or a broken one has": (
        "```text\nN = 2\n```\n```python\nN = (2\n```\n```python\ndef f(x):\n    return x * N\n```",
        "def f(x):\n    return x * N\n",
    ),
    "a unittest after the program": (
        "```python\ndef f(x):\n    return x + 1\n```\n```python\nimport unittest\n\nclass FTests(unittest.TestCase):\n"
        "    def test_f(self):\n        self.assertEqual(f(1), 2)\n\nunittest.main()\n```",
        "def f(x):\n    return x + 1\n",
    ),
    "another language first": (f"In C++:\n```cpp\nint main() {{ return 0; }}\n```\nIn Python:\n{FENCED}", ADD),
    "a tagged program before an untagged one": (f"{FENCED}\n```\n{BRUTE}```", ADD),
    "a whole program without a tag after a tagged step": (f"```python\n{SNIPPET}```\n```\n{BRUTE}```", BRUTE),
    "a program under the tag text": (f"```text\n{BRUTE}```", BRUTE),
    "a forgotten closing fence before the next": (f"```python\n{SNIPPET}\n```python\n{BRUTE}```", BRUTE),
    "a fence left open": (f"Here:\n```python\n{ADD}", ADD),
    "a fence left open before prose": (f"Here:\n```python\n{ADD}\nThis adds the numbers.\nIt's O(1).\n", ADD + "\n"),
    "a closing fence only": (f"{ADD}```\nThis adds the numbers.", ADD),
    "code that doesn't parse": (f"Here:\n```python\n{BROKEN}```\nBye.", BROKEN),
    "code that doesn't parse, without a tag": (f"Here:\n```\n{BROKEN}```\nBye.", BROKEN),
    "Python 2": (f"```python\n{PYTHON2}```", PYTHON2),
    "a session with the interpreter": (
        "```python\n>>> def f(x):\n...     return x\n...\n>>> print(f(1))\n1\n```",
        "def f(x):\n    return x\n\nprint(f(1))\n",
    ),
    "thinking first": (f"<think>\nMaybe\n```python\nprint(0)\n```\nno.\n</think>\n\n{FENCED}", ADD),
    "thinking without its opening tag": (f"Maybe ```print(0)```, no.\n</think>\n{FENCED}", ADD),
    "thinking under another name": (f"<Thinking>def f(): pass</Thinking>\n{FENCED}", ADD),
    "tags of thinking inside the program": (
        "```python\nprint(input())\nprint('''\n<think>\n''')\n```",
        "print(input())\nprint('''\n<think>\n''')\n",
    ),
    "a token at the end": (f"{FENCED}<|im_end|>", ADD),
    "tokens after an open fence": (f"```python\n{ADD}<|im_end|>\n<|endoftext|>\n", ADD),
    "a token inside the program": ("```python\nprint(input() + '<|im_end|>')\n```", "print(input() + '<|im_end|>')\n"),
    "no fence": (ADD, ADD),
    "no fence, white space before": ("\n  " + ADD, ADD),
    "no fence, a token at the end": (f"{ADD}</s>", ADD),
    "no fence, prose before": (f"Here is the code:\n\n{ADD}", ADD),
    "no fence, prose before and after": (f"Here is the code:\n\n{SOLVE}\nThis doubles the number.\n", SOLVE + "\n"),
    "no fence, a heading after, which is a comment": (
        f"{SOLVE}\n## Why\n\nIt doubles `n`, that's all.\n",
        SOLVE + "\n## Why\n\n",
    ),
    "no fence, tags around": (f"[PYTHON]\n{ADD}[/PYTHON]\n", ADD),
    "an echo of the prompt": (f"### Instruction:\nWrite a program.\n\n### Response:\n{FENCED}", ADD),
    "a block of YAML": ("code: |\n  " + ADD.replace("\n", "\n  ").rstrip() + "\nwhy: it adds\n", ADD),
    "a block of YAML in a fence": (
        "```yaml\nwhy: it adds\ncode: |\n  " + ADD.replace("\n", "\n  ").rstrip() + "\n```",
        ADD,
    ),
    "a fence in a block of YAML": ("code: |\n  ```python\n  " + ADD.replace("\n", "\n  ") + "```\nwhy: it adds\n", ADD),
    "a fence in a block of YAML in a fence": (
        "```yaml\ncode: |\n  ```python\n  " + ADD.replace("\n", "\n  ") + "```\nwhy: it adds\n```",
        ADD,
    ),
    "JSON": ('{"why": "it adds", "code": "a, b = map(int, input().split())\\nprint(a + b)\\n"}', ADD),
    "JSON in a fence, a fence in its text": (
        '```json\n{"code": "```python\\nprint(input())\\n```"}\n```',
        "print(input())\n",
    ),
    "JSON with line breaks in its text": ('{"code": "print(input())\nprint(2)", }', "print(input())\nprint(2)"),
    "escapes of HTML stay": ("```python\nprint(input() &lt; '1')\n```", "print(input() &lt; '1')\n"),
    "control characters stay": ("```python\nprint(input(), '\x0c\x1b[0m')\n```", "print(input(), '\x0c\x1b[0m')\n"),
    "braces of Jinja stay": (
        "```python\nprint(input(), '{{ x }} {% y %}')\n```",
        "print(input(), '{{ x }} {% y %}')\n",
    ),
    "separators of lines inside a string stay": (
        "```python\nprint(input(), '\u2028\x85')\n```",
        "print(input(), '\u2028\x85')\n",
    ),
    "trailing spaces stay": ("```python\nprint(input())   \n\n\n```", "print(input())   \n\n\n"),
    "everything indented inside the fence stays": ("```python\n    print(input())\n```", "    print(input())\n"),
}

NO_CODE = {
    "nothing": "",
    "white space": " \n\n\t",
    "a refusal": "I'm sorry, but I can't help with that.",
    "a refusal of one word": "No",
    "prose with a colon": "Note: impossible",
    "an empty fence": "```python\n```",
    "a fence of white space": "```python\n\n   \n```",
    "a fence of comments": "```python\n# your code here\n```",
    "a fence of data": "```\n5\n```",
    "several numbers in a fence": "```\n3\n1 2 3\n```",
    "another language": "```cpp\n#include <iostream>\nint main() { return 0; }\n```",
    "thinking that never ends": f"<think>\nLet me try\n{FENCED}\nor maybe",
    "nothing after the thinking": f"<think>{ADD}</think>",
    "only tokens": "<|im_end|>",
    "a formula": "The answer is $n(n+1)/2$ modulo 10^9+7.",
    "a plan": "1. Read n.\n2. Sort the numbers.\n3. Print the first.",
    "a table": "| n | answer |\n|---|---|\n| 1 | 2 |",
    "JSON without a program": '{"code": "", "answer": "42"}',
}
