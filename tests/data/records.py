"""Records for tests: small ones by hand, and a hypothesis strategy for all that the schema allows."""

import json
from pathlib import Path

from hypothesis import strategies as st

from alpha_codium.problem import LANGUAGE_NAMES


def record(name: str = "1_A. Sum", **fields: object) -> dict:
    """A small raw record."""
    tests = {"input": ["1 2\n"], "output": ["3\n"]}
    return {"name": name, "description": "Add two numbers.", "public_tests": tests, "private_tests": tests} | fields


def write_jsonl(path: Path, rows: list[dict]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def _pairs(first: str, second: str, firsts: st.SearchStrategy, seconds: st.SearchStrategy) -> st.SearchStrategy[dict]:
    rows = st.lists(st.tuples(firsts, seconds), max_size=4)
    return rows.map(lambda pairs: {first: [a for a, _ in pairs], second: [b for _, b in pairs]})


TESTS = _pairs("input", "output", st.text(), st.text())
PROGRAMS = _pairs("language", "solution", st.integers(0, len(LANGUAGE_NAMES) - 1), st.text())
CHECKERS = st.sampled_from([None, {"name": "float", "arguments": {"abs": 1e-9}}, {"name": "tokens", "arguments": {}}])
CODE = dict.fromkeys(("test_code", "setup_code"), st.text() | st.none())
EXECUTIONS = st.one_of(
    st.none(),
    st.fixed_dictionaries(
        {"kind": st.sampled_from(["stdin", "assertions"])}, optional={"entry_point": st.text() | st.none(), **CODE}
    ),
    st.fixed_dictionaries({"kind": st.just("call"), "entry_point": st.sampled_from(["f", "größe"])}, optional=CODE),
)
LIMITS = st.none() | st.fixed_dictionaries({"seconds": st.integers(0, 1000), "nanos": st.integers(0, 10**9 - 1)})
RECORDS = st.fixed_dictionaries(
    {"name": st.text(min_size=1).filter(str.strip)},
    optional={
        "description": st.text(),
        "public_tests": TESTS,
        "private_tests": TESTS,
        "generated_tests": TESTS,
        "source": st.integers(0, 7),
        "difficulty": st.integers(0, 28),
        "solutions": PROGRAMS,
        "incorrect_solutions": PROGRAMS,
        "cf_contest_id": st.integers(0, 9999),
        "cf_points": st.floats(0, 5000),
        "cf_rating": st.integers(0, 3500),
        "cf_tags": st.lists(st.sampled_from(["math", "dp", "Graphs"]), unique=True),
        "is_description_translated": st.booleans(),
        "time_limit": LIMITS,
        "memory_limit_bytes": st.integers(0, 2**40),
        "checker": CHECKERS,
        "input_file": st.sampled_from(["", "in.txt"]),
        "execution": EXECUTIONS,
    },
)
