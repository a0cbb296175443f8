"""Audit: queries that are unanswerable as annotated, doubtful spans, and the captions of a release."""

import argparse
import dataclasses
import json
from pathlib import Path

from verified.cli.command import JSON, between, command, flag, folder, only_for, option, output, several
from verified.errors import InputError


@command(
    "audit",
    "check the truth of well-formed annotations: queries not unique in their video, spans that end after it "
    "or that grounders doubt, videos in two splits; write the clean part",
    option("files", nargs="+", type=Path, metavar="FILE", help="ground truths, one a split, the training split first"),
    several(
        "--runs",
        metavar="[SPLIT=]RUN",
        help="answers of grounders: submissions with SVMR lists, or folders of trainings. SPLIT is the name of the"
        " file that they answer, without its ending (default: the last file)",
    ),
    folder("--videos", "folder of the videos, among which copies are found", metavar="FOLDER"),
    folder(
        "--lengths", "csv with the columns id and length, for files without durations (Charades-STA)", metavar="CSV"
    ),
    option("--tolerance", type=float, help="seconds by which a span may end after its video (default: 0)"),
    flag("--captions", "in place of these checks, questions on fine captions: their form, splits, scores, words lost"),
    option("--draw", type=between(0, 10_000, int), metavar="N", help="captions: write N of each finding to drawn.csv"),
    folder(
        "--checked", "captions: drawn.csv with yes or no in its column right, whose shares are shown", metavar="CSV"
    ),
    output("where findings.jsonl, summary.json and clean/ go, or tables of captions", metavar="FOLDER"),
    JSON,
    example="verified audit results/demo/annotations/fig/train.jsonl results/demo/annotations/fig/test.jsonl",
    page="extensions/lab/README.md",
)
def audit(arguments: argparse.Namespace) -> None:
    """Print numbers by split and check. Raises InputError for invalid files, or equal names."""
    from verified.corpus.copies import hash_videos, video_copies
    from verified.io.jsonl import write_json, write_jsonl
    from verified.nn.sentences import encode
    from verified_lab.audit.checks import audit as run_checks
    from verified_lab.audit.findings import summarise
    from verified_lab.audit.queries import of_file, rows_without
    from verified_lab.config import Audit
    from verified_lab.meta_evaluation.metrics import find_videos

    if arguments.captions:
        only_for(arguments, "captions", ("runs", "videos", "lengths", "tolerance"))
        return _captions(arguments)
    only_for(arguments, "an audit without --captions", ("draw", "checked"))
    if len({path.stem for path in arguments.files}) < len(arguments.files):
        raise InputError("two files have one name", remedy="the name of its file identifies a split: rename one")
    if arguments.tolerance is not None and not arguments.tolerance >= 0:
        raise InputError("--tolerance is no number of seconds from 0 on")
    settings = Audit() if arguments.tolerance is None else Audit(tolerance=arguments.tolerance)
    audited = [query for path in arguments.files for query in of_file(path, arguments.lengths)]
    videos = find_videos(arguments.videos, {query.video for query in audited}) if arguments.videos else {}
    copies = video_copies(dict(hash_videos(videos.values())) if videos else {}, settings.max_alike)
    answers = _answers(arguments.runs, arguments.files, audited)
    findings, checked = run_checks(audited, settings, encode, answers, copies)
    summary = summarise(audited, findings, list(answers), checked)
    if place := arguments.output:
        write_jsonl(place / "findings.jsonl", map(dataclasses.asdict, findings))
        write_json(place / "summary.json", summary)
        flagged = {(finding.split, finding.id) for finding in findings}
        for path in arguments.files:
            write_jsonl(place / "clean" / f"{path.stem}.jsonl", rows_without(path, flagged))
    print(json.dumps(summary, indent=1) if arguments.json else "\n".join(_lines(summary)))


def _lines(summary: dict) -> list[str]:
    from verified.io.text_tables import text_table
    from verified_lab.audit.findings import CHECKS

    rows = [*summary["splits"].items(), *([("all", summary["all"])] if len(summary["splits"]) > 1 else [])]
    cells = [
        {"split": name, "queries": counts["queries"], **counts["checks"], "clean": counts["clean"]}
        for name, counts in rows
    ]
    legend = [f"{check}: {text}" for check, text in CHECKS.items() if summary["all"]["checks"][check] is not None]
    return [text_table(["split", "queries", *CHECKS, "clean"], cells), "", *legend]


def _answers(runs: list[str], files: list[Path], audited: list) -> dict[str, dict]:
    """Spans by query, for each training of each run."""
    from verified.benchmark.comparison.runs import submissions
    from verified.cli.forms import read_ground_truth
    from verified_lab.audit.queries import spans_of_runs

    by_split = {path.stem: path for path in files}
    answers = {}
    for argument in runs:
        split, separator, place = argument.partition("=")
        if not separator or "/" in split:
            split, place = files[-1].stem, argument
        if split not in by_split:
            raise InputError(f"--runs {argument}: no file is called {split}", remedy=f"known: {', '.join(by_split)}")
        ending = read_ground_truth(by_split[split]).ending
        spans_by_file = spans_of_runs(submissions(Path(place), "fig", ending), split, audited, by_split[split])
        for file, spans in spans_by_file.items():
            if not spans:
                raise InputError("answers no query", file=file, remedy=f"check that it is about {by_split[split]}")
        answers |= spans_by_file
    return answers


def _captions(arguments: argparse.Namespace) -> None:
    """Print a table a question on fine captions. Raises InputError for invalid files."""
    from verified.config.model import Statistics
    from verified.io.jsonl import write_jsonl
    from verified.io.text_tables import align, write_csv
    from verified.nn.sentences import encode
    from verified.statistics.language import load_tagger
    from verified.tables.write import write_simple
    from verified_lab.audit import captions

    place = arguments.output
    if arguments.draw and not place:
        raise InputError("--draw writes into a folder", remedy="name it: --output")
    checked = captions.read_checked(arguments.checked) if arguments.checked else {}
    release = captions.read_release(arguments.files)
    findings = captions.audit_captions(release, encode, load_tagger(Statistics().spacy_model))
    tables = captions.tables(release, findings, checked)
    rows = captions.evidence(release, findings)
    if place:
        for table in tables:
            write_simple(place, table, [f"read: {path}" for path in arguments.files])
        write_jsonl(place / "findings.jsonl", rows)
    if arguments.draw:
        write_csv(
            place / "drawn.csv",
            captions.drawn(release, findings, arguments.draw),
        )
    if arguments.json:
        print(json.dumps(rows, indent=1))
    else:
        print("\n\n".join(f"{table.title}\n{align([table.header, *table.texts()])}" for table in tables))
