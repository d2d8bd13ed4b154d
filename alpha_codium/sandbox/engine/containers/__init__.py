"""The common parts of the container backends."""
