"""Which benchmark a ground truth belongs to: moments (FIG, TVR), movies (MAD) or questions (ReXTime)."""

from collections.abc import Callable
from pathlib import Path

from verified.benchmark.answers import GroundTruth
from verified.benchmark.mad.answers import MovieTruth
from verified.benchmark.rextime.answers import QuestionTruth
from verified.benchmark.vcmr.answers import MomentTruth
from verified.errors import InputError
from verified.io.jsonl import iterate_jsonl

FORMS: dict[str, Callable[[Path], GroundTruth]] = {
    "moments": MomentTruth,
    "movies": MovieTruth,
    "questions": QuestionTruth,
}


def form_of(path: Path) -> str:
    """The name in `FORMS` of what a file holds, by its first row; moments where it is nothing that can be read."""
    try:
        first = next(iterate_jsonl(path), {})
    except InputError:  # no JSON Lines: one object on several lines, or nothing that can be read
        first = {}
    if "qid" in first:
        return "questions"
    return "movies" if path.suffix == ".json" and "desc_id" not in first else "moments"


def read_ground_truth(path: Path) -> GroundTruth:
    """The ground truth of a file by its form. Raises InputError, of that form's reader, for what is none."""
    return FORMS[form_of(path)](path)
