"""Which benchmark a ground truth belongs to: moments, graded ones, windows, movies or questions."""

from collections.abc import Callable
from pathlib import Path

from verified.benchmark.answers import GroundTruth
from verified.benchmark.mad.answers import MovieTruth
from verified.benchmark.qvhighlights.answers import WindowTruth
from verified.benchmark.rextime.answers import QuestionTruth
from verified.benchmark.tvr_ranking.answers import GradedTruth
from verified.benchmark.tvr_ranking.rows import is_graded
from verified.benchmark.vcmr.answers import MomentTruth
from verified.errors import InputError
from verified.io.jsonl import iterate_jsonl
from verified.released.formats import published_form

FORMS: dict[str, Callable[[Path], GroundTruth]] = {
    "moments": MomentTruth,
    "graded moments": GradedTruth,
    "windows": WindowTruth,
    "movies": MovieTruth,
    "questions": QuestionTruth,
}

ASKED = {"ans", "options", "question", "category", "kind"}
"""Keys that questions have and queries for windows have not."""


def form_of(path: Path) -> str:
    """The name in `FORMS` of what a file holds, by its first row; moments where it is nothing that can be read."""
    if is_graded(path):
        return "graded moments"
    first = first_row(path)
    if "qid" in first:
        return "questions" if ASKED & set(first) else "windows"
    movies = path.suffix == ".json" and "desc_id" not in first and published_form(path) is None
    return "movies" if movies else "moments"


def first_row(path: Path) -> dict:
    """The first row of a JSON Lines file; empty for one document on several lines, or what cannot be read."""
    try:
        return next(iterate_jsonl(path), {})
    except InputError:
        return {}


def read_ground_truth(path: Path) -> GroundTruth:
    """The ground truth of a file by its form. Raises InputError, of that form's reader, for what is none."""
    return FORMS[form_of(path)](path)
