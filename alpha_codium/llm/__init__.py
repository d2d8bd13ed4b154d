"""Asking models: one async client over litellm, and local models of our own."""
