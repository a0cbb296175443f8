"""Which benchmark a ground truth belongs to: moments, graded ones, windows, movies or questions."""

import json
from pathlib import Path

from verified.benchmark.tvr_ranking.rows import is_graded
from verified.io.jsonl import Row, is_object
from verified.released.formats import published_form

LONGEST = 2**20
"""Bytes of a first row; a longer line is a document, of which only the beginning is read."""
ASKED = {"ans", "options", "question", "category", "kind"}
"""Keys that questions have and queries for windows have not."""


def form_of(path: Path) -> str:
    """The name in `ground_truth.FORMS` of what a file holds, by its first row; moments where none can be read."""
    if is_graded(path):
        return "graded moments"
    first = first_row(path)
    if "qid" in first:
        return "questions" if ASKED & set(first) else "windows"
    movies = path.suffix == ".json" and "desc_id" not in first and published_form(path) is None
    return "movies" if movies else "moments"


def first_row(path: Path) -> Row:
    """The first row of a JSON Lines file; empty for a document, be it on one line, or what cannot be read."""
    try:
        with path.open("rb") as file:
            row = json.loads(file.readline(LONGEST).decode("utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return {}
    return row if is_object(row) else {}
