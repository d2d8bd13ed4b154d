"""The agent of the portable backend: standard library only; its source is sent to an interpreter."""
