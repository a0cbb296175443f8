"""Pages for annotators (supplement C.7): the items of a tool, their assignment, and a page for each annotator.

Three tools: `verify` (is the pair sound; when is the answer shown), `question-span` (when is the question's event
shown) and `human` (options and a span, for human performance). The pages hold what an annotator may see and nothing
else: no span in `verify`, no right letter in `human`, nor an id there, which says kind and direction of a question.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from verified.benchmark.rextime.rows import LETTERS
from verified.errors import InputError
from verified.io.characters import hidden
from verified.io.jsonl import finite, is_span, iterate_jsonl
from verified.io.text_tables import read_csv
from verified.io.video.cut import cut
from verified.people.pages import Page
from verified.people.sample import add_digest, assign

Tool = Literal["verify", "question-span", "human"]
SHOWN = {
    "verify": ("qid", "query", "answer", "video", "duration", "kind"),
    "question-span": ("qid", "query", "answer", "video", "duration", "kind", "window"),
    "human": ("query", "video", "duration", "options"),
}
"""Fields of an item that each tool shows."""
NEEDED = {"verify": ("answer",), "question-span": ("answer", "window"), "human": ("options",)}


def read_items(path: str | os.PathLike, tool: Tool) -> list[dict]:
    """Items of a CSV or JSON Lines file: ``qid, query, vid, duration`` and what the tool needs besides.

    JSON Lines are questions as the workflow writes them. A CSV has the columns ``qid, query, vid, duration`` and, as
    the tool needs them, ``answer``, ``start`` and ``end`` (of the answer), ``option_A`` to ``option_D``. Raises
    InputError with the row for what is missing.
    """
    path = Path(path)
    rows = _csv_rows(path) if path.suffix.lower() == ".csv" else enumerate(iterate_jsonl(path), start=1)
    items: dict[str, dict] = {}
    for number, row in rows:
        item = _item(row, path, number)
        missing = [name for name in NEEDED[tool] if not item.get(name)]
        if missing:
            raise InputError(f"the tool {tool} needs {', '.join(missing)}", file=path, row=number)
        if item["qid"] in items:
            raise InputError(f"'qid' {item['qid']} is also in an earlier row", file=path, row=number)
        items[item["qid"]] = item
    if not items:
        raise InputError("the file holds no items", file=path)
    return list(items.values())


def _csv_rows(path: Path) -> Iterable[tuple[int, dict]]:
    for number, cells in read_csv(path, ()):
        row: dict[str, Any] = {name: cell for name, cell in cells.items() if name and cell}
        if "start" in row or "end" in row:
            row["relevant_windows"] = [[row.get("start"), row.get("end")]]
        if all(f"option_{letter}" in row for letter in LETTERS):
            row["options"] = [row[f"option_{letter}"] for letter in LETTERS]
        yield number, row


def _item(row: Mapping, path: Path, number: int) -> dict:
    item = {"qid": row.get("qid"), "query": row.get("query"), "video": row.get("vid"), "kind": row.get("kind") or ""}
    for key, name in (("qid", "qid"), ("query", "query"), ("video", "vid")):
        if not isinstance(item[key], str) or not item[key].strip():
            raise InputError(f"{name!r} must be a text that is not empty", file=path, row=number)
    try:
        item["duration"] = float(row["duration"])
        windows = row.get("relevant_windows") or []
        item["window"] = [float(value) for value in windows[0]] if windows else None
    except (LookupError, TypeError, ValueError, OverflowError):
        item["duration"] = None
    if not finite(item["duration"]) or not (item["window"] is None or is_span(item["window"])):
        raise InputError("duration, start and end must be numbers of seconds", file=path, row=number)
    if item["duration"] <= 0:
        raise InputError("duration must be positive", file=path, row=number)
    item |= {"answer": row.get("answer") or "", "options": row.get("options") or [], "ans": row.get("ans")}
    listed = item["options"] if isinstance(item["options"], list) else [None]
    for text in (item["qid"], item["query"], item["video"], item["answer"], item["kind"], item["ans"] or "", *listed):
        if not isinstance(text, str):
            raise InputError("answer, kind, options and ans must be texts", file=path, row=number)
        if sign := hidden(text):
            raise InputError(f"{text!r:.60} holds the control character {sign}", file=path, row=number)
    return item


def plan(tool: Tool, title: str, items: list[dict], raters: int, most: int, seed: int) -> dict:
    """The key of a task: its items by number, and the numbers of each annotator, of whom `raters` see each item.

    An annotator gets `most` items at most. With one rater the items stay in their order.
    """
    numbered = [{"item": number, **item} for number, item in enumerate(items, start=1)]
    if raters == 1:
        shares = [list(range(at, min(at + most, len(items) + 1))) for at in range(1, len(items) + 1, most)]
    else:
        shares = assign(len(items), min(most, len(items)), raters, seed)
    key = {"tool": tool, "title": title, "seed": seed, "raters": raters, "items": numbered, "annotators": shares}
    return add_digest("task", key)


def pages(key: Mapping, paths: Mapping[str, str], side: int) -> Iterator[Page]:
    """A page per annotator; each of its videos is decoded once and embedded once.

    `paths` are the video files by id. Raises InputError for a video that is missing or cannot be read.
    """
    items = {item["item"]: item for item in key["items"]}
    missing = sorted({item["video"] for item in items.values()} - paths.keys())
    if missing:
        raise InputError(
            f"no file of the video {missing[0]} ({len(missing)} missing)", remedy="name the folder of all videos"
        )
    for annotator, numbers in enumerate(key["annotators"], start=1):
        asked = [items[number] for number in numbers]
        clip_number = {video: n for n, video in enumerate(sorted({item["video"] for item in asked}), start=1)}
        names = SHOWN[key["tool"]]
        shown = [
            {"item": item["item"], "clip": clip_number[item["video"]], **{name: item[name] for name in names}}
            for item in asked
        ]
        clips = {}
        for video, number in clip_number.items():
            length = max(item["duration"] for item in asked if item["video"] == video)
            clips[f"video-{number}"] = cut(paths[video], {0: (0.0, length)}, side)[0]
        task = {name: key[name] for name in ("task", "tool", "title")} | {"annotator": annotator, "items": shown}
        title = f"Questions about videos, annotator {annotator}"
        yield Page(f"annotator-{annotator:02d}.html", title, {"task": task}, clips)
