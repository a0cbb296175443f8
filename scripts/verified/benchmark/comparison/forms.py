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
ROW_KEYS = {"qid", "desc_id", "query_id"}
"""Keys of rows; an object on one line without them is a document."""


def form_of(path: Path, submission: Path | None = None) -> str:
    """The name in `ground_truth.FORMS` of what a file holds, by its first row; moments where none can be read.

    Moments that `submission` answers by windows are "windows of moments".
    """
    if is_graded(path):
        return "graded moments"
    first = first_row(path)
    if "qid" in first:
        return "questions" if ASKED & set(first) else "windows"
    if path.suffix == ".json" and not first and published_form(path) is None:
        return "movies"
    return "windows of moments" if submission and "qid" in first_row(submission) else "moments"


def first_row(path: Path) -> Row:
    """The first row of a JSON Lines file or of a JSON list; empty for any other document, or what cannot be read."""
    try:
        with path.open("rb") as file:
            text = file.read(LONGEST).decode("utf-8-sig", errors="ignore").lstrip()
        is_list = text.startswith("[")
        row, _ = json.JSONDecoder().raw_decode(text[1:].lstrip() if is_list else text.split("\n", 1)[0])
    except (OSError, ValueError, RecursionError):
        return {}
    if not is_object(row) or not (is_list or ROW_KEYS & set(row)):
        return {}
    return row
