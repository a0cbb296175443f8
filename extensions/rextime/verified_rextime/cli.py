"""Questions across time: their number in other data sets, the pages on which people mark them, and their answers."""

import argparse
import contextlib
import json
import statistics
from collections.abc import Iterator
from pathlib import Path

from verified.cli.command import between, command, family, folder, option, output
from verified.errors import InputError

family("rextime", "pages for annotators, their answers, and counts in other data sets")


@command(
    "rextime count",
    "count questions across time in other data sets, as the supplement does (C.6)",
    option("form", choices=("ego4d-nlq", "next-gqa"), help="the form of the file"),
    option("file", metavar="FILE", help="Ego4D NLQ annotations (JSON) or NExT-GQA questions (CSV)"),
    option("--spans", metavar="FILE", help="JSONL with id, question_span and, if known, answer_span (s)"),
    example="verified rextime count ego4d-nlq nlq_val.json    # from Ego4D",
    page="extensions/rextime/README.md",
)
def count(arguments: argparse.Namespace) -> None:
    """Print the counts."""
    from verified_rextime.statistics import add_spans, count_across_time, read_ego4d_nlq, read_next_gqa

    ego = arguments.form == "ego4d-nlq"
    items = read_ego4d_nlq(arguments.file) if ego else read_next_gqa(arguments.file)
    if arguments.spans:
        items = add_spans(items, arguments.spans)
    rule = "before_after" if ego else "temporal_type"
    print(json.dumps(count_across_time(items, rule), indent=1))


@command(
    "rextime questions",
    "write pages on which people check, mark or answer questions across time",
    option("items", metavar="ITEMS", help="questions: JSONL as the workflow writes it"),
    option("--tool", choices=("verify", "question-span", "human"), required=True, help="task of the annotators"),
    option("--videos", required=True, metavar="FOLDER", help="folder of the videos, named by video id"),
    output("where pages and key.json go", required=True, metavar="FOLDER"),
    option("--raters", type=between(0, 100, int), default=1, help="people who see each item (default: 1)"),
    option(
        "--items-per-page",
        type=between(0, 1000, int),
        default=20,
        help="items of one annotator at most (default: 20)",
    ),
    option(
        "--side",
        type=between(15, 4096, int),
        default=360,
        help="longest side of the videos in pixels (default: 360)",
    ),
    option("--title", default="Questions across time", help="title that annotators see"),
    option("--seed", type=int, default=2024, help="seed of the division among several raters (default: 2024)"),
    example="verified rextime questions val.jsonl --tool verify --videos videos --output pages    # your questions",
    page="extensions/rextime/README.md",
)
def questions(arguments: argparse.Namespace) -> int:
    """Write key.json and one page per annotator."""
    from verified.corpus.video_folder import VideoFolder
    from verified.io.jsonl import write_json
    from verified.people.pages import write_pages
    from verified_rextime.people import PAGE, pages, plan, read_items

    items = read_items(arguments.items, arguments.tool)
    key = plan(arguments.tool, arguments.title, items, arguments.raters, arguments.items_per_page, arguments.seed)
    paths = {video: str(path) for video, path in VideoFolder(arguments.videos).paths.items()}
    write_pages(arguments.output, PAGE, pages(key, paths, arguments.side))
    write_json(arguments.output / "key.json", key)
    print(f"{len(items)} items for {len(key['annotators'])} annotators: {arguments.output}/annotator-*.html")
    return 0


@command(
    "rextime collect",
    "check and aggregate what annotators sent back from their pages",
    option("files", nargs="+", metavar="FILE", help="files that they exported"),
    folder("--key", "key.json of the pages", required=True, metavar="KEY.JSON"),
    output("where the results go (default: the folder of the key)", metavar="FOLDER"),
    option("--questions", metavar="FILE", help="the questions (JSONL), to write again with people's spans"),
    example="verified rextime collect returned/*.json --key pages/key.json    # of your annotators",
    page="extensions/rextime/README.md",
)
def collect(arguments: argparse.Namespace) -> None:
    """Write answers.jsonl, log.jsonl, items.jsonl and summary.json; with --questions also questions.jsonl.

    Raises InputError for answers that are not genuine, by file and item.
    """
    from verified.benchmark.submissions import rows_by_id
    from verified.io.jsonl import write_json, write_jsonl
    from verified.people.answers import collect as read_answers
    from verified.people.answers import read_key
    from verified_rextime import people

    key, target = read_key(arguments.key, people.FORM), arguments.output or arguments.key.parent
    if arguments.questions and Path(arguments.questions).resolve() == (target / "questions.jsonl").resolve():
        raise InputError("would be written over", file=arguments.questions, remedy="name another --output")
    answers, logs, _, missing, unfinished = read_answers(arguments.files, key, people.FORM)
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
        question_rows = [row for _, _, row in rows_by_id(arguments.questions, "qid")]
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
