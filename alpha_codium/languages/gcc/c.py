"""C."""

import re

from alpha_codium.languages.gcc import ONLINE_JUDGE, Gcc


class C(Gcc):
    """See `Gcc`."""

    name = "c"
    title = "C"
    tag = "c"
    tag_pattern = re.compile(r"\{?\s*\.?c(?:\d\d)?(?![\w+#-])|[\w./-]+\.c\b", re.IGNORECASE)
    code_line = re.compile(
        r"^(?:#[ \t]*(?:include|pragma|define|if|ifdef|ifndef|undef)\b|typedef \w|struct \w"
        r"|(?:static |unsigned |const )*"
        r"(?:int|void|long|char|double|float)[ \t]+\**\w+[ \t]*[(=;{,\[])",
        re.MULTILINE,
    )
    main = re.compile(r"\bmain\s*\(")
    suffixes = (".c",)
    compiler, package = "gcc", "gcc libc6-dev"
    flags = ("-std=gnu17", "-O2", ONLINE_JUDGE)
    older_and_newer = ("-std=gnu2x", "-std=gnu17 -fgnu89-inline")


LANGUAGE = C()
