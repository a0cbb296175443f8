"""Captions: metrics against human judgements, two runs compared, pages of review, and subtitles by a speech model."""

import argparse
import json
from pathlib import Path

from verified.cli.command import JSON, SNAKEMAKE, between, command, folder, option, output, several
from verified.cli.people import build_pages
from verified.errors import InputError


@command(
    "meta-evaluate",
    "compare metrics of captions with human judgements: correlation, AUROC and order within a clip",
    option(
        "judgements",
        nargs="+",
        type=Path,
        metavar="FILE",
        help="a review's decisions, or JSONL rows with video, caption and grade",
    ),
    folder("--videos", "folder of the videos, which the metrics below look into", metavar="FOLDER"),
    folder("--evaluator", "checkpoint of an evaluator that scores the captions", metavar="FILE"),
    option(
        "--encoder",
        metavar="NAME",
        help="joint encoder for a cosine as in CLIPScore and for agreement: packaged-joint, or a CLIP or SigLIP model",
    ),
    several("--scores", metavar="NAME=FILE", help="JSONL rows with video, caption and score, of any other metric"),
    option("--resamples", type=between(99, 1_000_000, int), default=1000, help="draws of videos (default: 1000)"),
    option("--seed", type=int, default=2024, help="seed of all draws (default: 2024)"),
    output("where the numbers go, as JSON", metavar="FILE"),
    JSON,
    example="verified meta-evaluate decisions.jsonl --scores other=scores.jsonl    # your decisions",
    page="docs/captions.md",
)
def meta_evaluate(arguments: argparse.Namespace) -> None:
    """Print a row for each metric. Raises InputError for invalid files, or without a metric."""
    import numpy as np

    from verified.io.jsonl import write_json
    from verified_lab.meta_evaluation.judgements import AGREEMENT, COSINE, EVALUATOR, read_judgements
    from verified_lab.meta_evaluation.metrics import (
        FrameMetrics,
        evaluator_scores,
        find_videos,
        scores_of_file,
        side_by_side,
    )

    looks = [arguments.evaluator, arguments.encoder]
    if not any(looks) and not arguments.scores:
        raise InputError("no metric is named", remedy="give --evaluator or --encoder with --videos, or --scores")
    if any(looks) and not arguments.videos:
        raise InputError("these metrics look into videos", remedy="name their folder: --videos")
    judged = [judgement for path in arguments.judgements for judgement in read_judgements(path)]
    videos = find_videos(arguments.videos, {judgement.video for judgement in judged}) if any(looks) else {}
    scores: dict[str, np.ndarray] = {}
    if arguments.evaluator:
        scores[EVALUATOR] = evaluator_scores(judged, videos, arguments.evaluator)
    if arguments.encoder:
        from verified.config.generation import Generation
        from verified.features.encoders import load_joint

        frame_metrics = FrameMetrics(judged, videos, load_joint(arguments.encoder))
        scores |= {COSINE: frame_metrics.cosines(), AGREEMENT: frame_metrics.agreements(Generation().sentence_model[0])}
    for named in arguments.scores:
        name, separator, path = named.partition("=")
        if not separator or not name or name in scores:
            raise InputError(f"--scores {named}: not a new name, = and a file", remedy="for example cider=cider.jsonl")
        scores[name] = scores_of_file(path, judged)
    report = side_by_side(judged, scores, arguments.resamples, arguments.seed)
    if arguments.output:
        write_json(arguments.output, report)
    print(json.dumps(report, indent=1) if arguments.json else "\n".join(_metric_lines(report)))


def _metric_lines(report: dict) -> list[str]:
    from verified.io.text_tables import text_table
    from verified_lab.meta_evaluation.correlation import MEASURES

    people = "1 person" if report["people"] == 1 else f"{report['people']} people"
    lines = [f"{report['captions']} captions judged by {people}"]
    lines += [f"  {count} without a score: {name}" for name, count in report["without_score"].items() if count]
    for group, measures in report["groups"].items():
        clips = f"{measures['captions']} captions, {measures['right']} right and {measures['wrong']} wrong"
        lines += ["", f"{group}: {clips}, of {measures['clips']} clips of {measures['videos']} videos"]
        rows = [
            {"metric": metric, **{name: _bounded(measured[name]) for name in MEASURES}}
            for metric, measured in measures["metrics"].items()
        ]
        lines.append(text_table(["metric", *MEASURES], rows))
    return lines


