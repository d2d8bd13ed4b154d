"""The models that a run may ask, and their prices."""

from alpha_codium.config.sections import Price, Settings
from alpha_codium.errors import UserError


def models_asked(settings: Settings) -> tuple[str, ...]:
    """Return the models of a run, without fallbacks: `model` or `rotate_models`, and those in `model_by_prompt`."""
    config = settings.config
    return tuple(dict.fromkeys([*(config.rotate_models or (config.model,)), *config.model_by_prompt.values()]))


def prices_of(settings: Settings, models: tuple[str, ...]) -> dict[str, Price | None]:
    """Return the price of each model, None if it is unknown."""
    from alpha_codium.llm.prices import price_of

    return {model: price_of(model, settings.prices) for model in models}


def check_prices(settings: Settings) -> None:
    """Raise UserError if there is a budget in dollars and the price of a model or fallback is unknown."""
    if not (settings.solve.max_cost or settings.budget.run_cost or settings.budget.problem_cost):
        return
    from alpha_codium.llm.endpoints import models_of

    models = models_of(settings.config)
    unknown = [model for model, price in prices_of(settings, models).items() if price is None]
    if unknown:
        raise UserError(
            f"a budget in dollars needs the price of {', '.join(unknown)}, which isn't known: give it in US dollars "
            f"per million tokens, in a file for --config: {price_lines(unknown)}"
        )


def price_lines(models: list[str]) -> str:
    """Return an example of the setting for the models' prices, as one line of TOML."""
    entries = ", ".join(f'"{model}" = {{input = 0.5, output = 1.5}}' for model in models)
    return f"prices.models = {{{entries}}}"
