"""What people send back: files checked item by item, spans and verdicts aggregated, agreement."""

import itertools
import statistics
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from verified.benchmark.tiou import tiou
from verified.common.errors import InputError
from verified.common.jsonl import finite, read_json
from verified.rextime.rows import LETTERS
from verified.study.agreement import krippendorff_alpha
from verified.study.answers import checksum

AGAIN = "ask the annotator to export the page again"


def answer_checksum(task: str, annotator: int, answer: Mapping) -> str:
    """Checksum of one answer, which binds it to its task and annotator; `rextime.js` computes the same."""
    told = "bad" if answer.get("bad") else f"{answer['start']}|{answer['end']}|{answer.get('answer', '')}"
    return checksum("|".join(map(str, (task, annotator, answer["item"], told))))


def read_key(path: str | Path) -> dict:
    """The key of annotation pages. Raises InputError for a file that is none, or was changed into none."""
    key = read_json(path)
    problem = "not the key of annotation pages"
    if isinstance(key, dict) and {"task", "tool", "items", "annotators"} <= key.keys():
        problem = _key_problem(key)
    if problem:
        raise InputError(problem, file=path, remedy="take the key.json that the pages were written with")
    return key


def _key_problem(key: dict) -> str | None:
    if key["tool"] not in ("verify", "question-span", "human") or not isinstance(key["task"], str):
        return f"no tool or task of ours: {key['tool']!r:.40}, {key['task']!r:.40}"
    items, annotators = key["items"], key["annotators"]
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        return "items are not a list of objects"
    for place, item in enumerate(items, start=1):
        if item.get("item") != place or not isinstance(item.get("qid"), str) or not finite(item.get("duration")):
            return f"item {place} lacks its number, qid or duration"
        window = item.get("window")
        if window is not None and not (isinstance(window, list) and len(window) == 2 and all(map(finite, window))):
            return f"the window of item {place} is not [start, end]"
    numbers = range(1, len(items) + 1)
    shares = annotators if isinstance(annotators, list) else [None]
    if not all(isinstance(share, list) and all(type(n) is int and n in numbers for n in share) for share in shares):
        return "annotators are not lists of numbers of items"
    return None


def read_answers(path: str | Path, key: Mapping) -> tuple[int, list[dict], list[dict]]:
    """(annotator, answers, log of the page). Raises InputError for a file that is not whole and genuine."""
    values = read_json(path)
    if not isinstance(values, dict) or not {"task", "annotator", "answers"} <= values.keys():
        raise InputError("not an answer file of an annotation page", file=path, remedy=AGAIN)
    if values["task"] != key["task"]:
        raise InputError(
            f"belongs to task {values['task']}, not to {key['task']}",
            file=path,
            remedy="import it with the key.json it was made for",
        )
    annotator, answers = values["annotator"], values["answers"]
    whole = isinstance(annotator, int) and not isinstance(annotator, bool)
    if not whole or not 1 <= annotator <= len(key["annotators"]):
        raise InputError(f"the task has no annotator {annotator!r}", file=path, remedy=AGAIN)
    wanted = key["annotators"][annotator - 1]
    items = {item["item"]: item for item in key["items"]}
    seen: dict[int, dict] = {}
    for answer in answers if isinstance(answers, list) else [None]:
        number: Any = answer.get("item") if isinstance(answer, dict) else None
        if not isinstance(answer, dict) or isinstance(number, bool) or number not in wanted:
            raise InputError(f"item {number!r} is not one of annotator {annotator}", file=path, remedy=AGAIN)
        if number in seen:
            raise InputError(f"item {number} is answered twice", file=path, remedy=AGAIN)
        problem = answer_problem(answer, items[number], key["tool"])
        if problem:
            raise InputError(f"item {number} ({items[number]['qid']}): {problem}", file=path, remedy=AGAIN)
        if answer.get("check") != answer_checksum(key["task"], annotator, answer):
            raise InputError(f"the answer to item {number} was edited after the export", file=path, remedy=AGAIN)
        seen[number] = answer
    unanswered = [number for number in wanted if number not in seen]
    if unanswered:
        raise InputError(f"no answer to item {', '.join(map(str, unanswered))}", file=path, remedy=AGAIN)
    log = values.get("log")
    return annotator, list(seen.values()), log if isinstance(log, list) else []


