"""A command that reads a case as a line of JSON, and prints a line `{"accepted": true}` or `{"accepted": false}`.

It is started for each case, and says which forms it grades when it gets the line `{"form": null}`:
`{"forms": ["stdin", "stdin cpp"]}`.
"""

import json
import os
import shlex
import subprocess

command = shlex.split(os.environ["GENCODE_AUDIT_TARGET"])


def ask(**case):
    """Return the command's answer to one line."""
    done = subprocess.run(command, input=json.dumps(case) + "\n", capture_output=True, text=True)
    lines = done.stdout.splitlines()
    if not lines:
        said = [line.strip() for line in done.stderr.splitlines() if line.strip()] or ["nothing on stderr"]
        why = next((line for line in said if "rror" in line), said[-1])
        raise RuntimeError("the command printed nothing, and ended with status %d: %s" % (done.returncode, why))
    return json.loads(lines[-1])


forms = ask(form=None)["forms"]
LANGUAGES = [form.split()[1] for form in forms if " " in form]

if "stdin" in forms:

    def grade(program, inputs, outputs, language=""):
        """Return the answer for a program with inputs and outputs."""
        return ask(form=("stdin " + language).strip(), program=program, inputs=inputs, outputs=outputs)["accepted"]


if "call" in forms:

    def grade_call(program, function, arguments, results):
        """Return the answer for a program with a function that is called."""
        case = {"program": program, "function": function, "arguments": arguments, "results": results}
        return ask(form="call", **case)["accepted"]


if "assertions" in forms:

    def grade_assertions(program, tests, function):
        """Return the answer for a program with assertions."""
        return ask(form="assertions", program=program, tests=tests, function=function)["accepted"]
