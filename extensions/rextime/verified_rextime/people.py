"""Pages for annotators (supplement C.7): the items of a tool, their assignment, and a page for each annotator.

Three tools: `verify` (is the pair sound; when is the answer shown), `question-span` (when is the question's event
shown) and `human` (options and a span, for human performance). The pages contain only data that an annotator may see:
no span in `verify`, no right letter in `human`, nor an id there, which reveals kind and direction of a question.
"""

import os
import statistics
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations
from pathlib import Path
from typing import Literal

from verified.benchmark.submissions import rows_by_id
from verified.benchmark.tiou import tiou
from verified.errors import InputError
from verified.io.characters import hidden
from verified.io.jsonl import finite
from verified.io.video.cut import cut
from verified.people.agreement import grade_matrix, krippendorff_alpha
from verified.people.answers import Form
from verified.people.pages import FOLDER, Page, add_digest, assign
from verified_rextime.rows import LETTERS, question_problem

PAGE = (FOLDER / "questions", Path(__file__).resolve().parent / "pages" / "task")
"""Parts of a page, in addition to those of all pages for people."""
Tool = Literal["verify", "question-span", "human"]
SHOWN = {
    "verify": ("qid", "query", "answer", "video", "duration", "kind"),
    "question-span": ("qid", "query", "answer", "video", "duration", "kind", "window"),
    "human": ("query", "video", "duration", "options"),
}
"""Fields of an item that each tool shows."""
NEEDED = {"verify": ("answer",), "question-span": ("answer", "window"), "human": ("options",)}


def read_items(path: str | os.PathLike, tool: Tool) -> list[dict]:
    """Items of questions as the workflow writes them: ``qid, query, vid, duration`` and the fields that the tool needs.

    Raises InputError with the row for a missing or invalid value.
    """
    items = []
    for number, qid, row in rows_by_id(path, "qid"):
        if problem := question_problem(row, scored=False):
            raise InputError(problem, file=path, row=number)
        windows = row.get("relevant_windows")
        item = {
            "qid": qid,
            "query": row["query"],
            "video": row["vid"],
            "kind": row.get("kind") or "",
            "duration": float(row["duration"]),
            "window": [float(value) for value in windows[0]] if windows else None,
            "answer": row.get("answer") or "",
            "options": row.get("options") or [],
            "ans": row.get("ans"),
        }
        if missing := [name for name in NEEDED[tool] if not item[name]]:
            raise InputError(f"the tool {tool} needs {', '.join(missing)}", file=path, row=number)
        for text in (qid, item["query"], item["video"], item["answer"], item["kind"], *item["options"]):
            if not isinstance(text, str):
                raise InputError("'answer' must be a text", file=path, row=number)
            if sign := hidden(text):
                raise InputError(f"{text!r:.60} holds the control character {sign}", file=path, row=number)
        items.append(item)
    if not items:
        raise InputError("the file holds no items", file=path)
    return items


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
        chosen = [items[number] for number in numbers]
        clip_number = {video: n for n, video in enumerate(sorted({item["video"] for item in chosen}), start=1)}
        names = SHOWN[key["tool"]]
        cards = [
            {"item": item["item"], "clip": clip_number[item["video"]], **{name: item[name] for name in names}}
            for item in chosen
        ]
        clips = {}
        for video, number in clip_number.items():
            length = max(item["duration"] for item in chosen if item["video"] == video)
            clips[f"video-{number}"] = cut(paths[video], {0: (0.0, length)}, side)[0]
        task = {name: key[name] for name in ("task", "tool", "title")} | {"annotator": annotator, "items": cards}
        title = f"Questions about videos, annotator {annotator}"
        yield Page(f"annotator-{annotator:02d}.html", title, {"task": task}, clips)


