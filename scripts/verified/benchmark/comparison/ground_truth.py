"""A ground truth read by the benchmark that it belongs to."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from verified.benchmark.answers import GroundTruth
from verified.benchmark.comparison.forms import form_of
from verified.benchmark.mad.answers import MovieTruth
from verified.benchmark.qvhighlights.answers import WindowTruth
from verified.benchmark.rextime.answers import QuestionTruth
from verified.benchmark.tvr_ranking.answers import GradedTruth
from verified.benchmark.vcmr.answers import MomentTruth

FORMS: dict[str, Callable[[Path], GroundTruth]] = {
    "moments": MomentTruth,
    "graded moments": GradedTruth,
    "windows": WindowTruth,
    "windows of moments": partial(WindowTruth, of_moments=True),
    "movies": MovieTruth,
    "questions": QuestionTruth,
}


def read_ground_truth(path: Path, submission: Path | None = None) -> GroundTruth:
    """The ground truth of a file by its form, as of `form_of`. Raises InputError, of that form's reader, for what is
    none."""
    return FORMS[form_of(path, submission)](path)
