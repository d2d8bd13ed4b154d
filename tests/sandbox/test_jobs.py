"""The conformance suite on each backend of ours: how jobs are carried out."""

from alpha_codium.sandbox.conformance.test_jobs import *  # noqa: F403
