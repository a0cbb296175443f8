"""Warnings about confidences of the shipped evaluator, which has seen no real video."""

from verified.config import Config
from verified.config.sources import SourceSection

NOT_TRUSTED = (
    "Confidences are not to be trusted: this evaluator started from a rendered world, not from an imported checkpoint. "
    "Name one in evaluator.checkpoint or evaluator.umt_file, or let annotations.choose_by be agreement."
)


def is_untrusted(source: type[SourceSection] | SourceSection, start: str | None) -> bool:
    """Whether confidences of a source annotated by this run are meaningless; `start` is the imported checkpoint if any.

    The shipped evaluator was trained on the demo's synthetic scenes, whose truth measures its quality.
    """
    return source.annotated_here and not source.has_truth and not start


def confidence_warning(settings: Config, dataset: str) -> str:
    """`NOT_TRUSTED` if it applies to a data set, else empty."""
    start = settings.evaluator.imported
    return NOT_TRUSTED if is_untrusted(settings.datasets[dataset].source, start) else ""


def any_confidence_warning(settings: Config) -> str:
    """`NOT_TRUSTED` if it applies to any data set of a configuration, else empty."""
    return next(filter(None, (confidence_warning(settings, name) for name in settings.datasets)), "")
