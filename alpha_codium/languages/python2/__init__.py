"""Python 2."""

import re

from alpha_codium.languages.compiled import Script
from alpha_codium.languages.python import LANGUAGE as PYTHON

FILE = "main.py"
# `compile` doesn't check that the encoding of a text that isn't ASCII is declared (PEP 263); running the file does.
CHECK = f"""
import re
text = open({FILE!r}).read()
head = "\\n".join(text.split("\\n", 2)[:2])
if not text.startswith("\\xef\\xbb\\xbf") and not re.search(r"(?m)^[ \\t\\f]*#.*?coding[:=][ \\t]*[-\\w.]", head):
    try:
        text.decode("ascii")
    except UnicodeDecodeError:
        raise SyntaxError("Non-ASCII characters, but no encoding declared; see PEP 263")
compile(text, {FILE!r}, "exec")
"""


class Python2(Script):
    """See `Script`."""

    name = "python2"
    title = "Python 2"
    tag = "python"
    tag_pattern = re.compile(r"\{?\s*\.?py(?:thon)?(?:2[\d.]*)?(?![\w+#.-])|[\w./-]+\.py\b", re.IGNORECASE)
    code_line = PYTHON.code_line
    main = re.compile(r"\b(?:raw_input|input|stdin|stdout|print)\b")
    quiet = re.compile(
        r"#[^\n]*|'''.*?(?:'''|\Z)|\"\"\".*?(?:\"\"\"|\Z)|'(?:\\.|[^'\\\n])*'?|\"(?:\\.|[^\"\\\n])*\"?", re.DOTALL
    )
    compiler, package = "python2.7", "python2.7 (in Debian 11 and Ubuntu 22.04)"
    # Neither settings nor modules of the user, and no files of bytecode.
    file, always, check = FILE, ("-E", "-s", "-B"), ("-c", CHECK)
    modules = "python2.7"


LANGUAGE = Python2()
