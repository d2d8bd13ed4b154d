"""Wording of messages."""


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: `1 problem`, `2 problems`, `0 problems`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
