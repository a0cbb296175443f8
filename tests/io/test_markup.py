"""Parts of pages."""

import pytest

from verified.io.pages import clock


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0, "0:00.0"), (62.5, "1:02.5"), (59.96, "1:00.0"), (3600, "60:00.0"), (float("inf"), "∞"), (1.7e308, "∞")],
)
def test_times_are_minutes_and_seconds(seconds, shown):
    assert clock(seconds) == shown