def answer_problem(answer: Mapping, item: Mapping, tool: str) -> str | None:
    """What is wrong with one answer: a span must have 0 ≤ start < end ≤ duration; None if nothing."""
    if tool == "verify" and answer.get("bad") is True:
        return None
    start, end = answer.get("start"), answer.get("end")
    if not finite(start) or not finite(end):
        return "start and end must be numbers of seconds"
    if not 0 <= start < end <= item["duration"]:
        return f"the span [{start}, {end}] is not within 0 and {item['duration']} s, or does not end after its start"
    if tool == "human" and answer.get("answer") not in LETTERS:
        return "no option is chosen"
    return None


def collect(paths: Iterable[str | Path], key: Mapping) -> tuple[list[dict], list[dict], list[int]]:
    """(answers with ``annotator``, log rows with ``annotator``, annotators without a file), of several files.

    Raises InputError for an annotator twice.
    """
    files: dict[int, object] = {}
    answers, logs = [], []
    for path in paths:
        annotator, page_answers, log = read_answers(path, key)
        if annotator in files:
            raise InputError(f"annotator {annotator} is in {files[annotator]} already", file=path)
        files[annotator] = path
        answers += [{"annotator": annotator, **{k: v for k, v in row.items() if k != "check"}} for row in page_answers]
        logs += [{"annotator": annotator, **row} for row in log if isinstance(row, dict)]
    return answers, logs, [number for number in range(1, len(key["annotators"]) + 1) if number not in files]


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
    """How far annotators agree: mean IoU of pairs of spans, Krippendorff's alpha of verdicts or letters.

    None where fewer than two people answered the same item, or nothing differs.
    """
    overlaps = []
    raters, items = len(key["annotators"]), len(key["items"])
    grades = np.full((raters, items), np.nan)
    for column, item in enumerate(key["items"]):
        item_answers = [answer for answer in answers if answer["item"] == item["item"]]
        spans = [(answer["start"], answer["end"]) for answer in item_answers if not answer.get("bad")]
        for first, second in itertools.combinations(spans, 2):
            overlaps.append(float(tiou(*first, *second)))
        for answer in item_answers:
            graded = LETTERS.index(answer["answer"]) if key["tool"] == "human" else bool(answer.get("bad"))
            grades[answer["annotator"] - 1, column] = graded
    alpha = krippendorff_alpha(grades, "nominal") if key["tool"] != "question-span" else float("nan")
    return {
        "pairs_of_spans": len(overlaps),
        "mean_iou_of_spans": statistics.fmean(overlaps) if overlaps else None,
        "alpha": None if np.isnan(alpha) else alpha,
    }


def annotated_questions(questions: Iterable[dict], rows: Iterable[Mapping], tool: str) -> tuple[list[dict], list[str]]:
    """(questions with what people marked, ids of those they found bad); questions that were not reviewed stay as they
    are.

    `verify` replaces the window of the answer, `question-span` gives that of the question.
    """
    marked = {row["qid"]: row for row in rows}
    usable, bad = [], []
    for question in questions:
        row = marked.get(question["qid"])
        if row is None:
            usable.append(question)
        elif row["bad"]:
            bad.append(question["qid"])
        else:
            name = "relevant_windows" if tool == "verify" else "question_windows"
            usable.append({**question, name: [list(row["window"])]})
    return usable, bad


def human_submissions(answers: list[dict], key: Mapping) -> dict[int, list[dict]]:
    """A submission per annotator, in the form that the evaluator reads."""
    qids = {item["item"]: item["qid"] for item in key["items"]}
    rows: dict[int, list[dict]] = {}
    for answer in answers:
        row = {"qid": qids[answer["item"]], "pred_relevant_windows": [[answer["start"], answer["end"]]]}
        rows.setdefault(answer["annotator"], []).append(row | {"ans": answer["answer"]})
    return rows
