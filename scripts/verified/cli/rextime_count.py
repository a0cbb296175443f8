"""`verified rextime filter`, `audit`, `count` and `cost`: figures about sources, released and other questions."""

import argparse
import json


def add_parsers(actions) -> None:
    """Add the actions to the parsers of `verified rextime`."""
    audit = actions.add_parser(
        "audit",
        help="say which filter would have dropped which released question",
        description="Hold released questions against the filters with their default switches.",
    )
    audit.add_argument("questions", metavar="QUESTIONS", help="released questions (JSONL)")
    _sources(audit)
    audit.add_argument("--rows", metavar="FILE", help="write one row per question (JSONL)")
    audit.set_defaults(run=run_audit)
    filtering = actions.add_parser(
        "filter",
        help="count what the filters of the sources keep and why they drop the rest",
        description="Run the filters with their default switches on annotation files.",
    )
    _sources(filtering)
    filtering.add_argument("--rejected", metavar="FILE", help="write one row per rejection (JSONL)")
    filtering.set_defaults(run=run_filter)
    count = actions.add_parser(
        "count",
        help="count questions across time in other data sets",
        description="Count as the supplement does (C.6): queries with before or after in Ego4D-NLQ, items of a "
        "temporal type in NExT-GQA, without those whose question span and answer span contain one another.",
    )
    count.add_argument("form", choices=("ego4d-nlq", "next-gqa"), help="the form of the file")
    count.add_argument("file", metavar="FILE", help="Ego4D NLQ annotations (JSON) or NExT-GQA questions (CSV)")
    count.add_argument("--spans", metavar="FILE", help="JSONL with id, question_span and, if known, answer_span (s)")
    count.add_argument(
        "--contained",
        choices=("either", "question", "answer", "none"),
        default="either",
        help="which span must contain the other for an item to be left out (default either)",
    )
    count.set_defaults(run=run_count)
    cost = actions.add_parser(
        "cost", help="what 1,000 samples cost", description="The arithmetic of section C.3 as a function of prices."
    )
    for name, default, text in (
        ("generation-per-1000", 35, "calls to the model for 1,000 samples"),
        ("reviews-per-hour", 60, "samples that one person reviews in an hour"),
        ("wage-per-hour", 6, "hourly wage"),
        ("written-per-hour", 20, "pairs that one person writes in an hour"),
    ):
        cost.add_argument(f"--{name}", type=float, default=default, help=f"{text} (default {default})")
    cost.add_argument("--train", action="store_true", help="training samples, which are not reviewed")
    cost.set_defaults(run=run_cost)


def _sources(parser) -> None:
    parser.add_argument("--captions", metavar="FILE", help="captions by video in the ActivityNet Captions form (JSON)")
    parser.add_argument("--queries", metavar="FILE", help="queries in the QVHighlights form (JSONL)")


def run_audit(arguments: argparse.Namespace) -> int:
    """Print counts by source."""
    from verified.benchmark.rextime.audit import audit_counts, audit_rows
    from verified.benchmark.rextime.rows import read_questions
    from verified.benchmark.rextime.sources import read_captions, read_queries
    from verified.config.rextime import CaptionFilters, QueryFilters
    from verified.io.jsonl import write_jsonl

    captions = {video.video: video for video in read_captions(arguments.captions)} if arguments.captions else {}
    queries: dict[str, list] = {}
    for query in read_queries(arguments.queries) if arguments.queries else ():
        queries.setdefault(query.video, []).append(query)
    rows = audit_rows(read_questions(arguments.questions), captions, queries, CaptionFilters(), QueryFilters())
    if arguments.rows:
        write_jsonl(arguments.rows, rows)
    print(json.dumps(audit_counts(rows), indent=1))
    return 0


def run_filter(arguments: argparse.Namespace) -> int:
    """Print counts by source."""
    from verified.benchmark.rextime.prepare import read_sources
    from verified.config.rextime import Rextime
    from verified.errors import InputError
    from verified.io.jsonl import write_jsonl

    files = {form: getattr(arguments, form) for form in ("captions", "queries")}
    sources = {form: {"form": form, "annotations": file} for form, file in files.items() if file}
    if not sources:
        raise InputError("no source is given", remedy="name a file with --captions, --queries or both")
    _, rejections, counts = read_sources(Rextime.model_validate({"sources": sources}), {})
    if arguments.rejected:
        write_jsonl(arguments.rejected, rejections)
    print(json.dumps(counts, indent=1))
    return 0


def run_count(arguments: argparse.Namespace) -> int:
    """Print the counts."""
    from verified.benchmark.rextime.other_datasets import read_ego4d_nlq, read_next_gqa, with_spans
    from verified.benchmark.rextime.statistics import count_across_time

    ego = arguments.form == "ego4d-nlq"
    items = read_ego4d_nlq(arguments.file) if ego else read_next_gqa(arguments.file)
    if arguments.spans:
        items = with_spans(items, arguments.spans)
    rule = "before_after" if ego else "temporal_type"
    print(json.dumps(count_across_time(items, rule, arguments.contained), indent=1))
    return 0


def run_cost(arguments: argparse.Namespace) -> int:
    """Print costs and their ratio."""
    from verified.benchmark.rextime.statistics import cost_per_1000
    from verified.config.rextime import Prices
    from verified.errors import InputError

    names = ("generation_per_1000", "reviews_per_hour", "wage_per_hour", "written_per_hour")
    try:
        prices = Prices(**{name: getattr(arguments, name) for name in names})
    except ValueError as error:
        raise InputError(f"a price or a rate cannot be: {error}") from None
    for name, value in cost_per_1000(prices, not arguments.train).items():
        print(f"{name.replace('_', ' '):20} {value:8.2f}")
    return 0
