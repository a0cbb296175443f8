"""Questions across time: their number in other data sets, the pages on which people mark them, and their answers."""

import argparse
import json

from verified.cli.command import between, command, family, folder, option, output

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
    """Write the answers and their summary. Raises InputError for answers that are not genuine, by file and item."""
    from verified_rextime.answers import collect_answers

    collect_answers(arguments)
