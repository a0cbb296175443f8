"""The annotation files that codes of moment retrieval read: TVR, QVHighlights, ActivityNet Captions, Charades-STA; and
those of the viewer FiftyOne.

All have one sentence for one span: the fine caption.
"""

import json
import re
from pathlib import Path
from urllib.parse import quote

import numpy as np

from verified.export.card import write_cards
from verified.export.collection import Collection, caption_of
from verified.export.form import ExportForm
from verified.io.files import write_text
from verified.io.jsonl import write_json, write_jsonl
from verified.io.text_tables import write_csv
from verified_field.window_rows import ANNOTATORS, CLIP_SECONDS

TVR_TEXT = (
    "SPLIT.jsonl in the form of TVR's releases (vid_name, duration, ts, desc, type, desc_id; every type is v: no"
    " subtitles), and video2dur_idx.json with each video's duration and its number in the split, as in a run's"
    " submissions; the official evaluation reads them."
)
QVHIGHLIGHTS_TEXT = (
    "SPLIT.jsonl in the form of QVHighlights (qid, query, duration, vid, relevant_windows, relevant_clip_ids,"
    " saliency_scores), as the code of Moment-DETR reads it. The scores follow from the windows: three equal ones for"
    " each clip of two seconds, by the share of it in a window. No person gave them, so figures of highlights on these"
    " files say nothing."
)
ACTIVITYNET_TEXT = (
    "SPLIT.json in the form of ActivityNet Captions, {video: {duration, timestamps, sentences}}; `caption_ids` beside"
    " the sentences are ours."
)
CHARADES_TEXT = (
    "SPLIT.txt in the form of Charades-STA, VIDEO START END##sentence, and SPLIT.csv with the length of each video"
    " (columns id and length). Blanks and % in the name of a video are written as %20 and %25."
)
FIFTYONE_TEXT = (
    "SPLIT.json, the labels of a FiftyOneTemporalDetectionDataset: under each video a caption (label), its seconds"
    " (timestamps) and its number (caption_id). FiftyOne takes the folder of the videos beside it (data_path,"
    " labels_path)."
)


def write_tvr(folder: Path, collection: Collection) -> None:
    """TVR's JSON Lines and the index of videos, with the numbers that submissions of a run give them."""
    lengths = {}
    for split, rows in collection.splits.items():
        write_jsonl(
            folder / f"{split}.jsonl",
            (
                {
                    "vid_name": row["video"],
                    "duration": row["duration"],
                    "ts": [row["start"], row["end"]],
                    "desc": caption_of(row),
                    "type": "v",
                    "desc_id": row["caption_id"],
                }
                for row in rows
            ),
        )
        durations = {row["video"]: row["duration"] for row in rows}
        lengths[split] = {video: [durations[video], number] for number, video in enumerate(sorted(durations))}
    write_json(folder / "video2dur_idx.json", lengths)
    write_cards(folder, "tvr", TVR_TEXT, collection)


def write_qvhighlights(folder: Path, collection: Collection) -> None:
    """QVHighlights' JSON Lines."""
    for split, rows in collection.splits.items():
        lines = []
        for row in rows:
            windows = row.get("windows", [[row["start"], row["end"]]])
            line = {"qid": row["caption_id"], "query": caption_of(row), "duration": row["duration"]}
            line |= {"vid": row["video"], "relevant_windows": windows}
            lines.append(line | _saliency(windows, row["duration"]))
        write_jsonl(folder / f"{split}.jsonl", lines)
    write_cards(folder, "qvhighlights", QVHIGHLIGHTS_TEXT, collection)


def _saliency(windows: list[list[float]], duration: float) -> dict[str, list]:
    """Clips in the windows, and 1 to 4 for the share of each that is in one; the last clip lasts to the end."""
    edges = np.arange(0, CLIP_SECONDS * (int(duration / CLIP_SECONDS) + 1), CLIP_SECONDS, dtype=float)
    edges[-1] = np.inf
    inside = [np.minimum(end, edges[1:]) - np.maximum(start, edges[:-1]) for start, end in windows]
    share = np.clip(inside, 0, None).sum(axis=0) / CLIP_SECONDS
    grades = np.minimum(np.ceil(4 * share.round(6)), 4).astype(int)
    clips = np.flatnonzero(grades)
    scores = [[grade] * ANNOTATORS for grade in grades[clips].tolist()]
    return {"relevant_clip_ids": clips.tolist(), "saliency_scores": scores}


def write_fiftyone(folder: Path, collection: Collection) -> None:
    """One JSON object of videos for each split, without a list of classes: a label is a text."""
    for split, rows in collection.splits.items():
        labels: dict[str, list[dict]] = {}
        for row in rows:
            moment = {"label": caption_of(row), "timestamps": [row["start"], row["end"]]}
            labels.setdefault(row["video"], []).append({**moment, "attributes": {"caption_id": row["caption_id"]}})
        write_json(folder / f"{split}.json", {"classes": None, "labels": labels})
    write_cards(folder, "fiftyone", FIFTYONE_TEXT, collection)


def write_activitynet_captions(folder: Path, collection: Collection) -> None:
    """One JSON object of videos for each split."""
    for split, rows in collection.splits.items():
        videos: dict[str, dict] = {}
        for row in rows:
            empty = {"duration": row["duration"], "timestamps": [], "sentences": [], "caption_ids": []}
            entry = videos.setdefault(row["video"], empty)
            entry["timestamps"].append([row["start"], row["end"]])
            entry["sentences"].append(caption_of(row))
            entry["caption_ids"].append(row["caption_id"])
        write_text(folder / f"{split}.json", json.dumps(videos, ensure_ascii=False) + "\n")
    write_cards(folder, "activitynet-captions", ACTIVITYNET_TEXT, collection)


def write_charades_sta(folder: Path, collection: Collection) -> None:
    """Text lines, and the lengths of the videos as CSV."""
    for split, rows in collection.splits.items():
        lines = [
            f"{_one_word(row['video'])} {row['start']!r} {row['end']!r}##{' '.join(caption_of(row).split())}\n"
            for row in rows
        ]
        write_text(folder / f"{split}.txt", "".join(lines))
        lengths = {_one_word(row["video"]): row["duration"] for row in rows}
        write_csv(folder / f"{split}.csv", [("id", "length"), *lengths.items()])
    write_cards(folder, "charades-sta", CHARADES_TEXT, collection)


def _one_word(video: str) -> str:
    return re.sub(r"[\s%]", lambda match: quote(match[0]), video)


TVR = ExportForm(write_tvr)
QVHIGHLIGHTS = ExportForm(write_qvhighlights)
ACTIVITYNET = ExportForm(write_activitynet_captions)
CHARADES = ExportForm(write_charades_sta)
FIFTYONE = ExportForm(write_fiftyone)
