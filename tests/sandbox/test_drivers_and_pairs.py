"""The conformance suite on each backend of ours: drivers, and pairs of programs."""

from alpha_codium.sandbox.conformance.test_dialogues import *  # noqa: F403
from alpha_codium.sandbox.conformance.test_drivers import *  # noqa: F403
from alpha_codium.sandbox.conformance.test_pairs import *  # noqa: F403
