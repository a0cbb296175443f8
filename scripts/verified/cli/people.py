"""People: pages for grading, reviewing and answering, and the answers."""

import argparse
import contextlib
import json
import statistics
from collections.abc import Callable, Iterator
from pathlib import Path

from verified.cli.command import SNAKEMAKE, between, command, flag, folder, only_for, option, output
from verified.cli.forms import AnswerPages
from verified.errors import InputError
from verified.extension import extensions


@command("study", "write a page for each participant of a user study, and say where they are", *SNAKEMAKE)
def study(arguments: argparse.Namespace) -> int:
    """Build the pages of every data set with videos and print which there are."""
    return build_pages(arguments, "study", study_pages)


def build_pages(arguments: argparse.Namespace, kind: str, what_to_do: Callable[[Path], str]) -> int:
    from verified.config import read
    from verified.config.folders import dataset_folder, datasets_with
    from verified.planning.running import run_workflow

    settings = read(*arguments.configfile)
    if status := run_workflow(arguments, "--", kind):
        return status
    for name in datasets_with(settings, "annotated_here"):
        print(what_to_do(Path(dataset_folder(settings, name), kind)))
    return 0


def study_pages(folder: Path) -> str:
    """The pages of a study, and instructions for them."""
    from verified.io.jsonl import read_json

    key, pages = read_json(folder / "key.json"), sorted((folder / "pages").glob("participant-*.html"))
    return "\n".join(
        [
            f"{key['title']}: {len(key['questions'])} captions, {key['raters']} grades each, for {len(pages)} people.",
            "Give each of them one page, which works from a file and needs no network:",
            *(f"  {page}" for page in pages),
            f"Then: verified answers FILES... --key {folder / 'key.json'}",
        ]
    )


@command(
    "rextime questions",
    "write pages on which people check, mark or answer questions across time",
    option("items", metavar="ITEMS", help="questions: JSONL as the suite writes it, or CSV"),
    option("--tool", choices=("verify", "question-span", "human"), required=True, help="what is asked"),
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
)
def questions(arguments: argparse.Namespace) -> int:
    """Write key.json and one page per annotator."""
    from verified.benchmark.rextime.people import pages, plan, read_items
    from verified.corpus.video_folder import VideoFolder
    from verified.io.jsonl import write_json
    from verified.people.pages import write_pages

    items = read_items(arguments.items, arguments.tool)
    key = plan(arguments.tool, arguments.title, items, arguments.raters, arguments.items_per_page, arguments.seed)
    paths = {video: str(path) for video, path in VideoFolder(arguments.videos).paths.items()}
    write_pages(arguments.output, "rextime", pages(key, paths, arguments.side))
    write_json(arguments.output / "key.json", key)
    print(f"{len(items)} items for {len(key['annotators'])} annotators: {arguments.output}/annotator-*.html")
    return 0


def _study_answers(arguments: argparse.Namespace) -> None:
    """Write summary.json and answers.jsonl and print the measures."""
    from verified.io.jsonl import write_json, write_jsonl
    from verified.people.answers import collect, read_key
    from verified.people.study.aggregate import summarise
    from verified.people.study.sample import FORM
    from verified.runtime.seals import seal_built

    key = read_key(arguments.key, FORM)
    target = arguments.output or arguments.key.parent
    if arguments.raters is not None and arguments.raters < 1:
        raise InputError("--raters must be at least 1")
    collected = collect(arguments.files, key, FORM)
    for participant, numbers in collected.open.items():
        asked = len(key["participants"][participant - 1])
        came = f"{asked - len(numbers)} of {asked}" if participant in collected.unfinished else "no"
        print(f"{came} answers of participant {participant}; open questions: {', '.join(map(str, numbers))}")
    summary = summarise(collected.answers, key, arguments.per_answer, arguments.raters)
    summary["unfinished"] = collected.unfinished
    write_jsonl(target / "answers.jsonl", collected.answers)
    write_json(target / "summary.json", summary)
    for name in ("answers.jsonl", "summary.json"):
        seal_built(target / name)
    print("\n".join(_summary_lines(summary)))


