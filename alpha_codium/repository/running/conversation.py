"""The messages of a turn: the question, and those of the earlier answers that are shown again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from alpha_codium.llm.messages import Message
from alpha_codium.repository.running.prompts import Prompts
from alpha_codium.repository.running.turns import Turn, TurnStatus

NO_THINK = " /no_think"
# Some providers refuse empty messages.
NO_ANSWER = "(no answer)"


@dataclass(frozen=True, slots=True)
class Manner:
    """How further turns go on; see `inference` in `config_default.yaml`."""

    think: bool = True
    no_feedback: bool = False
    no_multiturn: bool = False
    no_history: bool = False
    repair_sampling: bool = False

    def shown_again(self, turns: Sequence[Turn]) -> Sequence[Turn]:
        """Return the turns that the model is shown again."""
        if self.no_multiturn:
            return ()
        if self.no_history:
            return turns[-1:]
        return turns[:1] if self.repair_sampling else turns


def messages(
    prompts: Prompts, variables: Mapping[str, Any], shown: Sequence[Turn], manner: Manner
) -> tuple[Message, ...]:
    """Return the messages that ask for the next answer."""
    system = prompts.fill("system", variables)
    conversation = [Message("system", system)] if system else []
    conversation.append(Message("user", prompts.fill("task", variables)))
    for turn in shown:
        conversation.append(Message("assistant", turn.answer.strip() or NO_ANSWER))
        conversation.append(Message("user", _remark(prompts, variables, turn, manner)))
    if not manner.think:
        last = conversation.pop()
        conversation.append(Message(last.role, last.content + NO_THINK))
    return tuple(conversation)


def _remark(prompts: Prompts, variables: Mapping[str, Any], turn: Turn, manner: Manner) -> str:
    if turn.status is TurnStatus.NOT_RUN:
        return prompts.fill("not_run", {**variables, "reason": turn.reason})
    if manner.no_feedback:
        return prompts.fill("failed_without_feedback", variables)
    return prompts.fill("failed", {**variables, "feedback": turn.feedback})
