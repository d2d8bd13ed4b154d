"""How close an answer is to the repository's own code, from 0 to 1, besides what tests say.

Both texts are normalised first: of methods only the statements below the docstring are compared, in one layout, without
comments; of other lines, indentation and blank lines don't count.
"""

import ast
import textwrap
from dataclasses import dataclass

from alpha_codium.errors import SettingsError
from alpha_codium.languages.python.syntax import UNPARSABLE, parse
from alpha_codium.repository.methods import FUNCTIONS
from alpha_codium.values import JsonValue


@dataclass(frozen=True, slots=True)
class Measures(JsonValue):
    """The measures of one answer.

    `common_prefix` is the share of the reference's characters at its beginning that the answer has, too.
    `edit_similarity` is 1 minus Levenshtein's distance over the longer length. `method_name` is 1 if the answer is the
    right method.
    """

    chrf: float = 0.0
    common_prefix: float = 0.0
    exact_match: float = 0.0
    edit_similarity: float = 0.0
    method_name: float = 0.0


def measured(written: str, reference: str, same_method: bool) -> Measures:
    """Return the measures of what a model has written; raises SettingsError if a library isn't installed."""
    try:
        from rapidfuzz.distance import Levenshtein
        from sacrebleu.metrics.chrf import CHRF
    except ImportError as error:
        raise SettingsError("the repository benchmark needs two packages: pip install rapidfuzz sacrebleu") from error
    answer, wanted = normalised(written), normalised(reference)
    shorter = min(len(answer), len(wanted))
    prefix = next((place for place in range(shorter) if answer[place] != wanted[place]), shorter)
    return Measures(
        chrf=CHRF().sentence_score(answer, [wanted]).score / 100,
        common_prefix=prefix / len(wanted) if wanted else float(not answer),
        exact_match=float(answer == wanted),
        edit_similarity=Levenshtein.normalized_similarity(answer, wanted),
        method_name=float(same_method),
    )


def normalised(code: str) -> str:
    """Return the statements of a method below its docstring in one layout, or the lines of other code."""
    flush = textwrap.dedent(code)
    try:
        statements = parse(flush).body
        if len(statements) == 1 and isinstance(statements[0], FUNCTIONS):
            body = statements[0].body
            return "\n".join(map(ast.unparse, body[ast.get_docstring(statements[0]) is not None :]))
    except UNPARSABLE:
        # Lines, or a method that is nested too deeply or has a number that is too long to be written.
        pass
    return "\n".join(line.rstrip() for line in flush.splitlines() if line.strip())
