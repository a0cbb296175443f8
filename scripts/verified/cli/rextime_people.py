"""`verified rextime pages` and `verified rextime import-pages`: annotation by people."""

import argparse
import contextlib
import json
from collections.abc import Iterator
from pathlib import Path

from verified.errors import InputError


def add_parsers(actions) -> None:
    """Add the two actions to the parsers of `verified rextime`."""
    pages = actions.add_parser(
        "pages",
        help="write pages on which people check, mark or answer questions",
        description="Self-contained HTML pages: verify answers and mark their spans, mark the spans of questions, or "
        "measure how well people answer.",
    )
    pages.add_argument("items", metavar="ITEMS", help="questions: JSONL as the suite writes it, or CSV")
    pages.add_argument("--tool", choices=("verify", "question-span", "human"), required=True, help="what is asked")
    pages.add_argument("--videos", required=True, metavar="FOLDER", help="folder of the videos, named by video id")
    pages.add_argument("--output", type=Path, required=True, metavar="FOLDER", help="where pages and key.json go")
    pages.add_argument("--raters", type=int, default=1, help="people who see each item (default 1)")
    pages.add_argument("--items-per-page", type=int, default=20, help="items of one annotator at most (default 20)")
    pages.add_argument("--side", type=int, default=360, help="longest side of the videos in pixels (default 360)")
    pages.add_argument("--title", default="Questions across time", help="title that annotators see")
    pages.add_argument("--seed", type=int, default=2024, help="seed of the division among several raters")
    pages.set_defaults(run=run_pages)
    back = actions.add_parser(
        "import-pages",
        help="check and aggregate what people exported from their pages",
        description="Check every answer (0 ≤ start < end ≤ duration), aggregate raters, say how far they agree.",
    )
    back.add_argument("files", nargs="+", metavar="FILE", help="files that annotators exported")
    back.add_argument("--key", type=Path, required=True, metavar="KEY.JSON", help="the key of the pages")
    back.add_argument("--output", type=Path, required=True, metavar="FOLDER", help="where the results go")
    back.add_argument("--questions", metavar="FILE", help="questions (JSONL) to rewrite with what people marked")
    back.set_defaults(run=run_import)


def run_pages(arguments: argparse.Namespace) -> int:
    """Write key.json and one page per annotator."""
    from verified.benchmark.rextime.people import pages, plan, read_items
    from verified.corpus.video_folder import VideoFolder
    from verified.io.jsonl import write_json
    from verified.people.pages import write_pages

    if min(arguments.raters, arguments.items_per_page) < 1:
        raise InputError("--raters and --items-per-page must be at least 1")
    items = read_items(arguments.items, arguments.tool)
    key = plan(arguments.tool, arguments.title, items, arguments.raters, arguments.items_per_page, arguments.seed)
    paths = {video: str(path) for video, path in VideoFolder(arguments.videos).paths.items()}
    write_pages(arguments.output, "rextime", pages(key, paths, arguments.side))
    write_json(arguments.output / "key.json", key)
    print(f"{len(items)} items for {len(key['annotators'])} annotators: {arguments.output}/annotator-*.html")
    return 0


def run_import(arguments: argparse.Namespace) -> int:
    """Write answers.jsonl, log.jsonl, items.jsonl and summary.json; with --questions also questions.jsonl."""
    from verified.benchmark.rextime import people_answers as people
    from verified.io.jsonl import read_jsonl, write_json, write_jsonl
    from verified.people.answers import collect, read_key

    key, folder = read_key(arguments.key, people.FORM), arguments.output
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
        summary["performance"] = _performance(people.human_submissions(answers, key), key, folder)
    given = ", ".join(map(str, arguments.files))
    with _written_from(given):
        write_jsonl(folder / "answers.jsonl", answers)
        write_jsonl(folder / "log.jsonl", logs)
        write_jsonl(folder / "items.jsonl", rows)
        write_json(folder / "summary.json", summary)
    if arguments.questions:
        if key["tool"] == "human":
            raise InputError("answers of the tool human change no questions", remedy="leave out --questions")
        asked = read_jsonl(arguments.questions, ("qid",))
        for number, row in enumerate(asked, start=1):
            if not isinstance(row["qid"], str):
                raise InputError("'qid' must be a text", file=arguments.questions, row=number, remedy="correct the row")
        questions, bad = people.annotated_questions(asked, rows, key["tool"])
        with _written_from(arguments.questions):
            write_jsonl(folder / "questions.jsonl", questions)
        print(f"{len(questions)} questions, {len(bad)} left out as bad: {folder / 'questions.jsonl'}")
    print(json.dumps(summary, indent=1, ensure_ascii=False))
    return 0


@contextlib.contextmanager
def _written_from(files: object) -> Iterator[None]:
    """InputError where what was read of `files` cannot be written: half characters, infinite numbers."""
    try:
        yield
    except ValueError as error:  # of which UnicodeEncodeError is one
        raise InputError(f"holds what is no JSON: {error}", file=files, remedy="correct the value") from None


def _performance(submissions: dict[int, list[dict]], key: dict, folder: Path) -> dict:
    """Official measures of each annotator and of their mean, where the items carry windows and right letters."""
    from verified.benchmark.rextime.metrics import official_result, score
    from verified.benchmark.rextime.rows import Prediction, Question
    from verified.io.jsonl import write_jsonl

    truth = [item for item in key["items"] if item.get("window") and item.get("ans")]
    questions = [
        Question(item["qid"], item["query"], item["video"], item["duration"], (tuple(item["window"]),), item["ans"])
        for item in truth
    ]
    measured = {}
    for annotator, rows in submissions.items():
        write_jsonl(folder / f"annotator-{annotator:02d}.jsonl", rows)
        predictions = {row["qid"]: Prediction(tuple(row["pred_relevant_windows"][0]), row["ans"]) for row in rows}
        asked = [question for question in questions if question.qid in predictions]
        if asked:
            brief = official_result(score(asked, predictions, "both"))["brief"]
            measured[f"annotator {annotator}"] = {"questions": len(asked), **brief}
    return measured
