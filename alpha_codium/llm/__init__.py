"""The model client: one async client over litellm, and embedded local models."""
