"""The conformance suite on each backend of ours: its hostile programs."""

import pytest

from alpha_codium.sandbox.conformance.test_hostile import *  # noqa: F403
from alpha_codium.sandbox.conformance.test_hostile import pytestmark as marks

pytestmark = [*marks, pytest.mark.slow]
