"""The settings that are shipped with alpha_codium."""
