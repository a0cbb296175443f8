"""Which benchmark a ground truth belongs to: moments (FIG, TVR), films (MAD) or questions (ReXTime)."""

from pathlib import Path

from verified.benchmark.answers import GroundTruth
from verified.benchmark.mad.answers import FilmTruth
from verified.benchmark.rextime.answers import QuestionTruth
from verified.benchmark.vcmr.answers import MomentTruth
from verified.errors import InputError
from verified.io.jsonl import iterate_jsonl


def read_ground_truth(path: Path) -> GroundTruth:
    """The ground truth of a file by its form. Raises InputError, of that form's reader, for what is none."""
    try:
        first = next(iterate_jsonl(path), {})
    except InputError:  # no JSON Lines: one object on several lines, or nothing that can be read
        first = {}
    if "qid" in first:
        return QuestionTruth(path)
    return FilmTruth(path) if path.suffix == ".json" and "desc_id" not in first else MomentTruth(path)
