"""`verified longform …`: score a submission, align tracks, collect described films, locate clips, chance."""

import argparse
import json
from pathlib import Path

from verified.runtime.options import between

DAY = 86_400
"""Seconds; no film is longer."""


def add_parser(subparsers) -> None:
    """Add the command with its own subcommands."""
    top = subparsers.add_parser("longform", help="long videos: score, align, collect, locate, chance")
    actions = top.add_subparsers(required=True, metavar="WHAT")

    score = actions.add_parser("evaluate", help="score spans in films: R@K at IoU 0.1, 0.3, 0.5")
    score.add_argument("truth", type=Path, help="annotations in MAD's JSON")
    score.add_argument("submission", type=Path, help='JSONL, {"id": …, "spans": [[start, end], …]}, best first')
    score.add_argument(
        "--times",
        choices=("ext_timestamps", "timestamps"),
        default="ext_timestamps",
        help="which of a moment's two spans to read (default ext_timestamps, as both official baselines do)",
    )
    score.add_argument("--iou", choices=("gt", "ge"), default="gt", help="IoU exceeds (gt) or reaches (ge) a threshold")
    score.add_argument("--partial", action="store_true", help="score what is there")
    score.add_argument("--json", action="store_true", help="print JSON")
    score.set_defaults(run=_evaluate)

    align = actions.add_parser("align", help="delay of a described track against a film's track")
    align.add_argument("film", type=Path, help="a file with the film's own sound track")
    align.add_argument("described", type=Path, help="a file with the sound track that holds the audio description")
    _alignment(align)
    align.set_defaults(run=_align)

    collect = actions.add_parser("collect", help="films with described tracks to annotations in MAD's JSON")
    collect.add_argument("manifest", type=Path, help="CSV: film, track, described, transcript, subtitles, split")
    collect.add_argument("output", type=Path, help="folder for SPLIT.json and report.json")
    collect.add_argument("--pause", type=between(0, DAY), default=1.5, help="seconds of silence that end a sentence")
    _alignment(collect)
    collect.set_defaults(run=_collect)

    locate = actions.add_parser("locate", help="where clips lie in their films, by frame features at one rate")
    locate.add_argument("films", type=Path, help="HDF5, a data set per film")
    locate.add_argument("clips", type=Path, help="HDF5, a data set per clip")
    locate.add_argument("pairs", type=Path, help='JSONL, {"clip": …, "film": …}')
    locate.add_argument("--fps", type=between(0, 1000), default=5.0, help="frames per second of both")
    locate.set_defaults(run=_locate)

    chance = actions.add_parser("chance", help="Oracle and Random Chance of annotations, from their times alone")
    chance.add_argument("truth", type=Path, help="annotations in MAD's JSON")
    chance.add_argument(
        "--times",
        choices=("ext_timestamps", "timestamps"),
        default="ext_timestamps",
        help="which of a moment's two spans to read (default ext_timestamps, as both official baselines do)",
    )
    chance.add_argument("--seconds", type=between(0, DAY), help="cut films into stretches of this length")
    chance.add_argument(
        "--tail",
        choices=("drop", "cover"),
        default="drop",
        help="end of a film: left out as published (default drop), or covered by one more window",
    )
    chance.set_defaults(run=_chance)


