"""Reports of summaries to Weights & Biases and trackio; both are optional, and their errors end no run."""

import importlib
import os
from collections.abc import Callable
from typing import Any

from loguru import logger

from alpha_codium.repository.running.config import RunConfig
from alpha_codium.repository.running.summary import Summary


def track(config: RunConfig, run: str, summary: Summary) -> None:
    """Report a summary, with the measures of each turn as a step; errors are logged."""
    if os.environ.get("WANDB_API_KEY"):
        entity = config.wandb.entity or os.environ.get("WANDB_ENTITY")
        _reported("wandb", lambda wandb: wandb.init(project=config.wandb.project, entity=entity, name=run), summary)
    if config.trackio.project:
        _reported("trackio", lambda trackio: trackio.init(project=config.trackio.project, name=run), summary)


def _reported(name: str, begin: Callable[[Any], Any], summary: Summary) -> None:
    try:
        library = importlib.import_module(name)
        begin(library)
        for number, measures in enumerate(summary.turns, 1):
            library.log({"turn": number, **{measure: each.value for measure, each in measures.items()}})
        library.finish()
    except Exception as error:  # noqa: BLE001 - whatever it is, the results are in the run's folder
        logger.warning("the summary could not be reported to {}: {}", name, " ".join(str(error).split()))
