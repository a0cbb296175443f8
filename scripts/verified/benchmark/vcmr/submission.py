"""Files of the TVR family: ground truth and submissions.

Ground truth is JSON Lines, either released FIG rows (`desc_id, video, time`) or TVR rows (`desc_id, vid_name, ts`, with
`type` optional; `ts` may list the spans of several annotators), or a file of Charades-STA, ActivityNet Captions or
DiDeMo as published, whose ids `released.formats.published_moments` gives; rows may also be one JSON list. A submission
is one JSON document: `video2idx` and the lists `VCMR`, `SVMR`, `VR` of `{desc_id, predictions}` with rows
`[video index, start, end, score]`, best first; scores may be absent. The submission may be gzipped. Windows of a
video's queries (`submissions.read_window_answers`) are the lists SVMR.
"""

import gzip
import io
import itertools
import json
import re
import reprlib
import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from verified.benchmark.lists import Lists
from verified.benchmark.submissions import Query, first_row, json_rows, list_some, read_window_answers
from verified.benchmark.vcmr.metrics import TASKS
from verified.errors import InputError
from verified.io.files import atomic_path, checked_file
from verified.io.jsonl import finite, is_span, members, unreadable
from verified.released.formats import published_form, published_moments

LARGEST = 2**53
"""Ids and indices stay below: float64 holds whole numbers exactly up to here."""
BOMB_RATIO = 100
"""A gzipped submission is five to ten times smaller than its text; a file that unpacks to so many times its size is
invalid.
"""
SMALLEST_BOMB = 64 * 2**20
"""Bytes of text that are always let through."""
FORMS = (
    "give one JSON document (video2idx, VCMR, SVMR, VR), rows of windows (qid, pred_relevant_windows), or another form"
    " that verified evaluate --help names; ids of"
    " lines of Charades-STA count from 0"
)
_WHOLE = re.compile(r"\s*-?[0-9]{1,15}\s*")


@dataclass
class Submission:
    """Predictions by task and desc_id: one [rows, 4] float64 array per query (video index, start, end, score)."""

    video_index: dict[str, int]
    tasks: dict[str, dict[int, np.ndarray]]
    repeated: dict[str, list[int]]
    """Per task, ids that appear more than once; the last entry counts."""


def read_truth(path: str | Path) -> dict[int, Query]:
    """Ground truth by desc_id: each query with one or more annotated spans.

    Raises InputError naming file and row for a row of neither form, a repeated id, or a span that is not two numbers.
    """
    truth: dict[int, Query] = {}
    for number, row in enumerate(truth_rows(path), start=1):
        video = row.get("vid_name", row.get("video"))
        spans = row.get("ts", row.get("windows") or row.get("annotator_times") or row.get("time"))
        if not isinstance(video, str) or spans is None:
            raise InputError(
                f"desc_id {reprlib.repr(row['desc_id'])} names no moment",
                file=path,
                row=number,
                remedy="a row needs vid_name and ts (TVR), or video and time (FIG)",
            )
        desc_id = _identifier(row["desc_id"], path, f"row {number}")
        if desc_id in truth:
            remedy = "keep one row of each desc_id; spans of several annotators are a list in `ts`"
            raise InputError(f"desc_id {desc_id} is also in an earlier row", file=path, row=number, remedy=remedy)
        spans = _spans(spans, path, number)
        caption = str(row.get("fig_desc") or row.get("desc") or row.get("cog_desc") or "")
        kind = row.get("fig_desc_type")
        kind = kind if isinstance(kind, str) else None
        truth[desc_id] = Query(
            desc_id, video, *spans[0], caption, kind, _duration(row), spans, "windows" in row, row.get("type")
        )
    if not truth:
        raise InputError("holds no query", file=path)
    return truth


def truth_rows(path: str | Path) -> Iterable[dict]:
    """The rows of a ground truth, each with its `desc_id`, of any form. Raises InputError if it is empty."""
    published = published_moments(Path(path))
    return json_rows(path, required=("desc_id",)) if published is None else published


def _duration(row: dict) -> float | None:
    duration = row.get("duration")
    return float(duration) if finite(duration) and duration > 0 else None


