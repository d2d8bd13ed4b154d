"""Wording of messages."""


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: `1 problem`, `2 problems`, `0 problems`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def size_text(size: float) -> str:
    """Return a number of bytes as text, such as 1.5 GiB."""
    for unit in ("B", "KiB", "MiB"):
        if size < 1024:
            return f"{size:.0f} {unit}"
        size /= 1024
    return f"{size:.1f} GiB"
