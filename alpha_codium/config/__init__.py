"""Typed settings, which are loaded once and passed on as values."""

from alpha_codium.config.sections import (
    BudgetSection,
    CodeTesterSection,
    ConfigSection,
    LanguagesSection,
    Price,
    PricesSection,
    SandboxSection,
    Section,
    Settings,
    known_settings,
    validated,
)
from alpha_codium.config.sources import load_settings

__all__ = [
    "BudgetSection",
    "CodeTesterSection",
    "ConfigSection",
    "LanguagesSection",
    "Price",
    "PricesSection",
    "SandboxSection",
    "Section",
    "Settings",
    "known_settings",
    "load_settings",
    "validated",
]
