"""The conformance suite on each backend of ours: `alpha_codium.sandbox.conformance.test_programs`."""

from alpha_codium.sandbox.conformance.test_programs import *  # noqa: F403
