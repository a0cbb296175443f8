"""Captions: how far metrics of them go with people."""

import argparse
import json
from pathlib import Path
from typing import Any

from verified.cli.command import JSON, between, command, folder, option, output, several
from verified.errors import InputError


@command(
    "meta-evaluate",
    "hold metrics of captions against what people say of them: correlation, AUROC and order within a clip",
    option(
        "judgements",
        nargs="+",
        type=Path,
        metavar="FILE",
        help="VideoCon-Human (CSV), the folder of VATEX-EVAL, CaReBench (JSON), a review's decisions, or JSONL rows"
        " with video, caption and grade",
    ),
    folder("--videos", "folder of the videos, which the metrics below look into", metavar="FOLDER"),
    folder("--evaluator", "checkpoint of an evaluator that scores the captions", metavar="FILE"),
    option(
        "--reading", choices=("z1", "margin", "similarity"), default="z1", help="its reading (default: z1, the paper's)"
    ),
    option(
        "--encoder",
        metavar="NAME",
        help="joint encoder for a cosine as in CLIPScore and for agreement: packaged-joint, or a CLIP or SigLIP model",
    ),
    several("--judge", type=Path, metavar="FILE", help="configuration whose generation.video_lmm grades the captions"),
    option("--frames", type=between(1, 1000, int), default=8, help="frames that the judge is shown (default: 8)"),
    several("--scores", metavar="NAME=FILE", help="JSONL rows with video, caption and score, of any other metric"),
    option("--resamples", type=between(99, 1_000_000, int), default=1000, help="draws of videos (default: 1000)"),
    option("--seed", type=int, default=2024, help="seed of all draws (default: 2024)"),
    output("where the numbers go, as JSON", metavar="FILE"),
    JSON,
)
def meta_evaluate(arguments: argparse.Namespace) -> None:
    """Print a row for each metric. Raises InputError for files that are none, and where no metric is named."""
    import numpy as np

    from verified.io.jsonl import write_json
    from verified.people.meta_evaluation.compare import side_by_side
    from verified.people.meta_evaluation.judgements import AGREEMENT, COSINE, EVALUATOR, JUDGE, read_judgements
    from verified.people.meta_evaluation.metrics import (
        FrameMetrics,
        evaluator_scores,
        find_videos,
        scores_of_file,
    )

    looks = [arguments.evaluator, arguments.encoder, *arguments.judge]
    if not any(looks) and not arguments.scores:
        raise InputError(
            "no metric is named", remedy="give --evaluator, --encoder or --judge with --videos, or --scores"
        )
    if any(looks) and not arguments.videos:
        raise InputError("these metrics look into videos", remedy="name their folder: --videos")
    judged = [one for path in arguments.judgements for one in read_judgements(path, arguments.seed)]
    videos = find_videos(arguments.videos, judged) if any(looks) else {}
    scores: dict[str, np.ndarray] = {}
    if arguments.evaluator:
        scores[EVALUATOR] = evaluator_scores(judged, videos, arguments.evaluator, arguments.reading)
    if arguments.encoder:
        from verified.config.generation import Generation
        from verified.features.joint import load_joint

        seen = FrameMetrics(judged, videos, load_joint(arguments.encoder))
        scores |= {COSINE: seen.cosines(), AGREEMENT: seen.agreements(Generation().sentence_encoder)}
    if arguments.judge:
        scores[JUDGE] = _judge(arguments, judged, videos)
    for named in arguments.scores:
        name, separator, path = named.partition("=")
        if not separator or not name or name in scores:
            raise InputError(f"--scores {named}: not a new name, = and a file", remedy="for example cider=cider.jsonl")
        scores[name] = scores_of_file(path, judged)
    found = side_by_side(judged, scores, arguments.resamples, arguments.seed)
    if arguments.output:
        write_json(arguments.output, found)
    print(json.dumps(found, indent=1) if arguments.json else "\n".join(_metric_lines(found)))


def _judge(arguments: argparse.Namespace, judged: list, videos: dict[str, dict]) -> Any:
    """Grades by the video LMM of a configuration."""
    from verified.config import read
    from verified.lmm.session import Session
    from verified.lmm.tasks.retrieval import GRADE
    from verified.people.meta_evaluation.judge import judge_grades

    settings = read(*arguments.judge)
    with Session(settings.generation, settings.seed, (GRADE,)) as session:
        grades, _ = judge_grades(judged, videos, arguments.frames, session)
        session.settle()
    return grades


def _metric_lines(found: dict) -> list[str]:
    from verified.benchmark.correlation import MEASURES
    from verified.io.text_table import text_table

    lines = [f"{found['captions']} captions judged by {found['people']} people"]
    lines += [f"  {count} without a score: {name}" for name, count in found["without_score"].items() if count]
    for group, told in found["groups"].items():
        clips = f"{told['captions']} captions, {told['right']} right and {told['wrong']} wrong"
        lines += ["", f"{group}: {clips}, of {told['clips']} clips of {told['videos']} videos"]
        rows = [
            {"metric": metric, **{name: _bounded(measured[name]) for name in MEASURES}}
            for metric, measured in told["metrics"].items()
        ]
        lines.append(text_table(["metric", *MEASURES], rows))
    return lines


def _bounded(told: dict) -> str | None:
    if told["value"] is None or told["low"] is None:
        return None
    return f"{told['value']:.3f} [{told['low']:.3f}, {told['high']:.3f}]"
