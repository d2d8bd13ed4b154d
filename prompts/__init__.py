"""The flows and prompts that are shipped with alpha_codium."""
