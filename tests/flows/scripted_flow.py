"""A flow against a scripted model: real HTTP, the real client, the real local sandbox; only the answers are made up.

A script is a table: prompt -> answer, or a list of answers given in turn, the last of them again and again, or a
function of the call. Which prompt a request comes from is told by the longest line of plain text in the prompt's own
TOML file.
"""

import asyncio
import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from alpha_codium.answers.structured import to_yaml
from alpha_codium.config import Settings
from alpha_codium.flows import Flow, load_flow
from alpha_codium.flows.loading import shipped_flows
from alpha_codium.gen.sample import Solver
from alpha_codium.judge import Judge, Rules
from alpha_codium.llm.client import ModelClient
from alpha_codium.llm.endpoints import Endpoint
from alpha_codium.problem import Problem, TestCase
from alpha_codium.rendering import load_prompt
from alpha_codium.runs import AnswerStore
from alpha_codium.runs.events import Event, StepResult, StepSkipped
from alpha_codium.sandbox import Sandbox, open_sandbox
from alpha_codium.solution import Candidate
from tests.servers.replies import text_of
from tests.servers.scripted import Reply, ScriptedServer, Status

Answers = Mapping[str, Any]
T = TypeVar("T")
MODEL = "openai/scripted"
NO_FIXES = {"public_tests.max_allowed_calls": 0, "ai_tests.max_allowed_calls": 0}
PLANNING = ["reflect", "possible_solutions", "choose_best", "generate_ai_tests"]
SUM = "print(sum(map(int, input().split())))"
CRASH = "print(input().split()[99])"


def answering(outputs: Mapping[str, Any], otherwise: object = -1) -> str:
    """A program that prints, for each input line, what the table says."""
    return f"print({ {k: str(v) for k, v in outputs.items()}!r}.get(input().strip(), {str(otherwise)!r}))"


def program(code: str) -> str:
    """An answer that holds a program."""
    return f"Here it is.\n```python\n{code}\n```"


def fields(**values: Any) -> str:
    """An answer that holds fields."""
    return f"```yaml\n{to_yaml(values)}```"


def plan(name: str, *labels: str) -> dict[str, Any]:
    record = {"name": name, "content": f"the idea of {name}", "why_it_works": "it does"}
    return record | {"labels": list(labels) or ["greedy"], "complexity": "O(n)"}


def plans(*names: str) -> str:
    return fields(possible_solutions=[plan(name) for name in names])


def chosen(name: str) -> str:
    return fields(name=name, content=f"{name} made precise", why="the simplest", flow=["read", "print"])


def ai_tests(*pairs: tuple[str, str]) -> str:
    return fields(tests=[{"input": i, "output": o, "explanation": f"{i} gives {o}"} for i, o in pairs])


def explanations(*pairs: tuple[str, str], why: str = "because they add up") -> list[dict[str, str]]:
    return [{"input": i, "output": o, "explanation": why} for i, o in pairs]


def fixed(code: str) -> str:
    """A repaired program with the analysis that is asked for beside it."""
    return (
        fields(failed_tests="it prints too little", what_went_wrong="the loop", fixed_flow="add all")
        + "\n"
        + program(code)
    )


def problem_of(*pairs: tuple[str, str], **values: Any) -> Problem:
    """The problem of the sum of the numbers in one line."""
    public = tuple(TestCase(f"{i}\n", f"{o}\n") for i, o in pairs)
    return Problem(**({"name": "Sum", "description": "Print the sum of the numbers.", "public_tests": public} | values))


ONE = problem_of(("1 2", "3"))
TWO = problem_of(("1 2", "3"), ("5 5", "10"))
GOOD_ANSWERS: Answers = {
    "reflect": fields(self_reflection="- THE REFLECTION", tests_explanations=explanations(("1 2", "3"))),
    "validate_reflection": fields(tests_explanations=explanations(("1 2", "3"), why="checked: one and two")),
    "possible_solutions": plans("addition", "counting"),
    "choose_best": chosen("addition"),
    "generate_ai_tests": ai_tests(("0 4", "4")),
    "validate_ai_tests": ai_tests(("0 4", "4")),
    "brute_force": program(SUM),
    "initial_code": program(SUM),
    "direct_code": program(SUM),
    "fix": fixed(SUM),
    "analyze_failure": fields(failed_tests="prints 0", what_went_wrong="IT ENDS EARLY", fixed_flow="THE NEW FLOW"),
    "fix_analyzed": program(SUM),
    "code_contests_prompts_baseline": program(SUM),
    "lesson": "THE LESSON",
    "retry": program(SUM),
    "repair": program(SUM),
    "new_inputs": "```\n4 4\n```",
    "which_output": "It is the sum.\nAnswer: A",
}


