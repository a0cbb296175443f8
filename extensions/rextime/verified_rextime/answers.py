"""Answers of annotators: `verified rextime collect`."""

import argparse
import contextlib
import json
import statistics
from collections.abc import Iterator
from pathlib import Path

from verified.errors import InputError


def collect_answers(arguments: argparse.Namespace) -> None:
    """Write answers.jsonl, log.jsonl, items.jsonl and summary.json; with --questions also questions.jsonl.

    Raises InputError for answers that are not genuine, by file and item.
    """
    from verified.io.jsonl import read_jsonl, write_json, write_jsonl
    from verified.people.answers import collect, read_key
    from verified_rextime import people

    key, target = read_key(arguments.key, people.FORM), arguments.output or arguments.key.parent
    if arguments.questions and Path(arguments.questions).resolve() == (target / "questions.jsonl").resolve():
        raise InputError("would be written over", file=arguments.questions, remedy="name another --output")
    answers, logs, _, missing, unfinished = collect(arguments.files, key, people.FORM)
    rows = people.aggregate(answers, key)
    summary = {
        "task": key["task"],
        "tool": key["tool"],
        "items": len(key["items"]),
        "answered": len(rows),
        "answers": len(answers),
        "bad": sum(row["bad"] for row in rows),
        "annotators_missing": missing,
        "annotators_unfinished": unfinished,
        **people.agreement(answers, key),
    }
    if key["tool"] == "human":
        summary["performance"] = _performance(people.human_submissions(answers, key), key, target)
    files = ", ".join(map(str, arguments.files))
    with _written_from(files):
        write_jsonl(target / "answers.jsonl", answers)
        write_jsonl(target / "log.jsonl", logs)
        write_jsonl(target / "items.jsonl", rows)
        write_json(target / "summary.json", summary)
    if arguments.questions:
        if key["tool"] == "human":
            raise InputError("answers of the tool human change no questions", remedy="leave out --questions")
        question_rows = read_jsonl(arguments.questions, ("qid",))
        for number, row in enumerate(question_rows, start=1):
            if not isinstance(row["qid"], str):
                raise InputError("'qid' must be a text", file=arguments.questions, row=number, remedy="correct the row")
        questions, bad, untimed = people.annotated_questions(question_rows, rows, key["tool"])
        with _written_from(arguments.questions):
            write_jsonl(target / "questions.jsonl", questions)
        out = f"{len(bad)} left out as bad, {len(untimed)} until people mark their answers"
        print(f"{len(questions)} questions, {out}: {target / 'questions.jsonl'}")
    print(json.dumps(summary, indent=1, ensure_ascii=False))


@contextlib.contextmanager
def _written_from(files: object) -> Iterator[None]:
    """InputError if the content of `files` cannot be written: half characters, infinite numbers."""
    try:
        yield
    except ValueError as error:  # of which UnicodeEncodeError is one
        raise InputError(f"is not JSON: {error}", file=files, remedy="correct the value") from None


def _performance(submissions: dict[int, list[dict]], key: dict, folder: Path) -> dict:
    """Official measures of each annotator and of their mean, where the items carry windows and right letters."""
    from verified.io.jsonl import write_jsonl
    from verified_rextime.metrics import official_result, score
    from verified_rextime.rows import Prediction, Question

    truth = [item for item in key["items"] if item.get("window") and item.get("ans")]
    questions = [
        Question(item["qid"], item["query"], item["video"], item["duration"], (tuple(item["window"]),), item["ans"])
        for item in truth
    ]
    measured = {}
    for annotator, rows in submissions.items():
        write_jsonl(folder / f"annotator-{annotator:02d}.jsonl", rows)
        predictions = {row["qid"]: Prediction(tuple(row["pred_relevant_windows"][0]), row["ans"]) for row in rows}
        answered = [question for question in questions if question.qid in predictions]
        if answered:
            brief = official_result(score(answered, predictions, "both"))["brief"]
            measured[f"annotator {annotator}"] = {"questions": len(answered), **brief}
    if measured:
        names = next(iter(measured.values())).keys()
        means = {name: statistics.fmean(row[name] for row in measured.values()) for name in names}
        measured[f"mean of {len(measured)}"] = means | {"questions": sum(row["questions"] for row in measured.values())}
    return measured
