"""Files of the TVR family: ground truth and submissions.

Ground truth is JSON Lines, either released FIG rows (`desc_id, video, time`) or TVR rows (`desc_id, vid_name, ts`, with
`type` optional; `ts` may list the spans of several annotators). A submission is one JSON document: `video2idx` and the
lists `VCMR`, `SVMR`, `VR` of `{desc_id, predictions}` with rows `[video index, start, end, score]`, best first. The
submission may be gzipped.
"""

import gzip
import json
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from verified.common.errors import InputError
from verified.common.files import atomic_path
from verified.common.jsonl import iterate_jsonl
from verified.retrieval.metrics import TASKS, TYPES, Lists


@dataclass
class TrueMoment:
    """One query of the ground truth: its video and one or more annotated spans in seconds."""

    video: str
    spans: list[tuple[float, float]]
    kind: str | None = None


@dataclass
class Submission:
    """Predictions by task and desc_id: one [rows, 4] float64 array per query (video index, start, end, score)."""

    video_index: dict[str, int]
    tasks: dict[str, dict[int, np.ndarray]]
    repeated: dict[str, list[int]]
    """Per task, ids that appear more than once; the last entry is the one that is kept."""


def read_truth(path: str | Path) -> dict[int, TrueMoment]:
    """Ground truth by desc_id. A repeated id keeps its last row, as in the TVR evaluator.

    Raises InputError naming file and row for a row of neither form, or a span that is not two numbers.
    """
    truth: dict[int, TrueMoment] = {}
    for number, row in enumerate(iterate_jsonl(path, required=("desc_id",)), start=1):
        video = row.get("vid_name", row.get("video"))
        spans = row.get("ts", row.get("time"))
        if not isinstance(video, str) or spans is None:
            raise InputError(
                f"desc_id {row['desc_id']!r} names no moment", file=path, row=number,
                remedy="a row needs vid_name and ts (TVR), or video and time (FIG)",
            )  # fmt: skip
        desc_id = _identifier(row["desc_id"], path, f"row {number}")
        truth[desc_id] = TrueMoment(video, _spans(spans, path, number), row.get("type"))
    if not truth:
        raise InputError("holds no query", file=path)
    return truth


def _spans(value: object, path: object, row: int) -> list[tuple[float, float]]:
    spans = value if isinstance(value, list) and value and isinstance(value[0], list) else [value]
    for span in spans:
        if not (isinstance(span, list) and len(span) == 2 and all(_number(second) for second in span)):
            raise InputError(f"{span!r} is not a span", file=path, row=row, remedy="give [start, end] in seconds")
    return [(float(start), float(end)) for start, end in spans]


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and np.isfinite(value)


def _identifier(value: object, path: object, where: str) -> int:
    if isinstance(value, str) and value.strip().lstrip("-").isdigit():
        return int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        raise InputError(f"{where}: desc_id {value!r} is not a whole number", file=path)
    return value


def has_types(truth: dict[int, TrueMoment]) -> bool:
    """Whether every query has one of TVR's types v, t, vt."""
    return all(moment.kind in TYPES for moment in truth.values())


def read_submission(path: str | Path) -> Submission:
    """Read a submission. Raises InputError naming file, task and desc_id for anything that is not a ranked list."""
    document = _document(Path(path))
    if not isinstance(document, dict):
        raise InputError("expected an object with video2idx and the lists VCMR, SVMR, VR", file=path)
    index = document.get("video2idx", document.get("vid2idx"))
    if not isinstance(index, dict) or not all(isinstance(i, int) and not isinstance(i, bool) for i in index.values()):
        raise InputError("video2idx must map each video to a whole number", file=path)
    tasks, repeated = {}, {}
    for task in TASKS:
        if task not in document:
            continue
        if not isinstance(document[task], list):
            raise InputError(f"{task} must be a list of {{desc_id, predictions}}", file=path)
        tasks[task], repeated[task] = _lists(document[task], task, path)
    if not tasks:
        raise InputError("holds none of the lists VCMR, SVMR, VR", file=path)
    return Submission(index, tasks, repeated)


def _document(path: Path) -> object:
    try:
        raw = path.read_bytes()
        text = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
        return json.loads(text.decode("utf-8-sig"))
    except FileNotFoundError:
        raise InputError("no such file", file=path) from None
    except IsADirectoryError:
        raise InputError("is a folder, not a submission", file=path) from None
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"damaged gzip file: {error}", file=path) from None
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise InputError(f"not a JSON document: {error}", file=path) from None


def _lists(entries: list, task: str, path: object) -> tuple[dict[int, np.ndarray], list[int]]:
    lists: dict[int, np.ndarray] = {}
    repeated = []
    for position, entry in enumerate(entries):
        where = f"{task}, entry {position}"
        if not isinstance(entry, dict) or "desc_id" not in entry or not isinstance(entry.get("predictions"), list):
            raise InputError(f"{where}: expected desc_id and a list of predictions", file=path)
        desc_id = _identifier(entry["desc_id"], path, where)
        if desc_id in lists:
            repeated.append(desc_id)
        lists[desc_id] = _rows(entry["predictions"], f"{task}, desc_id {desc_id}", path)
    return lists, repeated


def _rows(rows: list, where: str, path: object) -> np.ndarray:
    if not rows:
        return np.zeros((0, 4))
    try:
        table = np.array(rows, dtype=np.float64)
    except (ValueError, TypeError):
        table = np.empty(0)
    if table.ndim != 2 or table.shape[1] != 4:
        raise InputError(f"{where}: each prediction must be [video index, start, end, score]", file=path)
    bad = np.flatnonzero(~np.isfinite(table).all(axis=1) | (table[:, 0] != np.floor(table[:, 0])) | (table[:, 0] < 0))
    if len(bad):
        raise InputError(f"{where}: prediction {bad[0]} is {rows[bad[0]]}, not finite numbers", file=path)
    return table


def write_submission(
    path: str | Path, videos: list[str], desc_ids: np.ndarray, captions: list[str], tasks: dict[str, Lists]
) -> None:
    """Write a gzipped submission with the same bytes for the same content (no time in the gzip header).

    Row videos are positions in `videos`; times get two decimals.
    """
    document: dict[str, object] = {"video2idx": {video: index for index, video in enumerate(videos)}}
    for task, lists in tasks.items():
        counts = lists.counts()
        document[task] = [
            {
                "desc_id": int(desc_id),
                "desc": captions[query],
                "predictions": [
                    [int(lists.video[query, row]), round(float(lists.start[query, row]), 2),
                     round(float(lists.end[query, row]), 2), float(lists.score[query, row])]
                    for row in range(counts[query])
                ],
            }
            for query, desc_id in enumerate(desc_ids)
        ]  # fmt: skip
    text = json.dumps(document, ensure_ascii=False, allow_nan=False).encode("utf-8")
    with atomic_path(path) as temporary:
        temporary.write_bytes(gzip.compress(text, compresslevel=6, mtime=0))