@functools.cache
def marks() -> dict[str, str]:
    """The line by which each prompt of the shipped flows is told from the others."""
    found = {}
    for folder in shipped_flows().values():
        for path in folder.glob("*.toml"):
            if path.stem not in ("flow", "partials"):
                pieces = re.split(r"\{[{%].*?[%}]\}|\n", load_prompt(path).user)
                found[path.stem] = max(pieces, key=len).strip()
    return found


def prompt_of(user: str) -> str:
    """The name of the prompt that this text of a user comes from."""
    return next((name for name, mark in marks().items() if mark in user), "unknown")


@dataclass(frozen=True)
class Call:
    """One request as the server saw it."""

    body: Mapping[str, Any]

    @property
    def messages(self) -> list[str]:
        return [text_of(m) for m in self.body["messages"] if m["role"] != "system"]

    @property
    def user(self) -> str:
        """What was asked first; a second and third message are an unreadable answer and the question again."""
        return self.messages[0]

    @property
    def prompt(self) -> str:
        return prompt_of(self.user)


@dataclass(frozen=True)
class Outcome:
    """What came of one sample."""

    candidate: Candidate
    events: tuple[Event, ...]
    calls: list[Call]

    @property
    def program(self) -> str:
        return self.candidate.program.strip()

    @property
    def prompts(self) -> list[str]:
        """The prompts in the order in which they were asked."""
        return [call.prompt for call in self.calls]

    def of(self, prompt: str) -> list[Call]:
        return [call for call in self.calls if call.prompt == prompt]

    def user(self, prompt: str) -> str:
        """What was asked first with this prompt."""
        return self.of(prompt)[0].user

    def all(self, kind: type[T]) -> list[T]:
        """The events of a kind."""
        return [event for event in self.events if isinstance(event, kind)]

    def step(self, name: str, key: str) -> list[Any]:
        """A value of each result of a step."""
        return [event.values[key] for event in self.all(StepResult) if event.step == name and key in event.values]

    def skipped(self, name: str) -> str:
        """Why a step was skipped the last time."""
        return [event.reason for event in self.all(StepSkipped) if event.step == name][-1]


def settings_of(values: Mapping[str, Any]) -> Settings:
    """Settings from `section.key` -> value."""
    nested: dict[str, Any] = {}
    for name, value in values.items():
        *sections, key = name.split(".")
        table = nested
        for section in sections:
            table = table.setdefault(section, {})
        table[key] = value
    return Settings.model_validate(nested)


@dataclass
class Bench:
    """A server and a sandbox that live for all tests; a client and a solver for each sample."""

    server: ScriptedServer = field(init=False)
    sandbox: Sandbox = field(init=False)
    answers: dict[str, Any] = field(default_factory=dict)

    def __enter__(self) -> "Bench":
        self.server = ScriptedServer(self._script).start()
        self.sandbox = open_sandbox("local", workers=2)
        asyncio.run(self.sandbox.__aenter__())
        return self

    def __exit__(self, *_exc: object) -> None:
        asyncio.run(self.sandbox.__aexit__(None, None, None))
        self.server.stop()

    def _script(self, body: dict[str, Any]) -> Reply | str:
        name = Call(body).prompt
        answer = self.answers.get(name, Status(400, f"no answer for the prompt {name}"))
        if callable(answer):
            return answer(Call(body))
        if isinstance(answer, list):
            return answer.pop(0) if len(answer) > 1 else answer[0]
        return answer

    def client(self, settings: Settings, **endpoint: Any) -> ModelClient:
        """A client that waits next to nothing between retries; `endpoint` are fields of its model's."""
        config = settings.config.model_copy(update={"model": MODEL, "api_base": self.server.api_base})
        own = Endpoint(MODEL, **({"api_base": self.server.api_base, "api_key": "k"} | endpoint))
        return ModelClient(config, api_key="k", endpoints={MODEL: own}, first_wait=0.01)

    async def solve(
        self,
        problem: Problem = ONE,
        answers: Answers | None = None,
        settings: Mapping[str, Any] | None = None,
        *,
        flow: str | Flow = "alphacodium",
        sample: int = 0,
        sandbox: Sandbox | None = None,
        store: AnswerStore | None = None,
        **endpoint: Any,
    ) -> Outcome:
        """Run one sample; what `answers` and `settings` don't give is as in GOOD_ANSWERS and as shipped."""
        given = GOOD_ANSWERS | (answers or {})
        self.answers = {name: list(a) if isinstance(a, list) else a for name, a in given.items()}
        values = settings_of(settings or {})
        before = len(self.server.requests)
        async with self.client(values, **endpoint) as model:
            flow = load_flow(flow) if isinstance(flow, str) else flow
            judge = Judge(sandbox or self.sandbox, Rules.of(values.code_tester))
            candidate, events = await Solver(flow, model, MODEL, judge, values, store).solve(problem, sample)
        calls = [Call(seen.body) for seen in self.server.requests[before:]]
        return Outcome(candidate, events, calls)