def _alignment(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rate", type=between(0, 1_000_000, int), default=4000, help="samples per second")
    parser.add_argument("--window", type=between(0, DAY), default=60.0, help="seconds of each of the twenty windows")
    parser.add_argument("--most", type=between(0, DAY), default=120.0, help="largest delay in seconds")


def _evaluate(arguments: argparse.Namespace) -> None:
    from verified.benchmark.mad.annotations import checked, read_mad
    from verified.benchmark.mad.recall import IOUS, KS
    from verified.benchmark.mad.submission import evaluate, read_submission

    rows, excluded, counts = checked(read_mad(arguments.truth, "test", arguments.times))
    submission = read_submission(arguments.submission)
    for row in excluded:  # an annotation that cannot be used is not a query; answering it is not an error
        submission.pop(row["id"], None)
    score = evaluate(rows, submission, arguments.iou, arguments.partial, arguments.submission)
    if arguments.json:
        print(json.dumps({**score, "ks": KS, "ious": IOUS, "annotations": counts}))
        return
    print(
        f"{score['queries']} queries, {score['films']} films; annotations: "
        + ", ".join(f"{count} {name}" for name, count in counts.items())
    )
    for name in ("missing", "unknown", "more_than_100"):
        if score[name]:
            print(f"{name.replace('_', ' ')}: {score[name]}")
    print(_recalls(score))
    alike = [number for row in score["intra_class"] for number in row if number is not None]
    print(
        "In brackets: 95 % interval over films, drawn with all of their queries, not over trainings."
        + (f" Intra-class correlation of queries of one film: {min(alike):.2f} to {max(alike):.2f}." if alike else "")
    )


def _recalls(score: dict) -> str:
    from verified.benchmark.mad.recall import IOUS, KS

    lines = ["R@K %   " + "".join(f"{f'IoU={threshold:g}':>24}" for threshold in IOUS)]
    for row, k in enumerate(KS[: len(score["recall"])]):
        values = zip(score["recall"][row], score["low"][row], score["high"][row])
        cells = [f"{_cell(value, low, high):>24}" for value, low, high in values]
        lines.append(f"R@{k:<6}" + "".join(cells))
    return "\n".join(lines)


def _cell(value: float | None, low: float | None, high: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.2f}" if low is None else f"{value:.2f} [{low:.2f}, {high:.2f}]"


def _align(arguments: argparse.Namespace) -> int:
    from verified.benchmark.mad.alignment import align_tracks
    from verified.benchmark.mad.audio import read_track

    film, described = (read_track(path, arguments.rate) for path in (arguments.film, arguments.described))
    alignment = align_tracks(film, described, arguments.rate, arguments.window, arguments.most)
    for number, (delay, peak) in enumerate(zip(alignment.delays, alignment.peaks), start=1):
        print(f"window {number:2}: {delay:+.3f} s, correlation {peak:.2f}")
    print(
        f"refused: {alignment.reason}"
        if alignment.delay is None
        else f"the description is {alignment.delay:+.4f} s late"
    )
    return 1 if alignment.delay is None else 0


def _collect(arguments: argparse.Namespace) -> None:
    from verified.benchmark.mad.annotations import write_mad
    from verified.benchmark.mad.manifest import collect, read_manifest
    from verified.io.jsonl import write_json

    settings = {
        "rate": arguments.rate,
        "window_seconds": arguments.window,
        "most_seconds": arguments.most,
        "pause_seconds": arguments.pause,
    }
    rows, reports = collect(read_manifest(arguments.manifest), settings)
    for split, split_rows in rows.items():
        path = arguments.output / f"{split}.json"
        print(f"{path}: {write_mad(path, split_rows)} sentences")
    write_json(arguments.output / "report.json", reports)
    refused = [report for report in reports if report["reason"]]
    print(f"{len(reports) - len(refused)} films aligned, {len(refused)} refused")
    for report in refused:
        print(f"{report['film']}: {report['reason']}")


def _locate(arguments: argparse.Namespace) -> None:
    from verified.benchmark.mad.clip_alignment import locate_clip
    from verified.errors import InputError
    from verified.io.hdf5 import FeatureFile
    from verified.io.jsonl import iterate_jsonl

    films, clips = FeatureFile(arguments.films), FeatureFile(arguments.clips)
    for row in iterate_jsonl(arguments.pairs, ("clip", "film")):
        film, clip = films[row["film"]], clips[row["clip"]]
        if film.ndim != 2 or clip.ndim != 2 or film.shape[1] != clip.shape[1]:
            raise InputError(
                f"clip {row['clip']!r} has features {list(clip.shape)}, its film {list(film.shape)}: not of one width",
                file=arguments.clips,
                remedy="extract both by one model",
            )
        located = locate_clip(film, clip)
        start = None if located.first is None else round(located.first / arguments.fps, 3)
        print(
            json.dumps(
                {
                    **row,
                    "start": start,
                    "agreement": located.agreement,
                    "similarity": round(located.similarity, 4),
                    "reason": located.reason,
                }
            )
        )


def _chance(arguments: argparse.Namespace) -> None:
    from verified.benchmark.mad.annotations import checked, read_mad
    from verified.benchmark.mad.grid import Grid
    from verified.benchmark.mad.ranking import baselines
    from verified.benchmark.mad.short_videos import cut_films

    rows, _, counts = checked(read_mad(arguments.truth, "test", arguments.times))
    print(", ".join(f"{count} {name}" for name, count in counts.items()))
    if not rows:
        return
    cut = cut_films(rows, arguments.seconds)
    measured = baselines(cut, Grid(tail=arguments.tail), "gt", 100, 0)
    print("Oracle\n" + _recalls(measured["oracle"]))
    print("Random Chance (expectation)\n" + _recalls(measured["chance"]))
    print(
        f"not covered at ends: {measured['tail']['seconds']:.1f} s of {measured['tail']['videos']} videos,"
        f" {measured['tail']['without_windows']} without a proposal"
    )
