"""Whatever form an answer has: its program is there, or the sample is the model's failed one; nothing is lost."""

import json
import sqlite3

import pytest

from tests.gen.running import candidates_in, columns_of, model_arguments, problem_record, run_cli
from tests.llm.provider_forms import CODE, READABLE, UNREADABLE
from tests.servers.scripted import Malformed, ScriptedServer, last_user

FORMS = {**{form: sent for form, (sent, _, _) in READABLE.items()}, **UNREADABLE}
WITH_PROGRAM = [form for form, (_, text, _) in READABLE.items() if "print(input())" in text]
MODELS = ("openai/scripted", "openai/gpt-4o-mini")  # directly, and through litellm


@pytest.mark.thorough
@pytest.mark.parametrize("model", MODELS)
def test_each_form_gives_its_program_or_a_failed_sample_of_the_models(home, tmp_path, model):
    problems = tmp_path / "problems.jsonl"
    records = [problem_record(number) | {"name": form} for number, form in enumerate(FORMS)]
    problems.write_text("".join(json.dumps(record) + "\n" for record in records))

    def script(asked):
        number = next(i for i in range(len(FORMS)) if f"Problem number {i}:" in json.dumps(asked["messages"]))
        sent = list(FORMS.values())[number]
        return Malformed(sent if isinstance(sent, str) else json.dumps(sent))

    with ScriptedServer(script) as server:
        job = ["--dataset_name", problems, "--flow", "baseline", "--samples", 1, "--run", "r"]
        arguments = [*model_arguments(server), "--model", model]
        done = run_cli("gen", "solve_set", *job, *arguments)
    assert "Traceback" not in done.stderr
    solutions = home / "runs" / "r" / "solutions"
    found = {name: (program.strip(), error) for name, _, program, error in candidates_in(solutions)}
    assert {name: program for name, (program, _) in found.items() if program} == dict.fromkeys(
        WITH_PROGRAM, "print(input())"
    )
    assert {error.split(":")[0] for program, error in found.values() if not program} == {"model"}
    assert all(tokens[0] > 0 for tokens in columns_of(solutions)["completion_tokens"])
    with sqlite3.connect(next((home / "runs").glob("*/answers.sqlite"))) as stored:
        answers = [json.loads(row[0]) for row in stored.execute("SELECT answer FROM answers")]
    assert all(answer["text"] or answer["reasoning"] or answer["raw"] for answer in answers)


@pytest.mark.parametrize("model", MODELS)
def test_a_question_is_answered_whatever_the_form(home, model):
    texts = {form: sent if isinstance(sent, str) else json.dumps(sent) for form, (sent, _, _) in READABLE.items()}
    with ScriptedServer(lambda asked: Malformed(texts[last_user(asked)])) as server:
        for form in ("a part", "Mistral: thinking in parts", "a legacy text"):
            done = run_cli("gen", "ask", form, *model_arguments(server), "--model", model)
            assert (done.returncode, CODE in done.stdout) == (0, True), done.stderr
