"""Ground truths in which a query has any number of moments, also none. The form of a file follows from its beginning:

- JSON Lines ``desc_id, video, spans [[start, end], ...] (s)`` and, optionally, ``duration (s), caption``; spans of a
  query without a moment are [].
- QV-M2, QVHighlights and Soccer-GMR: JSON Lines ``qid, vid, relevant_windows, query, duration``.
- TimeLens-Bench: one JSON object ``{video: {duration, spans, queries}}``. Equal queries of a video are one, with all of
  their spans; ids count queries from 0, in the order of the file.
- OMTG Bench: tab-separated ``id, video, question, answer``; an answer is a JSON list of spans.
- Parts, one JSON object of files, relative to it: ``moments``, moments in any form; ``ambiguous``, findings of an audit
  (JSON Lines ``split, id, check, detail``; the split is the name of the file of moments): queries that it finds alike
  have the moments of each other, too; and ``absent``, JSON Lines ``desc_id``, one for each query that is asked of the
  video of this moment and shown nowhere in it.
"""

import csv
import dataclasses
import io
import json
import re
import reprlib
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import numpy as np

from verified.benchmark.submissions import first_row, rows_by_id
from verified.benchmark.vcmr.evaluate import MomentTruth
from verified.errors import InputError
from verified.io.files import checked
from verified.io.jsonl import Row, finite, is_array, is_object, is_span, iterate_jsonl, read_json

PEEKED = 2**16
"""Bytes read to recognise a form."""
OF_QUESTIONS = {"ans", "options"}
"""Keys of rows that ask more than a moment."""
COLUMNS = ["id", "video", "question", "answer"]
PARTS = {"moments", "ambiguous", "absent"}
TWIN = re.compile(r"query (\d+) at ")
"""The query that an ambiguous one is taken for, in a finding's detail."""
NO_SPAN = np.empty((0, 2))


@dataclasses.dataclass(frozen=True)
class Asked:
    """One query about one video."""

    id: int
    video: str
    spans: np.ndarray
    """[n, 2] seconds, n ≥ 0."""
    duration: float | None = None
    """Seconds of the video, where known."""
    caption: str = ""
    absent: bool = False
    """Whether it belongs to the part `absent`, whose ids are those of moments."""

    @property
    def kind(self) -> str:
        """``none``, ``one`` or ``several``, by the number of its moments."""
        return ("none", "one", "several")[min(len(self.spans), 2)]


def reader_of(path: Path, first: Row, of_lists: bool) -> Callable[[Path], list[Asked]] | None:
    """The reader of a file whose `first` row is known (see `benchmark.submissions.first_row`), None for other files.

    of_lists: whether the submission to it is in the TVR form; windows with another one are not read here.
    """
    if {"desc_id", "spans"} <= first.keys():
        return _read_own
    if "relevant_windows" in first:
        return _read_windows if of_lists and not OF_QUESTIONS & first.keys() else None
    if first or not path.is_file():
        return None
    with path.open("rb") as file:
        head = file.read(PEEKED).decode("utf-8-sig", errors="replace").lstrip()
    if head.partition("\n")[0].rstrip("\r").split("\t") == COLUMNS:
        return _read_table
    if head.startswith("{") and all(f'"{key}"' in head for key in ("duration", "spans", "queries")):
        return _read_videos
    return _read_parts if re.match(rf'\{{\s*"({"|".join(PARTS)})"\s*:\s*"', head) else None


def read_queries(path: Path) -> list[Asked]:
    """All queries of a file in one of the forms. Raises InputError with its row for a query that is none."""
    read = reader_of(path, first_row(path), True)
    if read is None or not (queries := read(path)):
        remedy = "give JSON Lines of desc_id, video and spans, or another form that this extension's README names"
        raise InputError("holds no queries with any number of moments", file=path, remedy=remedy)
    return queries


def _read_own(path: Path) -> list[Asked]:
    rows = rows_by_id(path, "desc_id", ("video", "spans"))
    return [_asked(i, row["video"], row["spans"], row, "caption", path, number) for number, i, row in rows]


def _read_windows(path: Path) -> list[Asked]:
    rows = rows_by_id(path, "qid", ("vid", "relevant_windows"))
    return [_asked(i, row["vid"], row["relevant_windows"], row, "query", path, number) for number, i, row in rows]


def _read_videos(path: Path) -> list[Asked]:
    queries: list[Asked] = []
    for number, (video, row) in enumerate(read_json(path).items(), start=1):
        spans, captions = (row.get(key) if is_object(row) else None for key in ("spans", "queries"))
        if not is_array(spans) or not is_array(captions) or len(spans) != len(captions):
            raise InputError(f"{video} needs spans and queries, one for each", file=path, row=number)
        own: dict[str, list] = defaultdict(list)
        for span, caption in zip(spans, captions):
            own[" ".join(str(caption).split())].append(span)
        queries += [
            _asked(i, video, spans, {**row, "query": caption}, "query", path, number)
            for i, (caption, spans) in enumerate(own.items(), start=len(queries))
        ]
    return queries


