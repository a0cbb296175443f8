"""Ground truth in the forms of TVR-Ranking, checked row by row.

Either a row for each pair of a query and a moment, ``query_id, query, video_name, timestamp [start, end] (s), duration
(s), relevance (0 to 4)``, as released; or a row for each query with these moments as ``relevant_moment``, as the
authors' code reads them. JSON Lines, or one JSON list.
"""

import dataclasses
import os
import reprlib
from collections.abc import Iterator
from pathlib import Path

from verified.errors import InputError
from verified.io.jsonl import Row, finite, is_array, is_object, is_span, iterate_jsonl, read_json

PEEKED = 2**12
"""Bytes read to recognise a form."""
REMEDY = "a moment needs video_name, timestamp [start, end] in seconds and relevance, 0 to 4"


@dataclasses.dataclass(frozen=True)
class GradedMoment:
    """A moment of a query."""

    video: str
    start: float
    """Seconds, as `end`."""
    end: float
    relevance: float
    """Relevance from 0, none, to 4."""
    duration: float | None


@dataclasses.dataclass(frozen=True)
class GradedQuery:
    """A query and all moments that people graded for it, in the order of the file."""

    id: int
    query: str
    moments: tuple[GradedMoment, ...]


def read_graded_queries(path: str | os.PathLike) -> list[GradedQuery]:
    """All queries of a file, in the order of their first moment.

    Raises InputError with the row for a moment that is none, an id that is no whole number, and a query that has no
    moment above 0: no list could score.
    """
    texts: dict[int, str] = {}
    moments: dict[int, list[GradedMoment]] = {}
    first: dict[int, int] = {}
    for number, row in enumerate(_rows(Path(path)), start=1):
        query_id, text = row.get("query_id"), row.get("query")
        if not isinstance(query_id, int) or isinstance(query_id, bool) or not isinstance(text, str):
            raise InputError("needs query_id, a whole number, and query, a text", file=path, row=number)
        own = row.get("relevant_moment", [row])
        if not is_array(own):
            raise InputError("relevant_moment is no list", file=path, row=number, remedy=REMEDY)
        texts.setdefault(query_id, text)
        first.setdefault(query_id, number)
        moments.setdefault(query_id, []).extend(_moment(moment, path, number) for moment in own)
    if not texts:
        raise InputError("the file holds no queries", file=path)
    for query_id, own in moments.items():
        if not any(moment.relevance > 0 for moment in own):
            raise InputError(f"query {query_id} has no relevant moment", file=path, row=first[query_id], remedy=REMEDY)
    return [GradedQuery(query_id, text, tuple(moments[query_id])) for query_id, text in texts.items()]


def is_graded(path: Path) -> bool:
    """Whether a file begins as TVR-Ranking's do."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        head = file.read(PEEKED)
    return b'"query_id"' in head and (b'"relevant_moment"' in head or b'"relevance"' in head)


def _rows(path: Path) -> Iterator[Row]:
    if not path.is_file():
        raise InputError("no such file", file=path)
    with path.open("rb") as file:
        is_list = file.read(PEEKED).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"[")
    if not is_list:
        yield from iterate_jsonl(path)
        return
    for number, row in enumerate(read_json(path), start=1):
        if not is_object(row):
            raise InputError(f"{reprlib.repr(row)} is no object", file=path, row=number)
        yield row


def _moment(moment: object, path: str | os.PathLike, row: int) -> GradedMoment:
    video, span, relevance = (
        moment.get(key) if is_object(moment) else None for key in ("video_name", "timestamp", "relevance")
    )
    if not isinstance(video, str) or not is_span(span) or not finite(relevance) or not 0 <= relevance <= 4:
        raise InputError(f"{reprlib.repr(moment)} is no graded moment", file=path, row=row, remedy=REMEDY)
    duration = moment.get("duration") if is_object(moment) else None
    start, end = map(float, span)
    return GradedMoment(video, start, end, float(relevance), float(duration) if finite(duration) else None)
