"""A cache with answers in it."""

import contextlib
import os
import random
import sqlite3
from pathlib import Path

from alpha_codium.runs import AnswerCache

ANSWER = {"text": "hello", "model": "m", "prompt_tokens": 3, "completion_tokens": 2, "cost": 0.5}
REFUSAL = {"refusal": "ContextOverflow", "message": "too long"}


def filled(path, *rows, model="m"):
    with AnswerCache(path) as cache:
        for key, outcome in rows:
            cache.put([(key, outcome)], model)


def aged(path, key, days):
    """Make an answer so many days older."""
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE answers SET created = created - ? WHERE key = ?", (days * 86400, key))


def spoilt(path: Path, how: str) -> None:
    """Make of a good cache something else."""
    filled(path, *((f"k{number}", ANSWER | {"text": "x" * 2000}) for number in range(40)))
    if how == "text":
        path.write_text("this is no database, but a text that is longer than a hundred bytes " * 4)
    elif how == "torn":
        os.truncate(path, path.stat().st_size // 2)
    elif how == "noise":
        with path.open("r+b") as file:
            file.seek(100)
            file.write(random.Random(1).randbytes(path.stat().st_size - 100))
    elif how == "foreign":
        path.unlink()
        with contextlib.closing(sqlite3.connect(path)) as connection:
            connection.execute("CREATE TABLE answers (key TEXT, price INTEGER)")
    elif how == "newer":
        with contextlib.closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA user_version=99")
    elif how == "folder":
        path.unlink()
        path.mkdir()
    else:
        assert how == "other table"
        with contextlib.closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("DROP TABLE answers")
            connection.execute("CREATE TABLE something (x)")