def _summary_lines(summary: dict) -> list[str]:
    """The summary for a terminal."""
    came = summary["participants"] - len(summary["missing"])
    out = [f"{summary['title']}: {summary['answers']} answers of {came} of {summary['participants']} participants"]
    if summary["unfinished"]:
        out.append(f"  {len(summary['unfinished'])} of them have not answered all of their questions")
    if summary["left_out"]:
        few = len(summary["left_out"])
        total = few + summary["measures"]["S_total"]["captions"]
        raters = summary["raters"]
        remedy = f" (--raters {raters - 1} takes one less)" if raters > 1 else ""
        out.append(f"  {few} of {total} captions are left out: fewer than {raters} people graded them{remedy}")
    for name, measure in summary["measures"].items():
        shown = "no captions of this type" if measure["value"] is None else _interval(measure["value"], measure)
        out.append(f"  {name:12} {shown}  ({measure['captions']} captions)")
    for name, agreement in summary["agreement"].items():
        shown = "all grades are equal" if agreement["alpha"] is None else _interval(agreement["alpha"], agreement)
        out.append(f"  agreement on {name:9} alpha {shown} ({agreement['level']})")
    return out


def _interval(value: float, bounds: dict) -> str:
    return f"{value:.2f} [{bounds['low']:.2f}, {bounds['high']:.2f}]"


def _question_answers(arguments: argparse.Namespace) -> None:
    """Write answers.jsonl, log.jsonl, items.jsonl and summary.json; with --questions also questions.jsonl."""
    from verified.benchmark.rextime import people_answers as people
    from verified.io.jsonl import read_jsonl, write_json, write_jsonl
    from verified.people.answers import collect, read_key

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
    given = ", ".join(map(str, arguments.files))
    with _written_from(given):
        write_jsonl(target / "answers.jsonl", answers)
        write_jsonl(target / "log.jsonl", logs)
        write_jsonl(target / "items.jsonl", rows)
        write_json(target / "summary.json", summary)
    if arguments.questions:
        if key["tool"] == "human":
            raise InputError("answers of the tool human change no questions", remedy="leave out --questions")
        asked = read_jsonl(arguments.questions, ("qid",))
        for number, row in enumerate(asked, start=1):
            if not isinstance(row["qid"], str):
                raise InputError("'qid' must be a text", file=arguments.questions, row=number, remedy="correct the row")
        questions, bad, untimed = people.annotated_questions(asked, rows, key["tool"])
        with _written_from(arguments.questions):
            write_jsonl(target / "questions.jsonl", questions)
        out = f"{len(bad)} left out as bad, {len(untimed)} until people mark their answers"
        print(f"{len(questions)} questions, {out}: {target / 'questions.jsonl'}")
    print(json.dumps(summary, indent=1, ensure_ascii=False))


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
    if measured:
        names = next(iter(measured.values())).keys()
        means = {name: statistics.fmean(row[name] for row in measured.values()) for name in names}
        measured[f"mean of {len(measured)}"] = means | {"questions": sum(row["questions"] for row in measured.values())}
    return measured


STUDY = AnswerPages(
    "the answers of a study",
    "study",
    _study_answers,
    ("per_answer", "raters"),
    (
        flag("--per-answer", "study: let every answer count instead of one verdict per caption"),
        option(
            "--raters",
            type=int,
            metavar="NUMBER",
            help="study: count captions with the grades of so many people (default: as many as it asks)",
        ),
    ),
)
QUESTIONS = AnswerPages(
    "answers to questions",
    "tool",
    _question_answers,
    ("questions",),
    (option("--questions", metavar="FILE", help="questions: the file (JSONL) to rewrite with what people marked"),),
)


def _kinds() -> list[AnswerPages]:
    return [STUDY, QUESTIONS, *(kind for extension in extensions() for kind in extension.pages())]


@command(
    "answers",
    "check and aggregate what people sent back from pages, of a study or others",
    option("files", nargs="+", metavar="FILE", help="files that people exported from their pages"),
    folder(
        "--key",
        "the key of the pages, which tells what was asked (default: results/demo/study/key.json)",
        default=Path("results/demo/study/key.json"),
        metavar="KEY.JSON",
    ),
    output("where the results go (default: the folder of the key)", metavar="FOLDER"),
    *(declared for kind in _kinds() for declared in kind.declared),
)
def answers(arguments: argparse.Namespace) -> None:
    """Write the answers and their summary. Raises InputError for answers that are not genuine, by file and item."""
    from verified.io.jsonl import read_json

    key, kinds = read_json(arguments.key), _kinds()
    kind = next((one for one in kinds if isinstance(key, dict) and one.word in key), STUDY)
    only_for(arguments, kind.name, {name for one in kinds for name in one.options} - {*kind.options})
    kind.collect(arguments)
