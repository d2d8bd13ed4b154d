"""The conformance suite on each backend of ours: `alpha_codium.sandbox.conformance.test_languages`."""

from alpha_codium.sandbox.conformance.test_languages import *  # noqa: F403
