"""Published results, for other models, tests and budgets.

They are shown on request in a separate table, and aren't used in any computation.
"""

from typing import Any

ALPHACODIUM = "Ridnik et al. 2024, arXiv 2401.08500"
CODETREE = "Li et al. 2024, arXiv 2411.04329"
COLUMNS = ("source", "dataset", "metric", "model", "method", "percent")
_ROWS: tuple[tuple[str, str, str, str, str, float], ...] = (
    (ALPHACODIUM, "CodeContests validation", "pass@5", "GPT-4", "direct prompt", 19),
    (ALPHACODIUM, "CodeContests validation", "pass@5", "GPT-4", "AlphaCodium", 44),
    (ALPHACODIUM, "CodeContests test", "pass@5", "GPT-4", "direct prompt", 12),
    (ALPHACODIUM, "CodeContests test", "pass@5", "GPT-4", "AlphaCodium", 29),
    (ALPHACODIUM, "CodeContests validation", "pass@5", "GPT-3.5", "direct prompt", 15),
    (ALPHACODIUM, "CodeContests validation", "pass@5", "GPT-3.5", "AlphaCodium", 25),
    (ALPHACODIUM, "CodeContests test", "pass@5", "GPT-3.5", "direct prompt", 8),
    (ALPHACODIUM, "CodeContests test", "pass@5", "GPT-3.5", "AlphaCodium", 17),
    (ALPHACODIUM, "CodeContests validation", "pass@5", "DeepSeek-33B", "direct prompt", 7),
    (ALPHACODIUM, "CodeContests validation", "pass@5", "DeepSeek-33B", "AlphaCodium", 20),
    (ALPHACODIUM, "CodeContests test", "pass@5", "DeepSeek-33B", "direct prompt", 12),
    (ALPHACODIUM, "CodeContests test", "pass@5", "DeepSeek-33B", "AlphaCodium", 24),
    (CODETREE, "CodeContests test", "pass@1", "GPT-4o", "direct prompt", 20.6),
    (CODETREE, "CodeContests test", "pass@1", "GPT-4o", "resampling, equal calls", 32.7),
    (CODETREE, "CodeContests test", "pass@1", "GPT-4o", "Reflexion, equal calls", 41.8),
    (CODETREE, "CodeContests test", "pass@1", "GPT-4o", "tree search, equal calls", 43.0),
)
PUBLISHED: tuple[dict[str, Any], ...] = tuple(dict(zip(COLUMNS, row, strict=True)) for row in _ROWS)
