"""Ground truths of every published form, with a submission, and what scores one by the other."""

import json
import shutil
from pathlib import Path

from tvr_lists import COUNT, lists

from verified.io.jsonl import write_json, write_jsonl

FIXTURES = Path(__file__).parent / "fixtures"
SECONDS = [[10.0 * number, 10.0 * number + 4] for number in range(COUNT)]


def window_files(folder):
    for name in ("truth.jsonl", "submission.jsonl"):
        lines = (FIXTURES / "qvhighlights" / name).read_text().splitlines()
        (folder / name).write_text("\n".join(lines[:8]) + "\n")
    return [
        ["evaluate", "truth.jsonl", "submission.jsonl", "--json"],
        ["evaluate", "truth.jsonl", "submission.jsonl", "--last-of-equal-ids"],
        ["compare", "truth.jsonl", "submission.jsonl", "again=submission.jsonl", "--output", "out"],
    ]


def graded_files(folder):
    truth = json.loads((FIXTURES / "tvr-ranking" / "truth.json").read_text())
    write_json(folder / "truth.json", truth)
    pairs = [
        {"query_id": query["query_id"], "query": query["query"], **moment}
        for query in truth
        for moment in query["relevant_moment"]
    ]
    write_jsonl(folder / "pairs.jsonl", pairs)
    shutil.copy(FIXTURES / "tvr-ranking" / "submission.json", folder)
    return [
        ["evaluate", "truth.json", "submission.json", "--json"],
        ["evaluate", "pairs.jsonl", "submission.json", "--partial"],
        ["compare", "truth.json", "submission.json", "again=submission.json", "--output", "out"],
    ]


def published_files(folder):
    """Charades-STA, ActivityNet Captions and DiDeMo, to which the ids are given by the order of their moments."""
    lines = [
        f"v{number % 2} {start} {end}##a person opens door {number}." for number, (start, end) in enumerate(SECONDS)
    ]
    (folder / "charades.txt").write_text("\n".join(lines) + "\n")
    videos = {
        f"v{video}": {"duration": 200.0, "timestamps": SECONDS[video::2], "sentences": ["A door opens."] * (COUNT // 2)}
        for video in (0, 1)
    }
    write_json(folder / "activitynet.json", videos)
    rows = [
        {"annotation_id": number, "video": f"v{number % 2}.mp4", "description": "a door", "times": [[0, 1]],
         "num_segments": 6}
        for number in range(COUNT)
    ]  # fmt: skip
    write_json(folder / "didemo.json", rows)
    (folder / "submission.json.gz").write_bytes(lists(lambda number: number < 5))
    windows = [{"qid": number, "pred_relevant_windows": [[0, 4, 0.5]]} for number in range(COUNT)]
    write_jsonl(folder / "windows.jsonl", windows)
    truths = ("charades.txt", "activitynet.json", "didemo.json")
    return [["evaluate", truth, given] for truth in truths for given in ("submission.json.gz", "windows.jsonl")]


KINDS = (window_files, graded_files, published_files)
