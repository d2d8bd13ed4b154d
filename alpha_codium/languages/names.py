"""Other names of languages, as files of samples and benchmarks have them."""

from alpha_codium.errors import UserError, nearest
from alpha_codium.languages import LANGUAGES

ALIASES = {
    **dict.fromkeys(("py", "python", "py3", "python 3"), "python3"),
    **dict.fromkeys(("py2", "python 2", "python2.7"), "python2"),
    **dict.fromkeys(("c++", "cc", "cxx", "c++17", "c++20", "cpp17", "cpp20"), "cpp"),
    **dict.fromkeys(("js", "node"), "javascript"),
    **dict.fromkeys(("cs", "c#"), "csharp"),
    "golang": "go",
    "kt": "kotlin",
    "rb": "ruby",
    "rs": "rust",
    "ts": "typescript",
}


def canonical(name: str) -> str:
    """Return our name of a language, whatever its case; the name in lower case if it isn't known."""
    name = name.strip().lower()
    return ALIASES.get(name, name)


def language_asked_for(name: str) -> str:
    """Return our name of a language that a user names; raises UserError if programs in it can't be run."""
    found = canonical(name)
    if found not in LANGUAGES:
        raise UserError(f"unsupported language {name!r}{nearest(found, LANGUAGES)}")
    return found
