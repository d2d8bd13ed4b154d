"""Ruby."""

import re

from alpha_codium.languages.compiled import Script

# Bytes: recursion may be as deep as in other languages.
ENVIRONMENT = {"RUBY_THREAD_VM_STACK_SIZE": str(64 << 20)}


class Ruby(Script):
    """See `Script`."""

    name = "ruby"
    title = "Ruby"
    tag = "ruby"
    tag_pattern = re.compile(r"\{?\s*\.?(?:ruby|rb)(?![\w+#-])|[\w./-]+\.rb\b", re.IGNORECASE)
    code_line = re.compile(
        r"^[ \t]*(?:require(?:_relative)? ['\"]|def \w|class \w|module \w|puts\b|print\b|p \w|\w[\w, ]* = |\$\w+"
        r"|\w[\w.]*\.(?:each|times|map|upto)\b)",
        re.MULTILINE,
    )
    main = re.compile(r"\b(?:gets|STDIN|ARGF|readlines?|\$stdin|\$<|puts|print|p)\b")
    quiet = re.compile(r"(?:^|(?<=\s))#[^\n]*|\"(?:\\.|[^\"\\])*\"?|'(?:\\.|[^'\\])*'?|\?\\?\S(?!\w)", re.DOTALL)
    compiler, package = "ruby", "ruby"
    flags = ("--disable=gems",)
    file, always, check = "main.rb", ("-W0",), ("-c", "main.rb")
    environment = ENVIRONMENT
    modules = "ruby"


LANGUAGE = Ruby()
