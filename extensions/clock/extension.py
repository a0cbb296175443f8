"""A clock test of the model that sees clips: whether it knows the times of frames."""

from verified.extension import Extension
from verified_clock.config import Clock, is_tested


def _stages():
    from verified_clock.stage import STAGE

    return (STAGE,)


EXTENSION = Extension(
    name="clock",
    title="know the times of frames",
    sections={"clock": Clock},
    is_on=is_tested,
    stages=_stages,
)
