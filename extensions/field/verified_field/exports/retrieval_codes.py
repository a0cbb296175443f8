"""The annotation files that codes of moment retrieval read: TVR, QVHighlights, ActivityNet Captions, Charades-STA.

All have one sentence for one span: the fine caption.
"""

import json
import re
from pathlib import Path
from urllib.parse import quote

from verified.export.card import write_cards
from verified.export.collection import Collection, caption_of
from verified.export.form import ExportForm
from verified.io.files import write_text
from verified.io.jsonl import write_json, write_jsonl
from verified.io.text_tables import write_csv

TVR_TEXT = (
    "SPLIT.jsonl in the form of TVR's releases (vid_name, duration, ts, desc, type, desc_id; every type is v: no"
    " subtitles), and video2dur_idx.json with each video's duration and its number in the split, as in a run's"
    " submissions; the official evaluation reads them."
)
QVHIGHLIGHTS_TEXT = (
    "SPLIT.jsonl in the form of QVHighlights as codes for moments read it, lighthouse among them (qid, query, duration,"
    " vid, relevant_windows). There are no saliency_scores and relevant_clip_ids: how well each clip shows a query only"
    " people can say, and these codes do without them, as for Charades-STA. The code of Moment-DETR learns from such a"
    " file if its path contains subs_train."
)
ACTIVITYNET_TEXT = (
    "SPLIT.json in the form of ActivityNet Captions, {video: {duration, timestamps, sentences}}; `caption_ids` beside"
    " the sentences are ours."
)
CHARADES_TEXT = (
    "SPLIT.txt in the form of Charades-STA, VIDEO START END##sentence, and SPLIT.csv with the length of each video"
    " (columns id and length). Blanks and % in the name of a video are written as %20 and %25."
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
        write_jsonl(
            folder / f"{split}.jsonl",
            (
                {
                    "qid": row["caption_id"],
                    "query": caption_of(row),
                    "duration": row["duration"],
                    "vid": row["video"],
                    "relevant_windows": row.get("windows", [[row["start"], row["end"]]]),
                }
                for row in rows
            ),
        )
    write_cards(folder, "qvhighlights", QVHIGHLIGHTS_TEXT, collection)


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
