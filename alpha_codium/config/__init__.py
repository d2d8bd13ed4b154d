"""Typed settings, which are loaded once and passed on as values."""

from alpha_codium.config.sections import Settings
from alpha_codium.config.sources import load_settings

__all__ = ["Settings", "load_settings"]
