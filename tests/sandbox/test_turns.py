"""The conformance suite on each backend of ours: input by turns."""

from alpha_codium.sandbox.conformance.test_turns import *  # noqa: F403
