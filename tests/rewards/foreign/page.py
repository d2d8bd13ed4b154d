"""The examples of docs/reward_functions.md that need a trainer."""

import re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[3] / "docs" / "reward_functions.md"


def example(title: str, language: str) -> str:
    """The fenced block of a language below a title."""
    _, _, below = PAGE.read_text("utf-8").partition(f"\n## {title}\n")
    found = re.search(rf"^```{language}\n(.*?)^```", below.partition("\n## ")[0], re.MULTILINE | re.DOTALL)
    assert found is not None, f"{title} has no {language}"
    return found[1]
