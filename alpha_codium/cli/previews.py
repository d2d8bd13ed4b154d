"""`--dry-run`: what a command of `gencode gen` would take. No model is opened or fetched, nothing is written."""

import os
from pathlib import Path

from alpha_codium.cli.generating import SetOptions, plan_set, settings_with_model
from alpha_codium.cli.options import CommonOptions
from alpha_codium.config import ConfigSection
from alpha_codium.gen.api import chosen_flow
from alpha_codium.gen.loop import finished_samples
from alpha_codium.gen.preview import Preview, preview_of
from alpha_codium.gen.pricing import check_prices
from alpha_codium.llm.opening import LOCAL, MODEL_OF_KEY, choose_model
from alpha_codium.problem import Problem
from alpha_codium.runs import RunFolder


def preview_one(problem: Problem, flow_name: str, common: CommonOptions) -> Preview:
    """What `solve_problem` would take, with all its samples."""
    flow = chosen_flow(flow_name, common.settings)
    settings = settings_with_model(common, model_to_be)
    check_prices(settings)
    return preview_of(flow, [problem], settings.dataset.num_iterations, settings)


def preview_set(options: SetOptions, common: CommonOptions) -> Preview:
    """What `solve_set` would take; of an earlier run, what is left of it."""
    from alpha_codium.paths import runs_folder

    plan = plan_set(options, common, model_to_be)
    done = finished_samples(RunFolder.reopen(runs_folder(), options.resume).journal) if options.resume else {}
    return plan.preview(done.values())


def model_to_be(config: ConfigSection, folder: Path) -> str:
    """The model that `choose_model` gives, without fetching it."""
    from alpha_codium.llm.local.registry import BEST

    if config.model or config.rotate_models or config.api_base or any(os.environ.get(key) for key in MODEL_OF_KEY):
        return choose_model(config, folder)
    return LOCAL + BEST.name