def _spans(value: object, path: object, row: int) -> tuple[tuple[float, float], ...]:
    spans: list[Any] = value if isinstance(value, list) and value and isinstance(value[0], list) else [value]
    for span in spans:
        if not is_span(span):
            raise InputError(
                f"{reprlib.repr(span)} is not a span", file=path, row=row, remedy="give [start, end] in seconds"
            )
    return tuple((float(start), float(end)) for start, end in spans)


def _identifier(value: object, path: object, place: str) -> int:
    if isinstance(value, str) and _WHOLE.fullmatch(value):
        return int(value)
    if not isinstance(value, int) or isinstance(value, bool) or abs(value) >= LARGEST:
        raise InputError(f"{place}: desc_id {reprlib.repr(value)} is not a whole number", file=path)
    return value


def read_submission(path: str | Path, videos: Mapping[int, str] = MappingProxyType({})) -> Submission:
    """Read a submission; `videos` of the queries are needed for windows, which do not name them.

    Raises InputError naming file, task and desc_id for an entry that is not a ranked list. Lists become arrays as they
    are read, so that the document is never in memory as Python objects.
    """
    path = Path(path)
    if (form := published_form(path)) is not None:
        raise InputError(f"has the form of {form}'s annotations, which no submission has", file=path, remedy=FORMS)
    if videos and "qid" in first_row(path):
        return _windows(path, videos)
    index: object = None
    others: list[str] = []
    tasks: dict[str, dict[int, np.ndarray]] = {}
    repeated: dict[str, list[int]] = {}
    try:
        for key, value in members(_text(path), TASKS):
            if key in ("video2idx", "vid2idx"):
                index = value if key == "video2idx" or index is None else index
            elif key in TASKS:
                if not isinstance(value, Iterator):
                    raise InputError(f"{key} must be a list of {{desc_id, predictions}}", file=path)
                tasks[key], repeated[key] = _lists(value, key, path)
            else:
                others.append(key)
    except TypeError:
        problem = "expected an object with video2idx and the lists VCMR, SVMR, VR"
        raise InputError(problem, file=path, remedy=FORMS) from None
    except (ValueError, RecursionError) as error:
        raise unreadable(error, path, remedy=FORMS) from None
    if not tasks:
        detail = f"its keys are {list_some([*map(repr, others)])}" if others else "it has no other key"
        raise InputError(f"holds none of the lists VCMR, SVMR, VR; {detail}", file=path, remedy=FORMS)
    return Submission(_check_index(index, path), {task: tasks[task] for task in TASKS if task in tasks}, repeated)


def _windows(path: Path, videos: Mapping[int, str]) -> Submission:
    """A submission of windows as the lists SVMR."""
    index = {video: number for number, video in enumerate(dict.fromkeys(videos.values()))}
    lists: dict[int, np.ndarray] = {}
    for qid, answer in read_window_answers(path).items():
        if answer.windows is None:
            raise InputError("has no pred_relevant_windows", file=path, remedy="give them, best first")
        desc_id = _identifier(qid, path, "a row")
        video = index.get(videos.get(desc_id, ""), 0)
        lists[desc_id] = np.insert(answer.windows, 0, video, axis=1)
    return Submission(index, {"SVMR": lists}, {"SVMR": []})


def _check_index(index: object, path: Path) -> dict[str, int]:
    """The number of each video. Raises InputError where two share one: they would be each other's hits."""
    whole = isinstance(index, dict) and all(
        isinstance(i, int) and not isinstance(i, bool) and 0 <= i < LARGEST for i in index.values()
    )
    if not isinstance(index, dict) or not whole:
        raise InputError("video2idx must map each video to a whole number from 0 on", file=path)
    if len(set(index.values())) < len(index):
        owner: dict[int, str] = {}
        first, second = next((owner[i], v) for v, i in index.items() if owner.setdefault(i, v) != v)
        raise InputError(f"video2idx gives {first!r} and {second!r} the same number", file=path)
    return index


def _text(path: Path) -> str:
    try:
        raw = checked_file(path).read_bytes()
        return (_unpack(raw, path) if raw[:2] == b"\x1f\x8b" else raw).decode("utf-8-sig")
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"damaged gzip file: {error}", file=path) from None


