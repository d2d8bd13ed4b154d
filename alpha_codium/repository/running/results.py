"""The files of a run's results, and what its items are in a transcript."""

from collections.abc import Sequence

import yaml

from alpha_codium.repository.running.config import RunConfig
from alpha_codium.repository.running.prompts import Prompts
from alpha_codium.repository.running.summary import Summary
from alpha_codium.repository.running.turns import ItemRun
from alpha_codium.runs import RunFolder
from alpha_codium.runs.folder import write_atomically
from alpha_codium.solution import Candidate


def write_inputs(folder: RunFolder, config: RunConfig, prompts: Prompts) -> None:
    """Copy the configuration, with all values filled in, and the prompts to a run's folder."""
    text = yaml.safe_dump(config.model_dump(mode="json"), sort_keys=False, allow_unicode=True)
    write_atomically(folder.path / "config.yaml", text)
    (folder.path / "prompts").mkdir(exist_ok=True)
    write_atomically(folder.path / "prompts" / f"{prompts.name}.yaml", prompts.text)


def write_results(folder: RunFolder, name: str, items: Sequence[ItemRun], summary: Summary) -> None:
    """Write the items, the same without long texts, and the summary, to files whose names begin with `name`."""
    folder.write_lines(f"{name}.jsonl", (item.row() for item in items))
    folder.write_lines(f"{name}_short.jsonl", (item.short_row() for item in items))
    folder.write_json(f"{name}_summary.json", summary.to_json())


def candidate_of(item: ItemRun, benchmark: str) -> Candidate:
    """Return an item as the candidate of its transcript: the text of the last method that was run."""
    last = item.turns[-1].short() if item.turns else {}
    return Candidate(
        task_name=item.dp_id,
        sample_index=item.replica,
        program=item.turns[-1].code if item.turns else "",
        model=item.model,
        flow=benchmark,
        prompt_tokens=item.prompt_tokens,
        completion_tokens=item.completion_tokens,
        cost=item.cost,
        llm_calls=item.llm_calls,
        public_tests_passed=last.get("tests_passed", 0),
        public_tests_total=last.get("tests_total", 0),
        error=item.error,
    )
