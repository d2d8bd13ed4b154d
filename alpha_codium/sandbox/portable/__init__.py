"""The portable backend: a plain interpreter process for each test."""