def _unpack(raw: bytes, path: Path) -> bytes:
    most = max(SMALLEST_BOMB, BOMB_RATIO * len(raw))
    with gzip.open(io.BytesIO(raw)) as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise InputError(f"unpacks to more than {BOMB_RATIO} times its size, as no submission does", file=path)
    return content


def _lists(entries: Iterator, task: str, path: Path) -> tuple[dict[int, np.ndarray], list[int]]:
    ids: list[int] = []
    tables: list[np.ndarray] = []
    for position, entry in enumerate(entries):
        place = f"{task}, entry {position}"
        if not isinstance(entry, dict) or "desc_id" not in entry or not isinstance(entry.get("predictions"), list):
            raise InputError(f"{place}: expected desc_id and a list of predictions", file=path)
        ids.append(_identifier(entry["desc_id"], path, place))
        tables.append(_table(entry["predictions"], f"{task}, desc_id {ids[-1]}", path))
    _check_numbers(tables, ids, task, path)
    lists = dict(zip(ids, tables))
    distinct: set[int] = set()
    repeated = [] if len(lists) == len(ids) else [each for each in ids if each in distinct or distinct.add(each)]
    return lists, repeated


def _table(rows: list, place: str, path: Path) -> np.ndarray:
    """Rows [n, 4]: the first three elements of each, and a score, which falls with the rank if a row lacks one."""
    lists = set(map(type, rows)) <= {list}
    lengths = set(map(len, rows)) if lists else {0}
    if min(lengths, default=4) == 3 or max(lengths, default=4) > 4:
        scored = all(len(row) > 3 and finite(row[3]) for row in rows)
        rows = [[*row[:3], row[3] if scored else -rank] for rank, row in enumerate(rows)]
        lengths = set(map(len, rows))
    numbers = list(itertools.chain.from_iterable(rows)) if lists and lengths <= {4} else [None]
    if not set(map(type, numbers)) <= {int, float}:
        raise InputError(f"{place}: each prediction must be [video index, start, end, score]", file=path)
    try:
        packed = struct.pack(f"{len(numbers)}d", *numbers)  # in half the time of an array made from a list
    except struct.error:  # an integer beyond all floats
        raise InputError(f"{place}: a number is too large", file=path) from None
    return np.frombuffer(packed).reshape(-1, 4)


def _check_numbers(tables: list[np.ndarray], ids: list[int], task: str, path: Path) -> None:
    """Raise InputError for the first row of the lists of a task that is not a video's number and finite numbers."""
    rows = np.concatenate([np.empty((0, 4)), *tables])
    video = rows[:, 0]
    good = np.isfinite(rows).all(axis=1) & (video == np.floor(video)) & (video >= 0) & (video < LARGEST)
    if not good.all():
        bad = int(good.argmin())
        ends = np.cumsum([len(table) for table in tables])
        place = int(np.searchsorted(ends, bad, side="right"))
        raise InputError(
            f"{task}, desc_id {ids[place]}: prediction {bad - ends[place] + len(tables[place])} is "
            f"{reprlib.repr(rows[bad].tolist())}, not finite numbers",
            file=path,
            remedy="a row begins with the number of a video in video2idx, a whole number from 0 on",
        )


def write_submission(
    path: str | Path, videos: list[str], desc_ids: np.ndarray, captions: list[str], tasks: dict[str, Lists]
) -> None:
    """Write a gzipped submission with the same bytes for the same content (no time in the gzip header).

    `desc_ids` [Q]; row videos are positions in `videos`; times get two decimals.
    """
    document: dict[str, object] = {"video2idx": {video: index for index, video in enumerate(videos)}}
    for task, lists in tasks.items():
        counts = lists.counts()
        document[task] = [
            {
                "desc_id": int(desc_id),
                "desc": captions[query],
                "predictions": [
                    [
                        int(lists.video[query, row]),
                        round(float(lists.start[query, row]), 2),
                        round(float(lists.end[query, row]), 2),
                        float(lists.score[query, row]),
                    ]
                    for row in range(counts[query])
                ],
            }
            for query, desc_id in enumerate(desc_ids)
        ]
    text = json.dumps(document, ensure_ascii=False, allow_nan=False).encode("utf-8")
    with atomic_path(path) as temporary:
        temporary.write_bytes(gzip.compress(text, compresslevel=6, mtime=0))
