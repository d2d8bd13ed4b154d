"""Sets the time zone, the clock and the seed of `random`, so that tests find the same in each run."""

from __future__ import annotations

import datetime
import os
import random
import time

MOMENT = datetime.datetime(2025, 1, 1, 12, tzinfo=datetime.timezone.utc)


def pin() -> None:
    """Begin at `MOMENT`, in UTC, if the environment has the package time-machine; the clock goes on from there."""
    os.environ["TZ"] = "UTC"
    time.tzset()
    random.seed(0)
    try:
        import time_machine  # pyrefly: ignore[missing-import] - from the repository's environment
    except ImportError:
        return
    time_machine.travel(MOMENT, tick=True).start()
