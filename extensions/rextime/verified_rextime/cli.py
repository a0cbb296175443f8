"""Questions across time: their filters, number in other data sets and cost, and the pages on which people mark them."""

import argparse
import json

from verified.cli.command import between, command, flag, option, output
from verified.errors import InputError
from verified_rextime.config import Prices


@command(
    "rextime filter",
    "apply the filters, with their default limits, to annotation files or released questions, with reasons",
    option("--captions", metavar="FILE", help="captions by video in the ActivityNet Captions form (JSON)"),
    option("--queries", metavar="FILE", help="queries in the QVHighlights form (JSONL)"),
    option("--questions", metavar="FILE", help="released questions (JSONL): say which filter would have dropped which"),
    output("write one row per rejection, or per released question (JSONL)", metavar="FILE"),
)
def filter_sources(arguments: argparse.Namespace) -> None:
    """Print counts by source. Raises InputError where no source is given."""
    from verified.io.jsonl import write_jsonl

    if not arguments.captions and not arguments.queries:
        raise InputError("no source is given", remedy="name a file with --captions, --queries or both")
    rows, counts = _audit(arguments) if arguments.questions else _rejections(arguments)
    if arguments.output:
        write_jsonl(arguments.output, rows)
    print(json.dumps(counts, indent=1))


def _audit(arguments: argparse.Namespace) -> tuple[list[dict], dict]:
    from verified_rextime.config import CaptionFilters
    from verified_rextime.filters import audit_counts, audit_rows
    from verified_rextime.rows import read_questions
    from verified_rextime.sources import read_captions, read_queries

    captions = {video.video: video for video in read_captions(arguments.captions)} if arguments.captions else {}
    queries: dict[str, list] = {}
    for query in read_queries(arguments.queries) if arguments.queries else ():
        queries.setdefault(query.video, []).append(query)
    rows = audit_rows(read_questions(arguments.questions), captions, queries, CaptionFilters())
    return rows, audit_counts(rows)


def _rejections(arguments: argparse.Namespace) -> tuple[list[dict], dict]:
    from verified_rextime.config import Rextime
    from verified_rextime.sources import read_sources

    files = {form: getattr(arguments, form) for form in ("captions", "queries")}
    sources = {form: {"form": form, "annotations": file} for form, file in files.items() if file}
    _, rejections, counts = read_sources(Rextime.model_validate({"sources": sources}), {})
    return rejections, counts


@command(
    "rextime count",
    "count questions across time in other data sets, as the supplement does (C.6)",
    option("form", choices=("ego4d-nlq", "next-gqa"), help="the form of the file"),
    option("file", metavar="FILE", help="Ego4D NLQ annotations (JSON) or NExT-GQA questions (CSV)"),
    option("--spans", metavar="FILE", help="JSONL with id, question_span and, if known, answer_span (s)"),
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
    "rextime cost",
    "what 1,000 samples cost: the arithmetic of section C.3 as a function of prices",
    *(
        option(
            f"--{name.replace('_', '-')}",
            type=float,
            default=field.default,
            help=f"{field.description} (default: {field.default})",
        )
        for name, field in Prices.model_fields.items()
    ),
    flag("--train", "training samples, which are not reviewed"),
)
def cost(arguments: argparse.Namespace) -> None:
    """Print costs and their ratio."""
    from verified_rextime.statistics import cost_per_1000

    try:
        prices = Prices(**{name: getattr(arguments, name) for name in Prices.model_fields})
    except ValueError as error:
        raise InputError(f"a price or a rate cannot be: {error}") from None
    for name, value in cost_per_1000(prices, not arguments.train).items():
        print(f"{name.replace('_', ' '):20} {value:8.2f}")


@command(
    "rextime questions",
    "write pages on which people check, mark or answer questions across time",
    option("items", metavar="ITEMS", help="questions: JSONL as the workflow writes it, or CSV"),
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
