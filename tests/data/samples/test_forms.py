"""The same samples, in the files and folders of many tools: what they contain decides how they are read."""

import gzip
import json
import pickle
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from alpha_codium.data.load import ProblemSet, load_problems
from alpha_codium.data.samples.programs import solutions_of, with_completions_found
from alpha_codium.data.samples.reading import read_samples
from alpha_codium.errors import DatasetError

PROMPT = 'from typing import List\n\n\ndef f{n}(a: int) -> int:\n    """Add {n}."""\n'
BODY = "    return a + {n}\n"
RECORDS = [
    {
        "task_id": f"HumanEval/{n}",
        "prompt": PROMPT.format(n=n),
        "entry_point": f"f{n}",
        "canonical_solution": BODY.format(n=n),
        "test": f"def check(candidate):\n    assert candidate(1) == {1 + n}\n",
    }
    for n in range(4)
]
WHOLE = {record["task_id"]: record["prompt"] + record["canonical_solution"] for record in RECORDS}
BODIES = {record["task_id"]: record["canonical_solution"] for record in RECORDS}
PROMPTS = {record["task_id"]: record["prompt"] for record in RECORDS}


def lines(rows: Iterable[Mapping[str, Any]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def evalplus(folder: Path) -> None:
    for name, program in WHOLE.items():
        path = folder / name.replace("/", "_") / "0.py"
        path.parent.mkdir(parents=True)
        path.write_text(program)


def multipl_e(folder: Path) -> None:
    folder.mkdir()
    for name, body in BODIES.items():
        record = {"name": name.replace("/", "_"), "language": "py", "prompt": PROMPTS[name], "completions": [body]}
        (folder / f"{record['name']}.json.gz").write_bytes(gzip.compress(json.dumps(record).encode()))


def results_of_evalplus(programs: Mapping[str, str]) -> bytes:
    each = {name: [{"task_id": name, "solution": program, "base_status": "pass"}] for name, program in programs.items()}
    return json.dumps({"date": "2024-01-01", "hash": "0", "eval": each}).encode()


def of_lm_eval(programs: Mapping[str, str]) -> bytes:
    docs = {record["task_id"]: record for record in RECORDS}
    return lines(
        {"doc_id": place, "doc": docs[name], "resps": [["raw"]], "filtered_resps": [[program]]}
        for place, (name, program) in enumerate(programs.items())
    )


def chat(name: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": PROMPTS[name]}, {"role": "assistant", "content": WHOLE[name]}]


# A file's name, and its content.
FILES: dict[str, tuple[str, Callable[[], bytes]]] = {
    "whole programs": ("a.jsonl", lambda: lines({"task_id": n, "solution": p} for n, p in WHOLE.items())),
    "bodies as solutions": ("a.jsonl", lambda: lines({"task_id": n, "solution": p} for n, p in BODIES.items())),
    "completions": ("a.jsonl", lambda: lines({"task_id": n, "completion": p} for n, p in BODIES.items())),
    "JSON lines called .json": ("a.json", lambda: lines({"task_id": n, "code": p} for n, p in WHOLE.items())),
    "gzip called .jsonl": ("a.jsonl", lambda: gzip.compress(FILES["whole programs"][1]())),
    "gzip called .json": ("a.json", lambda: gzip.compress(FILES["JSON lines called .json"][1]())),
    "a pickle called .json": ("a.json", lambda: pickle.dumps(dict(enumerate([p] for p in WHOLE.values())))),
    "a list": ("a.json", lambda: json.dumps(list(WHOLE.values())).encode()),
    "a list of bodies": ("a.json", lambda: json.dumps([[body] for body in BODIES.values()]).encode()),
    "results of EvalPlus": ("a_eval_results.json", lambda: results_of_evalplus(WHOLE)),
    "CodeT": ("a.jsonl", lambda: lines({"prompt": PROMPTS[n], "samples": [p]} for n, p in BODIES.items())),
    "lm-eval": ("samples_humaneval.jsonl", lambda: of_lm_eval(WHOLE)),
    "lm-eval, bodies": ("samples_humaneval.jsonl", lambda: of_lm_eval(BODIES)),
    "ids and chats": ("a.jsonl", lambda: lines({"id": n, "messages": chat(n)} for n in WHOLE)),
    "CodeGeeX": (
        "a.jsonl",
        lambda: lines({"task_id": n.replace("HumanEval", "Python"), "generation": p} for n, p in BODIES.items()),
    ),
}


@pytest.fixture(scope="module")
def problems(tmp_path_factory: pytest.TempPathFactory) -> ProblemSet:
    path = tmp_path_factory.mktemp("problems") / "humaneval.jsonl"
    path.write_bytes(lines(RECORDS))
    return load_problems(str(path))


def programs_in(path: Path, problems: ProblemSet) -> dict[str, list[str]]:
    rows, _ = with_completions_found(read_samples(path), problems)
    return {row["task_name"]: row["solution_candidates"] for row in solutions_of(rows, problems)}


@pytest.mark.parametrize("form", FILES)
def test_every_file_of_the_same_samples_has_the_same_programs(tmp_path: Path, problems: ProblemSet, form: str) -> None:
    name, content = FILES[form]
    (tmp_path / name).write_bytes(content())
    assert programs_in(tmp_path / name, problems) == {name: [program] for name, program in WHOLE.items()}


@pytest.mark.parametrize("make", [evalplus, multipl_e])
def test_folders_of_evalplus_and_multipl_e_have_the_same_programs(
    tmp_path: Path, problems: ProblemSet, make: Callable[[Path], None]
) -> None:
    make(tmp_path / "samples")
    assert programs_in(tmp_path / "samples", problems) == {name: [program] for name, program in WHOLE.items()}


def test_another_folder_is_refused_with_those_that_are_read(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("")
    with pytest.raises(DatasetError, match=r"is not a folder of samples: it must be a Solutions dataset, or have"):
        read_samples(tmp_path)


def found_in(path: Path, problems: ProblemSet, texts: Callable[[str], list[str]]) -> tuple[list[tuple], int]:
    path.write_bytes(lines({"task_id": name, "solution": texts(name)} for name in WHOLE))
    found, count = with_completions_found(read_samples(path), problems)
    return [row.texts for row in found], count


def test_where_most_are_bodies_each_is_found(tmp_path: Path, problems: ProblemSet) -> None:
    found, count = found_in(tmp_path / "a.jsonl", problems, lambda name: [WHOLE[name], BODIES[name], BODIES[name], ""])
    assert count == 2 * len(WHOLE)
    assert found == [(WHOLE[name], WHOLE[name], WHOLE[name], "") for name in WHOLE]


def test_texts_that_are_broken_in_any_form_say_nothing_of_the_others(tmp_path: Path, problems: ProblemSet) -> None:
    broken = ["    return (a\n", "def f(:\n", ""]
    found, count = found_in(tmp_path / "a.jsonl", problems, lambda name: [BODIES[name], *broken])
    assert count == len(WHOLE)
    assert found == [(WHOLE[name], *broken) for name in WHOLE]


def test_a_body_among_whole_programs_stays_a_program_that_is_not_python(tmp_path: Path, problems: ProblemSet) -> None:
    found, count = found_in(tmp_path / "a.jsonl", problems, lambda name: [WHOLE[name], WHOLE[name], BODIES[name]])
    assert count == 0
    assert found == [(WHOLE[name], WHOLE[name], BODIES[name]) for name in WHOLE]


def test_a_broken_file_called_json_is_an_error_of_json(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"task_id": \n')
    with pytest.raises(DatasetError, match="not valid JSON"):
        read_samples(tmp_path / "a.json")
