"""Settings of all tests. Its presence also puts this folder on the import path, for `media`, `running` and the like."""

import os

import pytest
from hypothesis import settings

# The same cases in each run, however slow the machine: what passed once passes again.
settings.register_profile("verified", derandomize=True, deadline=None)
settings.load_profile("verified")

ORDINARY = os.sched_getscheduler(0) if hasattr(os, "sched_getscheduler") else None


@pytest.fixture(autouse=True)
def ordinary_process():
    """No library that a test calls may make this process a real-time one: all that it starts would be one as well."""
    yield
    if ORDINARY is not None and os.sched_getscheduler(0) != ORDINARY:
        os.sched_setscheduler(0, ORDINARY, os.sched_param(0))
        pytest.fail("the scheduling policy of this process was changed")