def _problem(answer: Mapping, item: Mapping, key: Mapping) -> str | None:
    """Problem of one answer: a span must have 0 ≤ start < end ≤ duration; None without one."""
    if key["tool"] == "verify" and answer.get("bad") is True:
        return None
    start, end = answer.get("start"), answer.get("end")
    if not finite(start) or not finite(end):
        return f"start and end must be numbers of seconds ({item['qid']})"
    if not 0 <= start < end <= item["duration"]:
        return f"not 0 ≤ start {start} < end {end} ≤ duration {item['duration']} s ({item['qid']})"
    if key["tool"] == "human" and answer.get("answer") not in LETTERS:
        return f"no option is chosen ({item['qid']})"
    return None


FORM = Form("task", "annotator", "item", ("start", "end", "answer"), _problem)


def aggregate(answers: list[dict], key: Mapping) -> list[dict]:
    """One row per answered item: ``qid``, ``bad`` (by more than half), ``window`` (medians of starts and ends), counts.

    An item that its raters find bad and sound in equal numbers counts as bad: it is not fit for a test set.
    """
    rows = []
    for item in key["items"]:
        item_answers = [answer for answer in answers if answer["item"] == item["item"]]
        if not item_answers:
            continue
        spans = [(answer["start"], answer["end"]) for answer in item_answers if not answer.get("bad")]
        bad = 2 * (len(item_answers) - len(spans)) >= len(item_answers) and len(spans) < len(item_answers)
        window = None if bad else [statistics.median(values) for values in zip(*spans)]
        row = {"qid": item["qid"], "answers": len(item_answers), "bad": bad, "window": window}
        if key["tool"] == "human":
            row["letters"] = [answer["answer"] for answer in item_answers]
        rows.append(row)
    return rows


def agreement(answers: list[dict], key: Mapping) -> dict:
    """Agreement of annotators: mean IoU of pairs of spans, Krippendorff's alpha of verdicts or letters.

    None if fewer than two people answered the same item, or all answers are equal.
    """
    spans = defaultdict(list)
    for answer in sorted(answers, key=lambda answer: answer["item"]):
        if not answer.get("bad"):
            spans[answer["item"]].append((answer["start"], answer["end"]))
    pairs = [pair for of_item in spans.values() for pair in combinations(of_item, 2)]
    overlaps = [float(tiou(*first, *second)) for first, second in pairs]
    alpha = None
    if key["tool"] != "question-span":
        human = key["tool"] == "human"
        verdicts = (LETTERS.index(row["answer"]) if human else bool(row.get("bad")) for row in answers)
        grades = ((row["annotator"], row["item"], verdict) for row, verdict in zip(answers, verdicts))
        people, items = (range(1, len(key[name]) + 1) for name in ("annotators", "items"))
        alpha = krippendorff_alpha(grade_matrix(grades, people, items), "nominal")
    return {
        "pairs_of_spans": len(overlaps),
        "mean_iou_of_spans": statistics.fmean(overlaps) if overlaps else None,
        "alpha": alpha,
    }


def annotated_questions(
    questions: Iterable[dict], rows: Iterable[Mapping], tool: str
) -> tuple[list[dict], list[str], list[str]]:
    """(questions with people's marks, ids of rejected ones, ids of those whose answer has no time yet); unreviewed
    questions are unchanged, unless their answer has no window.

    `verify` replaces the window of the answer, `question-span` gives that of the question.
    """
    marked = {row["qid"]: row for row in rows}
    usable, bad, untimed = [], [], []
    for question in questions:
        row = marked.get(question["qid"])
        if row is None and question.get("relevant_windows") == []:
            untimed.append(question["qid"])
        elif row is None:
            usable.append(question)
        elif row["bad"]:
            bad.append(question["qid"])
        else:
            name = "relevant_windows" if tool == "verify" else "question_windows"
            usable.append({**question, name: [list(row["window"])]})
    return usable, bad, untimed


def human_submissions(answers: list[dict], key: Mapping) -> dict[int, list[dict]]:
    """A submission per annotator, in the form that the evaluator reads."""
    qids = {item["item"]: item["qid"] for item in key["items"]}
    rows: dict[int, list[dict]] = {}
    for answer in answers:
        row = {"qid": qids[answer["item"]], "pred_relevant_windows": [[answer["start"], answer["end"]]]}
        rows.setdefault(answer["annotator"], []).append(row | {"ans": answer["answer"]})
    return rows
