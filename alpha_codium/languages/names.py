"""Other names of languages, as files of samples and benchmarks have them."""

from alpha_codium.errors import UserError, nearest
from alpha_codium.language_table import LANGUAGES

ALIASES = {alias: name for name, language in LANGUAGES.items() for alias in language.aliases}


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
