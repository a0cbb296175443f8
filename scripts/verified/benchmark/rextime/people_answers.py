"""Answers of annotators: validation by tool, aggregation of spans and verdicts, agreement."""

import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import combinations

from verified.benchmark.rextime.people import SHOWN
from verified.benchmark.rextime.rows import LETTERS
from verified.benchmark.tiou import tiou
from verified.io.jsonl import finite, is_span
from verified.people.agreement import grade_matrix, krippendorff_alpha
from verified.people.answers import Form


def _key_problem(key: Mapping) -> str | None:
    if key.get("tool") not in tuple(SHOWN):
        return f"no tool of ours: {key.get('tool')!r:.40}"
    for item in key["items"]:
        if not isinstance(item.get("qid"), str) or not finite(item.get("duration")):
            return f"item {item['item']} lacks its qid or duration"
        window = item.get("window")
        if window is not None and not is_span(window):
            return f"the window of item {item['item']} is not [start, end]"
    return None


def _problem(answer: Mapping, item: Mapping, key: Mapping) -> str | None:
    """Problem of one answer: a span must have 0 ≤ start < end ≤ duration; None if nothing."""
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


FORM = Form("task", "annotator", "item", ("start", "end", "answer"), _problem, _key_problem)


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

    None where fewer than two people answered the same item, or nothing differs.
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
    """(questions with what people marked, ids of those they found bad, ids of those whose answer nobody has timed yet);
    questions that were not reviewed stay as they are, unless their answer has no window.

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