def _bounded(measures: dict) -> str | None:
    if measures["value"] is None or measures["low"] is None:
        return None
    return f"{measures['value']:.3f} [{measures['low']:.3f}, {measures['high']:.3f}]"


@command(
    "compare-captions",
    "compare the captions of two runs: length, classes and recall of retrieval",
    folder("first", "a run, such as results/kitchen, or the folder of its annotations", metavar="FIRST"),
    folder("second", "another run on the same moments", metavar="SECOND"),
    option("--names", nargs=2, metavar="NAME", help="names of the two in the table (default: their folders)"),
    several("--split", metavar="SPLIT", help="splits whose moments are compared (default: all)"),
    output("where the table goes", "captions-compared", metavar="FOLDER"),
    example="verified compare-captions results/demo results/demo/annotations/fig-lowest",
    page="docs/captions.md",
)
def compare_captions(arguments: argparse.Namespace) -> None:
    """Write and print the table. Raises InputError for runs that have no moment in common."""
    from verified.config.model import Statistics
    from verified.nn.sentences import encode
    from verified.tables.write import write_simple
    from verified_lab.caption_comparison import compare_retrieval, compare_texts, comparison_table, read_release, shared

    paths = arguments.first, arguments.second
    first_name, second_name = arguments.names or map(str, paths)
    names = first_name, second_name
    if first_name == second_name:
        raise InputError("both have one name", remedy="give other --names")
    first, second = (read_release(path, arguments.split) for path in paths)
    moments = shared(first, second)
    rows = [*compare_texts(moments, encode, Statistics()), *compare_retrieval(first, second, moments)]
    table = comparison_table(rows, names, moments.left_out)
    write_simple(arguments.output, table, [f"{name}: {path}" for name, path in zip(names, paths)])
    print((arguments.output / f"{table.key}.md").read_text(encoding="utf-8"), end="")


@command(
    "review",
    "write pages on which people review captions, and say where they are",
    *SNAKEMAKE,
    example="verified review --configfile config/config.yaml",
    page="docs/data-set.md",
)
def review(arguments: argparse.Namespace) -> int:
    """Build the pages of every data set that is annotated here and print which there are."""
    return build_pages(arguments, "review", review_pages)


def review_pages(folder: Path) -> str:
    """The pages of a review, and instructions for them."""
    return "\n".join(
        [
            "Give these pages to reviewers; they work from a file and need no network:",
            *(f"  {page}" for page in sorted((folder / "pages").glob("*.html"))),
            "Then: name the files of decisions in review.decisions, and run again",
        ]
    )


@command(
    "transcribe",
    "write subtitles next to videos that have none, with a local Whisper model",
    option("videos", nargs="+", type=Path, metavar="VIDEO", help="videos, or folders of videos"),
    option("--model", default="", help="folder of a Whisper model for faster-whisper (default: the packaged tiny.en)"),
    option("--language", help="spoken language, as ISO 639 code (default: the model finds out, or its only one)"),
    example="verified transcribe holiday/    # your videos",
    page="extensions/lab/README.md",
)
def transcribe(arguments: argparse.Namespace) -> None:
    """Write VIDEO.srt for each video with sound, and print the outcome of each."""
    from verified_lab.transcribe import load_model, transcribe_videos, videos_among

    written, videos, model = 0, videos_among(arguments.videos), load_model(arguments.model)
    for video, outcome in transcribe_videos(videos, model, arguments.language):
        print(f"{video}: {outcome}", flush=True)
        written += outcome.startswith("wrote")
    print(f"{written} files of subtitles written")
