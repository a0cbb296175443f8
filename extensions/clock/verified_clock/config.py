"""The section `clock`."""

from pydantic import Field

from verified.config import Config
from verified.config.base import Section


class Clock(Section):
    """A rendered clip with events at known seconds tests whether `generation.video_lmm` knows the times of frames."""

    tolerance: float = Field(default=0.75, gt=0)
    """Root mean square error, in seconds, up to which answers count as right."""
    refuse: bool = True
    """Whether a run stops before tasks that need times if the model does not know them."""


def is_tested(settings: Config) -> bool:
    """Whether a run tests its model; recorded answers are replayed without."""
    return settings.has(Clock) and not settings.generation.video_lmm.kind.replays