def _read_table(path: Path) -> list[Asked]:
    try:
        rows = list(csv.DictReader(io.StringIO(checked(path).read_text(encoding="utf-8-sig")), delimiter="\t"))
    except (ValueError, csv.Error) as error:
        raise InputError(f"no tab-separated table: {error}", file=path, remedy="give it as released") from None
    queries: dict[int, Asked] = {}
    for number, row in enumerate(rows, start=1):
        try:
            spans = json.loads(row["answer"] or "")
        except (ValueError, RecursionError):
            spans = row["answer"]
        query = _asked(row["id"], row["video"], spans, row, "question", path, number)
        if query.id in queries:
            raise InputError(f"id {query.id} is also in an earlier row", file=path, row=number, remedy="keep one")
        queries[query.id] = query
    return list(queries.values())


def _asked(name: object, video: object, spans: object, row: Row, text: str, path: Path, number: int) -> Asked:
    if not re.fullmatch(r"\d{1,15}", str(name), re.ASCII) or not isinstance(video, str) or not video:
        problem = f"{reprlib.repr(name)} about {reprlib.repr(video)} is no query"
    elif not is_array(spans) or not all(map(is_span, spans)):
        problem = f"query {name}: {reprlib.repr(spans)} is no list of spans"
    elif any(start >= end for start, end in spans):
        problem = f"query {name}: a span of {reprlib.repr(spans)} ends before it starts, or has no length"
    else:
        seconds = row.get("duration")
        duration = float(seconds) if finite(seconds) and seconds > 0 else None
        return Asked(int(str(name)), video, np.array(spans, float).reshape(-1, 2), duration, str(row.get(text, "")))
    remedy = "a query needs a whole number as id, a video, and its spans as a list of [start, end] in seconds"
    raise InputError(problem, file=path, row=number, remedy=remedy)


def _read_parts(path: Path) -> list[Asked]:
    parts = read_json(path)
    if "moments" not in parts or not parts.keys() <= PARTS or not all(isinstance(name, str) for name in parts.values()):
        remedy = "name moments and, if there are, ambiguous and absent"
        raise InputError(f"{reprlib.repr(parts)} names no parts of a ground truth", file=path, remedy=remedy)
    files = {part: path.parent / name for part, name in parts.items()}
    moments = {
        int(query.id): Asked(
            int(query.id), query.video, np.array([[query.start, query.end]]), query.duration, query.caption
        )
        for query in MomentTruth(files["moments"]).queries()
    }
    absent = []
    if "absent" in files:
        for number, name, row in rows_by_id(files["absent"], "desc_id"):
            if not name.isdecimal() or (moment := moments.get(int(name))) is None:
                problem = f"desc_id {name} is not in {files['moments']}"
                remedy = "a query without a moment has the desc_id of a moment of its video"
                raise InputError(problem, file=files["absent"], row=number, remedy=remedy)
            caption = str(row.get("twin", moment.caption))
            absent.append(dataclasses.replace(moment, spans=NO_SPAN, absent=True, caption=caption))
    if "ambiguous" in files:
        moments = _share_spans(moments, files["ambiguous"], files["moments"].stem)
    return [*moments.values(), *absent]


def _share_spans(moments: dict[int, Asked], file: Path, split: str) -> dict[int, Asked]:
    """The queries; those that are alike have all spans of their group, by time."""
    group = {name: {name} for name in moments}
    for number, row in enumerate(iterate_jsonl(file, ("split", "id", "check", "detail")), start=1):
        if row["split"] != split or row["check"] != "ambiguous":
            continue
        twin = TWIN.match(str(row["detail"]))
        pair = [int(name) for name in (str(row["id"]), twin[1] if twin else "") if name.isdecimal()]
        if len(pair) < 2 or not moments.keys() >= {*pair} or moments[pair[0]].video != moments[pair[1]].video:
            problem = f"{row['id']!r:.40} and {row['detail']!r:.80} are no two queries of a video of the split {split}"
            raise InputError(
                problem, file=file, row=number, remedy="give the findings of an audit of this ground truth"
            )
        joined = group[pair[0]] | group[pair[1]]
        group |= dict.fromkeys(joined, joined)
    return {
        name: dataclasses.replace(own, spans=np.unique(np.concatenate([moments[n].spans for n in group[name]]), axis=0))
        for name, own in moments.items()
    }
