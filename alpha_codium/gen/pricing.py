"""Which models a run may ask, and whether their prices are known: a budget in money needs that."""

from alpha_codium.config import Price, Settings
from alpha_codium.errors import UserError


def models_asked(settings: Settings) -> tuple[str, ...]:
    """The models that the samples ask, each once: those taken in turn or the one, and those of single prompts."""
    config = settings.config
    return tuple(dict.fromkeys([*(config.rotate_models or (config.model,)), *config.model_by_prompt.values()]))


def prices_of(settings: Settings, models: tuple[str, ...]) -> dict[str, Price | None]:
    """What each model costs, None where it isn't known."""
    from alpha_codium.llm.prices import price_of

    return {model: price_of(model, settings.prices) for model in models}


def has_cost_budget(settings: Settings) -> bool:
    """Whether money is limited."""
    return bool(settings.solve.max_cost or settings.budget.run_cost or settings.budget.problem_cost)


def check_prices(settings: Settings) -> None:
    """Raise UserError where money is limited and a model may be asked, as a fallback too, whose price isn't known."""
    if not has_cost_budget(settings):
        return
    from alpha_codium.llm.endpoints import models_of

    models = models_of(settings.config)
    unknown = [model for model, price in prices_of(settings, models).items() if price is None]
    if unknown:
        raise UserError(
            f"a budget in dollars needs the price of {', '.join(unknown)}, which isn't known: give it in US dollars "
            f"a million tokens, in a file for --config: {price_lines(unknown)}"
        )


def price_lines(models: list[str]) -> str:
    """The settings to write for the prices of models, in one line of TOML (which may stand in several)."""
    entries = ", ".join(f'"{model}" = {{input = 0.5, output = 1.5}}' for model in models)
    return f"prices.models = {{{entries}}}"
